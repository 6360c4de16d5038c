// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for norm_linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     norm.j: serial, lanes(64), vector(4);
//     fold k: subgroup;
//     fold norm.j: subgroup;
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 320 bytes
//     accumulator registers: 5
//     barriers: 2
//     loads an invocation: 52
//     bytes loaded an invocation: 832
//     stores an invocation: 4
//     flop an invocation: 413
//     flop a byte: 0.49
//     rounds of all loops: 32

struct Params {
    uint T;
    float norm_eps;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer norm_x : register(t1);
ByteAddressBuffer norm_w : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[16];
groupshared float fold1[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 112u;
    uint t_group = group.x / 112u;
    precise float s = 0.0f;
    for (uint j = lane * 4u; j < 896u; j += 256u) {
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + j / 4u) * 16u));
        s = mad(norm_x4.x, norm_x4.x, s);
        s = mad(norm_x4.y, norm_x4.y, s);
        s = mad(norm_x4.z, norm_x4.z, s);
        s = mad(norm_x4.w, norm_x4.w, s);
    }
    uint near = min(WaveGetLaneCount(), 64u);
    float sum_near = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 1u);
    s = s + sum_near;
    float sum_near1 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 2u);
    s = s + sum_near1;
    if (4u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 4u);
        s = s + sum_near2;
    }
    if (8u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 8u);
        s = s + sum_near2;
    }
    if (16u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 16u);
        s = s + sum_near2;
    }
    if (32u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 32u);
        s = s + sum_near2;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 64u / near;
    s = 0.0f;
    for (uint other = 0u; other < near_groups; other++) {
        s = s + fold[other];
    }
    precise float norm_scale = rsqrt(s / 896.0f + params.norm_eps);
    uint r = r_group * 8u + lane / 32u * 4u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
        float4 w4 = asfloat(w.Load4((r * 224u + k / 4u) * 16u));
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + k / 4u) * 16u));
        precise float v = norm_x4.x * norm_scale;
        float4 norm_w4 = asfloat(norm_w.Load4(k / 4u * 16u));
        precise float v1 = v * norm_w4.x;
        float4 w4_1 = asfloat(w.Load4(((r + 1u) * 224u + k / 4u) * 16u));
        float4 w4_2 = asfloat(w.Load4(((r + 2u) * 224u + k / 4u) * 16u));
        float4 w4_3 = asfloat(w.Load4(((r + 3u) * 224u + k / 4u) * 16u));
        precise float v2 = norm_x4.y * norm_scale;
        precise float v3 = v2 * norm_w4.y;
        precise float v4 = norm_x4.z * norm_scale;
        precise float v5 = v4 * norm_w4.z;
        precise float v6 = norm_x4.w * norm_scale;
        precise float v7 = v6 * norm_w4.w;
        float4 w4_4 = asfloat(w.Load4((r * 224u + k / 4u + 1u) * 16u));
        float4 norm_x4_1 = asfloat(norm_x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        precise float v8 = norm_x4_1.x * norm_scale;
        float4 norm_w4_1 = asfloat(norm_w.Load4((k / 4u + 1u) * 16u));
        precise float v9 = v8 * norm_w4_1.x;
        float4 w4_5 = asfloat(w.Load4(((r + 1u) * 224u + k / 4u + 1u) * 16u));
        float4 w4_6 = asfloat(w.Load4(((r + 2u) * 224u + k / 4u + 1u) * 16u));
        float4 w4_7 = asfloat(w.Load4(((r + 3u) * 224u + k / 4u + 1u) * 16u));
        precise float v10 = norm_x4_1.y * norm_scale;
        precise float v11 = v10 * norm_w4_1.y;
        precise float v12 = norm_x4_1.z * norm_scale;
        precise float v13 = v12 * norm_w4_1.z;
        precise float v14 = norm_x4_1.w * norm_scale;
        precise float v15 = v14 * norm_w4_1.w;
        sum = mad(w4.x, v1, sum);
        sum1 = mad(w4_1.x, v1, sum1);
        sum2 = mad(w4_2.x, v1, sum2);
        sum3 = mad(w4_3.x, v1, sum3);
        sum = mad(w4.y, v3, sum);
        sum1 = mad(w4_1.y, v3, sum1);
        sum2 = mad(w4_2.y, v3, sum2);
        sum3 = mad(w4_3.y, v3, sum3);
        sum = mad(w4.z, v5, sum);
        sum1 = mad(w4_1.z, v5, sum1);
        sum2 = mad(w4_2.z, v5, sum2);
        sum3 = mad(w4_3.z, v5, sum3);
        sum = mad(w4.w, v7, sum);
        sum1 = mad(w4_1.w, v7, sum1);
        sum2 = mad(w4_2.w, v7, sum2);
        sum3 = mad(w4_3.w, v7, sum3);
        sum = mad(w4_4.x, v9, sum);
        sum1 = mad(w4_5.x, v9, sum1);
        sum2 = mad(w4_6.x, v9, sum2);
        sum3 = mad(w4_7.x, v9, sum3);
        sum = mad(w4_4.y, v11, sum);
        sum1 = mad(w4_5.y, v11, sum1);
        sum2 = mad(w4_6.y, v11, sum2);
        sum3 = mad(w4_7.y, v11, sum3);
        sum = mad(w4_4.z, v13, sum);
        sum1 = mad(w4_5.z, v13, sum1);
        sum2 = mad(w4_6.z, v13, sum2);
        sum3 = mad(w4_7.z, v13, sum3);
        sum = mad(w4_4.w, v15, sum);
        sum1 = mad(w4_5.w, v15, sum1);
        sum2 = mad(w4_6.w, v15, sum2);
        sum3 = mad(w4_7.w, v15, sum3);
    }
    uint near1 = min(WaveGetLaneCount(), 32u);
    float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 1u);
    sum = sum + sum_near2;
    float sum_near3 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 1u);
    sum1 = sum1 + sum_near3;
    float sum_near4 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 1u);
    sum2 = sum2 + sum_near4;
    float sum_near5 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 1u);
    sum3 = sum3 + sum_near5;
    float sum_near6 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 2u);
    sum = sum + sum_near6;
    float sum_near7 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 2u);
    sum1 = sum1 + sum_near7;
    float sum_near8 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 2u);
    sum2 = sum2 + sum_near8;
    float sum_near9 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 2u);
    sum3 = sum3 + sum_near9;
    if (4u < near1) {
        float sum_near10 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 4u);
        sum = sum + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 4u);
        sum1 = sum1 + sum_near11;
        float sum_near12 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 4u);
        sum2 = sum2 + sum_near12;
        float sum_near13 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 4u);
        sum3 = sum3 + sum_near13;
    }
    if (8u < near1) {
        float sum_near10 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 8u);
        sum = sum + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 8u);
        sum1 = sum1 + sum_near11;
        float sum_near12 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 8u);
        sum2 = sum2 + sum_near12;
        float sum_near13 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 8u);
        sum3 = sum3 + sum_near13;
    }
    if (16u < near1) {
        float sum_near10 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 16u);
        sum = sum + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 16u);
        sum1 = sum1 + sum_near11;
        float sum_near12 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 16u);
        sum2 = sum2 + sum_near12;
        float sum_near13 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 16u);
        sum3 = sum3 + sum_near13;
    }
    uint near_group1 = lane / near1;
    if (lane % near1 == 0u) {
        fold1[near_group1] = sum;
        fold1[near_group1 + 16u] = sum1;
        fold1[near_group1 + 32u] = sum2;
        fold1[near_group1 + 48u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups1 = 32u / near1;
    uint first = lane / 32u * near_groups1;
    sum = 0.0f;
    sum1 = 0.0f;
    sum2 = 0.0f;
    sum3 = 0.0f;
    for (uint other1 = 0u; other1 < near_groups1; other1++) {
        sum = sum + fold1[first + other1];
        sum1 = sum1 + fold1[first + other1 + 16u];
        sum2 = sum2 + fold1[first + other1 + 32u];
        sum3 = sum3 + fold1[first + other1 + 48u];
    }
    if (lane % 32u == 0u) {
        y.Store((t_group * 896u + r) * 4u, asuint(sum));
        y.Store((t_group * 896u + r + 1u) * 4u, asuint(sum1));
        y.Store((t_group * 896u + r + 2u) * 4u, asuint(sum2));
        y.Store((t_group * 896u + r + 3u) * 4u, asuint(sum3));
    }
}
