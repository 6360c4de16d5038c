// kernel linear, shape K = 896, R = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 4
//     barriers: 1
//     loads an invocation: 40
//     bytes loaded an invocation: 640
//     stores an invocation: 4
//     flop an invocation: 296
//     flop a byte: 0.45
//     rounds of all loops: 12

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 112u;
    uint t_group = group.x / 112u;
    uint r = r_group * 8u + lane / 32u * 4u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
        float4 w4 = asfloat(w.Load4((r * 224u + k / 4u) * 16u));
        float4 x4 = asfloat(x.Load4((t_group * 224u + k / 4u) * 16u));
        float4 w4_1 = asfloat(w.Load4(((r + 1u) * 224u + k / 4u) * 16u));
        float4 w4_2 = asfloat(w.Load4(((r + 2u) * 224u + k / 4u) * 16u));
        float4 w4_3 = asfloat(w.Load4(((r + 3u) * 224u + k / 4u) * 16u));
        float4 w4_4 = asfloat(w.Load4((r * 224u + k / 4u + 1u) * 16u));
        float4 x4_1 = asfloat(x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        float4 w4_5 = asfloat(w.Load4(((r + 1u) * 224u + k / 4u + 1u) * 16u));
        float4 w4_6 = asfloat(w.Load4(((r + 2u) * 224u + k / 4u + 1u) * 16u));
        float4 w4_7 = asfloat(w.Load4(((r + 3u) * 224u + k / 4u + 1u) * 16u));
        sum = mad(w4.x, x4.x, sum);
        sum1 = mad(w4_1.x, x4.x, sum1);
        sum2 = mad(w4_2.x, x4.x, sum2);
        sum3 = mad(w4_3.x, x4.x, sum3);
        sum = mad(w4.y, x4.y, sum);
        sum1 = mad(w4_1.y, x4.y, sum1);
        sum2 = mad(w4_2.y, x4.y, sum2);
        sum3 = mad(w4_3.y, x4.y, sum3);
        sum = mad(w4.z, x4.z, sum);
        sum1 = mad(w4_1.z, x4.z, sum1);
        sum2 = mad(w4_2.z, x4.z, sum2);
        sum3 = mad(w4_3.z, x4.z, sum3);
        sum = mad(w4.w, x4.w, sum);
        sum1 = mad(w4_1.w, x4.w, sum1);
        sum2 = mad(w4_2.w, x4.w, sum2);
        sum3 = mad(w4_3.w, x4.w, sum3);
        sum = mad(w4_4.x, x4_1.x, sum);
        sum1 = mad(w4_5.x, x4_1.x, sum1);
        sum2 = mad(w4_6.x, x4_1.x, sum2);
        sum3 = mad(w4_7.x, x4_1.x, sum3);
        sum = mad(w4_4.y, x4_1.y, sum);
        sum1 = mad(w4_5.y, x4_1.y, sum1);
        sum2 = mad(w4_6.y, x4_1.y, sum2);
        sum3 = mad(w4_7.y, x4_1.y, sum3);
        sum = mad(w4_4.z, x4_1.z, sum);
        sum1 = mad(w4_5.z, x4_1.z, sum1);
        sum2 = mad(w4_6.z, x4_1.z, sum2);
        sum3 = mad(w4_7.z, x4_1.z, sum3);
        sum = mad(w4_4.w, x4_1.w, sum);
        sum1 = mad(w4_5.w, x4_1.w, sum1);
        sum2 = mad(w4_6.w, x4_1.w, sum2);
        sum3 = mad(w4_7.w, x4_1.w, sum3);
    }
    uint near = min(WaveGetLaneCount(), 32u);
    float sum_near = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 1u);
    sum = sum + sum_near;
    float sum_near1 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 1u);
    sum1 = sum1 + sum_near1;
    float sum_near2 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 1u);
    sum2 = sum2 + sum_near2;
    float sum_near3 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 1u);
    sum3 = sum3 + sum_near3;
    float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 2u);
    sum = sum + sum_near4;
    float sum_near5 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 2u);
    sum1 = sum1 + sum_near5;
    float sum_near6 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 2u);
    sum2 = sum2 + sum_near6;
    float sum_near7 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 2u);
    sum3 = sum3 + sum_near7;
    if (4u < near) {
        float sum_near8 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 4u);
        sum = sum + sum_near8;
        float sum_near9 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 4u);
        sum1 = sum1 + sum_near9;
        float sum_near10 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 4u);
        sum2 = sum2 + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 4u);
        sum3 = sum3 + sum_near11;
    }
    if (8u < near) {
        float sum_near8 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 8u);
        sum = sum + sum_near8;
        float sum_near9 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 8u);
        sum1 = sum1 + sum_near9;
        float sum_near10 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 8u);
        sum2 = sum2 + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 8u);
        sum3 = sum3 + sum_near11;
    }
    if (16u < near) {
        float sum_near8 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 16u);
        sum = sum + sum_near8;
        float sum_near9 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 16u);
        sum1 = sum1 + sum_near9;
        float sum_near10 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 16u);
        sum2 = sum2 + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 16u);
        sum3 = sum3 + sum_near11;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = sum;
        fold[near_group + 16u] = sum1;
        fold[near_group + 32u] = sum2;
        fold[near_group + 48u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 32u / near;
    uint first = lane / 32u * near_groups;
    sum = 0.0f;
    sum1 = 0.0f;
    sum2 = 0.0f;
    sum3 = 0.0f;
    for (uint other = 0u; other < near_groups; other++) {
        sum = sum + fold[first + other];
        sum1 = sum1 + fold[first + other + 16u];
        sum2 = sum2 + fold[first + other + 32u];
        sum3 = sum3 + fold[first + other + 48u];
    }
    if (lane % 32u == 0u) {
        y.Store((t_group * 896u + r) * 4u, asuint(sum));
        y.Store((t_group * 896u + r + 1u) * 4u, asuint(sum1));
        y.Store((t_group * 896u + r + 2u) * 4u, asuint(sum2));
        y.Store((t_group * 896u + r + 3u) * 4u, asuint(sum3));
    }
}
