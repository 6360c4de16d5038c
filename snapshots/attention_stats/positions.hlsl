// kernel attention_stats, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule positions, target webgpu-subgroups
// schedule positions for attention_stats {
//     t: grid;
//     h: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, vector(4);
//     d: serial, vector(4);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 3
//     barriers: 14
//     loads an invocation: 64 * i
//     bytes loaded an invocation: 1024 * i
//     stores an invocation: 2
//     flop an invocation: 388 * i + 12
//     flop a byte: 0.38
//     rounds of all loops: ceil((pos + T) / 64) * 17 + ceil((pos + T) / 64) * 17
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
groupshared float fold[64];

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
    GroupMemoryBarrierWithGroupSync();
    fold[lane] = n;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        n = n + fold[lane + 32u];
        fold[lane] = n;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        n = n + fold[lane + 16u];
        fold[lane] = n;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        n = n + fold[lane + 8u];
        fold[lane] = n;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        n = n + fold[lane + 4u];
        fold[lane] = n;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        n = n + fold[lane + 2u];
        fold[lane] = n;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        n = n + fold[lane + 1u];
    }
    if (lane == 0u) {
        top.Store((t_group * 16u + h_group) * 4u, asuint(m));
        total.Store((t_group * 16u + h_group) * 4u, asuint(n));
    }
}
