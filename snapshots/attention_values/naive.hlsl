// kernel attention_values, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_values {
//     t: grid;
//     h: grid;
//     c: grid, lanes(32);
// }
// dispatch T * 14 * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: 130 * j + 1
//     bytes loaded an invocation: 520 * j + 4
//     stores an invocation: 1
//     flop an invocation: 196 * j + 1
//     flop a byte: 0.38
//     rounds of all loops: (pos + T) * 65
//     rounds of j: pos + T

struct Params {
    uint T;
    uint pos;
    float scale;
};

ByteAddressBuffer q : register(t0);
ByteAddressBuffer k : register(t1);
ByteAddressBuffer v : register(t2);
ByteAddressBuffer top : register(t3);
ByteAddressBuffer total : register(t4);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint c_group = group.x % 2u;
    uint h_group = group.x / 2u % 14u;
    uint t_group = group.x / 2u / 14u;
    uint g = h_group / 7u;
    uint c = c_group * 32u + lane;
    precise float mixed = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    for (uint j = 0u; j < j_end; j++) {
        precise float score = 0.0f;
        for (uint d = 0u; d < 64u; d++) {
            float q_at = asfloat(q.Load(((t_group * 14u + h_group) * 64u + d) * 4u));
            float k_at = asfloat(k.Load(((j * 2u + g) * 64u + d) * 4u));
            score = mad(q_at * params.scale, k_at, score);
        }
        float top_at = asfloat(top.Load((t_group * 16u + h_group) * 4u));
        float v_at = asfloat(v.Load(((j * 2u + g) * 64u + c) * 4u));
        mixed = mad(exp(score - top_at), v_at, mixed);
    }
    float total_at = asfloat(total.Load((t_group * 16u + h_group) * 4u));
    precise float value = mixed / total_at;
    y.Store(((t_group * 14u + h_group) * 64u + c) * 4u, asuint(value));
}
