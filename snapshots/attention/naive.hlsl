// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention {
//     t: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 67
//     barriers: 0
//     loads an invocation: 192 * j
//     bytes loaded an invocation: 768 * j
//     stores an invocation: 64
//     flop an invocation: 391 * j + 64
//     flop a byte: 0.51
//     rounds of all loops: (pos + T) * 129 + 64
//     rounds of j: pos + T

struct Params {
    uint T;
    uint pos;
    float scale;
};

ByteAddressBuffer q : register(t0);
ByteAddressBuffer k : register(t1);
ByteAddressBuffer v : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(4, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 4u;
    uint t_group = group.x / 4u;
    uint h = h_group * 4u + lane;
    if (h < 14u) {
        precise float s_max = -3.4028235e38f;
        precise float s_weight = 0.0f;
        precise float s_value[64] = (float[64])0;
        uint j_end = params.pos + t_group + 1u;
        for (uint j = 0u; j < j_end; j++) {
            precise float score = 0.0f;
            for (uint d = 0u; d < 64u; d++) {
                float q_at = asfloat(q.Load(((t_group * 14u + h) * 64u + d) * 4u));
                uint g = h / 7u;
                float k_at = asfloat(k.Load(((j * 2u + g) * 64u + d) * 4u));
                score = mad(q_at * params.scale, k_at, score);
            }
            precise float m = max(s_max, score);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score - m);
            precise float weight = mad(s_weight, m1, m2);
            for (uint c = 0u; c < 64u; c++) {
                uint g = h / 7u;
                float v_at = asfloat(v.Load(((j * 2u + g) * 64u + c) * 4u));
                s_value[c] = mad(s_value[c], m1, v_at * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        for (uint c = 0u; c < 64u; c++) {
            precise float value = s_value[c] / s_weight;
            y.Store(((t_group * 14u + h) * 64u + c) * 4u, asuint(value));
        }
    }
}
