// kernel linear_residual, shape D = 896, K = 4864, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for linear_residual {
//     t: grid;
//     i: grid;
//     linear.k: serial, lanes(64), vector(8);
//     fold linear.k: subgroup;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 1
//     barriers: 1
//     loads an invocation: 41
//     bytes loaded an invocation: 644
//     stores an invocation: 1
//     flop an invocation: 179
//     flop a byte: 0.28
//     rounds of all loops: 26

struct Params {
    uint T;
};

ByteAddressBuffer linear_w : register(t0);
ByteAddressBuffer linear_x : register(t1);
RWByteAddressBuffer h : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[16];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 896u;
    uint t_group = group.x / 896u;
    precise float sum = 0.0f;
    for (uint k = lane * 8u; k < 4864u; k += 512u) {
        float4 linear_w4 = asfloat(linear_w.Load4((i_group * 1216u + k / 4u) * 16u));
        float4 linear_x4 = asfloat(linear_x.Load4((t_group * 1216u + k / 4u) * 16u));
        float4 linear_w4_1 = asfloat(linear_w.Load4((i_group * 1216u + k / 4u + 1u) * 16u));
        float4 linear_x4_1 = asfloat(linear_x.Load4((t_group * 1216u + k / 4u + 1u) * 16u));
        sum = mad(linear_w4.x, linear_x4.x, sum);
        sum = mad(linear_w4.y, linear_x4.y, sum);
        sum = mad(linear_w4.z, linear_x4.z, sum);
        sum = mad(linear_w4.w, linear_x4.w, sum);
        sum = mad(linear_w4_1.x, linear_x4_1.x, sum);
        sum = mad(linear_w4_1.y, linear_x4_1.y, sum);
        sum = mad(linear_w4_1.z, linear_x4_1.z, sum);
        sum = mad(linear_w4_1.w, linear_x4_1.w, sum);
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
        float h_at = asfloat(h.Load((t_group * 896u + i_group) * 4u));
        precise float value = h_at + sum;
        h.Store((t_group * 896u + i_group) * 4u, asuint(value));
    }
}
