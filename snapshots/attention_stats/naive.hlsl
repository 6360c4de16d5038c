// kernel attention_stats, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_stats {
//     t: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 3
//     barriers: 0
//     loads an invocation: 256 * i
//     bytes loaded an invocation: 1024 * i
//     stores an invocation: 2
//     flop an invocation: 388 * i
//     flop a byte: 0.38
//     rounds of all loops: (pos + T) * 65 + (pos + T) * 65
//     rounds of i: pos + T

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

[numthreads(4, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 4u;
    uint t_group = group.x / 4u;
    uint h = h_group * 4u + lane;
    if (h < 14u) {
        precise float m = -3.4028235e38f;
        uint v = params.pos + t_group + 1u;
        for (uint i = 0u; i < v; i++) {
            precise float sum = 0.0f;
            for (uint c = 0u; c < 64u; c++) {
                float q_at = asfloat(q.Load(((t_group * 14u + h) * 64u + c) * 4u));
                uint g = h / 7u;
                float k_at = asfloat(k.Load(((i * 2u + g) * 64u + c) * 4u));
                sum = mad(q_at * params.scale, k_at, sum);
            }
            m = max(m, sum);
        }
        precise float n = 0.0f;
        for (uint j = 0u; j < v; j++) {
            precise float score = 0.0f;
            for (uint d = 0u; d < 64u; d++) {
                float q_at = asfloat(q.Load(((t_group * 14u + h) * 64u + d) * 4u));
                uint g = h / 7u;
                float k_at = asfloat(k.Load(((j * 2u + g) * 64u + d) * 4u));
                score = mad(q_at * params.scale, k_at, score);
            }
            n = n + exp(score - m);
        }
        top.Store((t_group * 16u + h) * 4u, asuint(m));
        total.Store((t_group * 16u + h) * 4u, asuint(n));
    }
}
