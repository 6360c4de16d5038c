// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule row_subgroup, target webgpu-subgroups
// schedule row_subgroup for norm_linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(4);
//     norm.j: serial, lanes(64), vector(4);
//     fold k: subgroup;
//     fold norm.j: subgroup;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 2
//     barriers: 3
//     loads an invocation: 16
//     bytes loaded an invocation: 256
//     stores an invocation: 1
//     flop an invocation: 135
//     flop a byte: 0.52
//     rounds of all loops: 40

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

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 896u;
    uint t_group = group.x / 896u;
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
    precise float sum = 0.0f;
    for (uint k = lane * 4u; k < 896u; k += 256u) {
        float4 w4 = asfloat(w.Load4((r_group * 224u + k / 4u) * 16u));
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + k / 4u) * 16u));
        float4 norm_w4 = asfloat(norm_w.Load4(k / 4u * 16u));
        sum = mad(w4.x, norm_x4.x * norm_scale * norm_w4.x, sum);
        sum = mad(w4.y, norm_x4.y * norm_scale * norm_w4.y, sum);
        sum = mad(w4.z, norm_x4.z * norm_scale * norm_w4.z, sum);
        sum = mad(w4.w, norm_x4.w * norm_scale * norm_w4.w, sum);
    }
    uint near1 = min(WaveGetLaneCount(), 64u);
    float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 1u);
    sum = sum + sum_near2;
    float sum_near3 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 2u);
    sum = sum + sum_near3;
    if (4u < near1) {
        float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 4u);
        sum = sum + sum_near4;
    }
    if (8u < near1) {
        float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 8u);
        sum = sum + sum_near4;
    }
    if (16u < near1) {
        float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 16u);
        sum = sum + sum_near4;
    }
    if (32u < near1) {
        float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 32u);
        sum = sum + sum_near4;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_group1 = lane / near1;
    if (lane % near1 == 0u) {
        fold[near_group1] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups1 = 64u / near1;
    sum = 0.0f;
    for (uint other1 = 0u; other1 < near_groups1; other1++) {
        sum = sum + fold[other1];
    }
    if (lane == 0u) {
        y.Store((t_group * 896u + r_group) * 4u, asuint(sum));
    }
}
