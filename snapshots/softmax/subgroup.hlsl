// kernel softmax, shape C = 512, R <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for softmax {
//     r: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, lanes(64);
//     fold i: subgroup;
//     fold j: subgroup;
// }
// dispatch R workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 2
//     barriers: 3
//     loads an invocation: 24
//     bytes loaded an invocation: 96
//     stores an invocation: 8
//     flop an invocation: 92
//     flop a byte: 0.72
//     rounds of all loops: 56

struct Params {
    uint R;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[16];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float m = -3.4028235e38f;
    for (uint i = lane; i < 512u; i += 64u) {
        float x_at = asfloat(x.Load((group.x * 512u + i) * 4u));
        m = max(m, x_at);
    }
    uint near = min(WaveGetLaneCount(), 64u);
    float max_near = WaveReadLaneAt(m, WaveGetLaneIndex() ^ 1u);
    m = max(m, max_near);
    float max_near1 = WaveReadLaneAt(m, WaveGetLaneIndex() ^ 2u);
    m = max(m, max_near1);
    if (4u < near) {
        float max_near2 = WaveReadLaneAt(m, WaveGetLaneIndex() ^ 4u);
        m = max(m, max_near2);
    }
    if (8u < near) {
        float max_near2 = WaveReadLaneAt(m, WaveGetLaneIndex() ^ 8u);
        m = max(m, max_near2);
    }
    if (16u < near) {
        float max_near2 = WaveReadLaneAt(m, WaveGetLaneIndex() ^ 16u);
        m = max(m, max_near2);
    }
    if (32u < near) {
        float max_near2 = WaveReadLaneAt(m, WaveGetLaneIndex() ^ 32u);
        m = max(m, max_near2);
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 64u / near;
    m = -3.4028235e38f;
    for (uint other = 0u; other < near_groups; other++) {
        float max_new = fold[other];
        m = max(m, max_new);
    }
    precise float s = 0.0f;
    for (uint j = lane; j < 512u; j += 64u) {
        float x_at = asfloat(x.Load((group.x * 512u + j) * 4u));
        s = s + exp(x_at - m);
    }
    uint near1 = min(WaveGetLaneCount(), 64u);
    float sum_near = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 1u);
    s = s + sum_near;
    float sum_near1 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 2u);
    s = s + sum_near1;
    if (4u < near1) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 4u);
        s = s + sum_near2;
    }
    if (8u < near1) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 8u);
        s = s + sum_near2;
    }
    if (16u < near1) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 16u);
        s = s + sum_near2;
    }
    if (32u < near1) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 32u);
        s = s + sum_near2;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_group1 = lane / near1;
    if (lane % near1 == 0u) {
        fold[near_group1] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups1 = 64u / near1;
    s = 0.0f;
    for (uint other1 = 0u; other1 < near_groups1; other1++) {
        s = s + fold[other1];
    }
    for (uint c = lane; c < 512u; c += 64u) {
        float x_at = asfloat(x.Load((group.x * 512u + c) * 4u));
        precise float value = exp(x_at - m) / s;
        y.Store((group.x * 512u + c) * 4u, asuint(value));
    }
}
