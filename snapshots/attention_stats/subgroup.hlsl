// kernel attention_stats, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for attention_stats {
//     t: grid;
//     h: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, vector(4);
//     d: serial, vector(4);
//     fold i: subgroup;
//     fold j: subgroup;
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 3
//     barriers: 3
//     loads an invocation: 64 * i
//     bytes loaded an invocation: 1024 * i
//     stores an invocation: 2
//     flop an invocation: 388 * i + 36
//     flop a byte: 0.38
//     rounds of all loops: ceil((pos + T) / 64) * 17 + 16 + ceil((pos + T) / 64) * 17 + 16
//     rounds of i: ceil((pos + T) / 64)

struct Params {
    uint T;
    uint pos;
    float scale;
};

ByteAddressBuffer q : register(t0);
ByteAddressBuffer k : register(t1);
RWByteAddressBuffer top : register(u0);
RWByteAddressBuffer total : register(u1);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[16];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    precise float m = -3.4028235e38f;
    uint v = params.pos + t_group + 1u;
    for (uint i = lane; i < v; i += 64u) {
        precise float sum = 0.0f;
        for (uint c = 0u; c < 64u; c += 4u) {
            float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + c / 4u) * 16u));
            uint g = h_group / 7u;
            float4 k4 = asfloat(k.Load4(((i * 2u + g) * 16u + c / 4u) * 16u));
            sum = mad(q4.x * params.scale, k4.x, sum);
            sum = mad(q4.y * params.scale, k4.y, sum);
            sum = mad(q4.z * params.scale, k4.z, sum);
            sum = mad(q4.w * params.scale, k4.w, sum);
        }
        m = max(m, sum);
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
    precise float n = 0.0f;
    for (uint j = lane; j < v; j += 64u) {
        precise float score = 0.0f;
        for (uint d = 0u; d < 64u; d += 4u) {
            float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
            uint g = h_group / 7u;
            float4 k4 = asfloat(k.Load4(((j * 2u + g) * 16u + d / 4u) * 16u));
            score = mad(q4.x * params.scale, k4.x, score);
            score = mad(q4.y * params.scale, k4.y, score);
            score = mad(q4.z * params.scale, k4.z, score);
            score = mad(q4.w * params.scale, k4.w, score);
        }
        n = n + exp(score - m);
    }
    uint near1 = min(WaveGetLaneCount(), 64u);
    float sum_near = WaveReadLaneAt(n, WaveGetLaneIndex() ^ 1u);
    n = n + sum_near;
    float sum_near1 = WaveReadLaneAt(n, WaveGetLaneIndex() ^ 2u);
    n = n + sum_near1;
    if (4u < near1) {
        float sum_near2 = WaveReadLaneAt(n, WaveGetLaneIndex() ^ 4u);
        n = n + sum_near2;
    }
    if (8u < near1) {
        float sum_near2 = WaveReadLaneAt(n, WaveGetLaneIndex() ^ 8u);
        n = n + sum_near2;
    }
    if (16u < near1) {
        float sum_near2 = WaveReadLaneAt(n, WaveGetLaneIndex() ^ 16u);
        n = n + sum_near2;
    }
    if (32u < near1) {
        float sum_near2 = WaveReadLaneAt(n, WaveGetLaneIndex() ^ 32u);
        n = n + sum_near2;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_group1 = lane / near1;
    if (lane % near1 == 0u) {
        fold[near_group1] = n;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups1 = 64u / near1;
    n = 0.0f;
    for (uint other1 = 0u; other1 < near_groups1; other1++) {
        n = n + fold[other1];
    }
    if (lane == 0u) {
        top.Store((t_group * 16u + h_group) * 4u, asuint(m));
        total.Store((t_group * 16u + h_group) * 4u, asuint(n));
    }
}
