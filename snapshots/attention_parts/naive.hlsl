// kernel attention_parts, shape D = 64, G = 2, H = 14, P = 4096, T <= 64, j.Parts = 16, schedule naive, target webgpu-subgroups
// schedule naive for attention_parts {
//     t: grid;
//     j.part: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 16 * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 67
//     barriers: 0
//     loads an invocation: 49152
//     bytes loaded an invocation: 196608
//     stores an invocation: 66
//     flop an invocation: 100096
//     flop a byte: 0.51
//     rounds of all loops: 33088

struct Params {
    uint T;
    uint pos;
    float scale;
};

ByteAddressBuffer q : register(t0);
ByteAddressBuffer k : register(t1);
ByteAddressBuffer v : register(t2);
RWByteAddressBuffer j_max : register(u0);
RWByteAddressBuffer j_weight : register(u1);
RWByteAddressBuffer j_value : register(u2);
ConstantBuffer<Params> params : register(b0);

[numthreads(4, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 4u;
    uint j_part_group = group.x / 4u % 16u;
    uint t_group = group.x / 4u / 16u;
    uint h = h_group * 4u + lane;
    if (h < 14u) {
        uint g = h / 7u;
        precise float s_max = -3.4028235e38f;
        precise float s_weight = 0.0f;
        precise float s_value[64] = (float[64])0;
        uint v1 = j_part_group * 256u;
        uint j_end = min(max(params.pos + t_group + 1u, v1) - v1, 256u);
        for (uint j = 0u; j < j_end; j++) {
            precise float score = 0.0f;
            for (uint d = 0u; d < 64u; d++) {
                float q_at = asfloat(q.Load(((t_group * 14u + h) * 64u + d) * 4u));
                uint v2 = v1 + j;
                float k_at = asfloat(k.Load(((v2 * 2u + g) * 64u + d) * 4u));
                score = mad(q_at * params.scale, k_at, score);
            }
            precise float m = max(s_max, score);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score - m);
            precise float weight = mad(s_weight, m1, m2);
            for (uint c = 0u; c < 64u; c++) {
                uint v2 = v1 + j;
                float v_at = asfloat(v.Load(((v2 * 2u + g) * 64u + c) * 4u));
                s_value[c] = mad(s_value[c], m1, v_at * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        j_max.Store(((t_group * 14u + h) * 16u + j_part_group) * 4u, asuint(s_max));
        j_weight.Store(((t_group * 14u + h) * 16u + j_part_group) * 4u, asuint(s_weight));
        for (uint c = 0u; c < 64u; c++) {
            j_value.Store((((t_group * 14u + h) * 16u + j_part_group) * 64u + c) * 4u, asuint(s_value[c]));
        }
    }
}
