// kernel linear, shape K = 896, R = 896, T <= 64, schedule row_subgroup, target webgpu-subgroups
// schedule row_subgroup for linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(8);
//     fold k: subgroup;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 1
//     barriers: 1
//     loads an invocation: 8
//     bytes loaded an invocation: 128
//     stores an invocation: 1
//     flop an invocation: 50
//     flop a byte: 0.38
//     rounds of all loops: 18

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[16];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 896u;
    uint t_group = group.x / 896u;
    precise float sum = 0.0f;
    for (uint k = lane * 8u; k < 896u; k += 512u) {
        float4 w4 = asfloat(w.Load4((r_group * 224u + k / 4u) * 16u));
        float4 x4 = asfloat(x.Load4((t_group * 224u + k / 4u) * 16u));
        float4 w4_1 = asfloat(w.Load4((r_group * 224u + k / 4u + 1u) * 16u));
        float4 x4_1 = asfloat(x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        sum = mad(w4.x, x4.x, sum);
        sum = mad(w4.y, x4.y, sum);
        sum = mad(w4.z, x4.z, sum);
        sum = mad(w4.w, x4.w, sum);
        sum = mad(w4_1.x, x4_1.x, sum);
        sum = mad(w4_1.y, x4_1.y, sum);
        sum = mad(w4_1.z, x4_1.z, sum);
        sum = mad(w4_1.w, x4_1.w, sum);
    }
    uint near = min(WaveGetLaneCount(), 64u);
    float sum_near = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 1u);
    sum = sum + sum_near;
    float sum_near1 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 2u);
    sum = sum + sum_near1;
    if (4u < near) {
        float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 4u);
        sum = sum + sum_near2;
    }
    if (8u < near) {
        float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 8u);
        sum = sum + sum_near2;
    }
    if (16u < near) {
        float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 16u);
        sum = sum + sum_near2;
    }
    if (32u < near) {
        float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 32u);
        sum = sum + sum_near2;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 64u / near;
    sum = 0.0f;
    for (uint other = 0u; other < near_groups; other++) {
        sum = sum + fold[other];
    }
    if (lane == 0u) {
        y.Store((t_group * 896u + r_group) * 4u, asuint(sum));
    }
}
