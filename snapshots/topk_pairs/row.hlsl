// kernel topk_pairs, shape K = 64, N = 2374, T <= 64, W = 131, schedule row, target webgpu-subgroups
// schedule row for topk_pairs {
//     workgroup 64;
//     t: grid;
//     k: serial, lanes(64);
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     n: serial, lanes(64);
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 3
//     barriers: 20
//     loads an invocation: 154
//     bytes loaded an invocation: 616
//     stores an invocation: 5
//     flop an invocation: 202
//     flop a byte: 0.32
//     rounds of all loops: 114

struct Params {
    uint T;
};

ByteAddressBuffer value : register(t0);
ByteAddressBuffer token : register(t1);
ByteAddressBuffer best : register(t2);
ByteAddressBuffer index : register(t3);
ByteAddressBuffer weight : register(t4);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];
groupshared uint fold1[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float m = -3.4028235e38f;
    for (uint i = lane; i < 2374u; i += 64u) {
        float best_at = asfloat(best.Load((group.x * 2376u + i) * 4u));
        m = max(m, best_at);
    }
    fold[lane] = m;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        float max_new = fold[lane + 32u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        float max_new = fold[lane + 16u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        float max_new = fold[lane + 8u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        float max_new = fold[lane + 4u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        float max_new = fold[lane + 2u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        float max_new = fold[lane + 1u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    m = fold[0];
    precise float sum = 0.0f;
    for (uint j = lane; j < 2374u; j += 64u) {
        float weight_at = asfloat(weight.Load((group.x * 2376u + j) * 4u));
        float best_at = asfloat(best.Load((group.x * 2376u + j) * 4u));
        sum = mad(weight_at, exp(best_at - m), sum);
    }
    GroupMemoryBarrierWithGroupSync();
    fold[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        sum = sum + fold[lane + 16u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        sum = sum + fold[lane + 1u];
    }
    uint finite = 0xffffffffu;
    for (uint n = lane; n < 2374u; n += 64u) {
        uint index_at = index.Load((group.x * 2376u + n) * 4u);
        uint whole = index_at == 0xffffffffu ? 0u : 1u;
        finite = min(finite, whole);
    }
    fold1[lane] = finite;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        uint index_new = fold1[lane + 32u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        uint index_new = fold1[lane + 16u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        uint index_new = fold1[lane + 8u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        uint index_new = fold1[lane + 4u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        uint index_new = fold1[lane + 2u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        uint index_new = fold1[lane + 1u];
        finite = min(finite, index_new);
    }
    float value_at = asfloat(value.Load((group.x * 64u + lane) * 4u));
    uint token_at = token.Load((group.x * 64u + lane) * 4u);
    y.Store((group.x * 132u + lane) * 4u, asuint(value_at));
    y.Store((group.x * 132u + lane + 64u) * 4u, token_at);
    if (lane == 0u) {
        y.Store((group.x * 132u + 128u) * 4u, asuint(m));
        y.Store((group.x * 132u + 129u) * 4u, asuint(sum));
        y.Store((group.x * 132u + 130u) * 4u, finite == 0u ? 0xffffffffu : 0u);
    }
}
