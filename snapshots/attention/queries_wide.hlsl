// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule queries_wide, target webgpu-subgroups
// schedule queries_wide for attention {
//     workgroup 256;
//     t: grid, lanes(8);
//     h: grid;
//     j: serial as jo, serial(16);
//     softmax.c: unroll(4), lanes(32);
//     c: unroll(4), lanes(32);
//     d: serial, vector(4);
//     stage k at jo: workgroup;
//     stage v at jo: workgroup;
//     compute score at jo: workgroup;
// }
// dispatch ceil(T / 8) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 8864 bytes
//     accumulator registers: 7
//     barriers: 3 * jo
//     loads an invocation: 18 * jo
//     bytes loaded an invocation: 288 * jo
//     stores an invocation: 2
//     flop an invocation: 496 * jo + 2
//     flop a byte: 1.72
//     rounds of all loops: (pos + min((ceil(T / 8) - 1) * 8 + 7, T - 1) + 16) / 16 * 33
//     rounds of jo: (pos + min((ceil(T / 8) - 1) * 8 + 7, T - 1) + 16) / 16

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
groupshared float k_tile[1040];
groupshared float v_tile[1040];
groupshared float score_tile[136];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint t = t_group * 8u + lane / 32u;
    precise float s_max = -3.4028235e38f;
    precise float s_weight = 0.0f;
    precise float s_value = 0.0f;
    precise float s_value1 = 0.0f;
    precise float s_value2 = 0.0f;
    precise float s_value3 = 0.0f;
    uint t_in = min(t, params.T - 1u);
    uint j_end = params.pos + t_in + 1u;
    uint j_last = params.pos + min(t_group * 8u + 7u, params.T - 1u) + 1u;
    uint jo_count = (j_last + 15u) / 16u;
    for (uint jo = 0u; jo < jo_count; jo++) {
        GroupMemoryBarrierWithGroupSync();
        uint g = h_group / 7u;
        float4 k4 = asfloat(k.Load4(((min(jo * 16u + lane / 16u, 2047u) * 2u + g) * 16u + lane % 16u) * 16u));
        k_tile[lane / 16u * 65u + lane % 16u * 4u] = k4.x;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 1u] = k4.y;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 2u] = k4.z;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 3u] = k4.w;
        float4 v4 = asfloat(v.Load4(((min(jo * 16u + lane / 16u, 2047u) * 2u + g) * 16u + lane % 16u) * 16u));
        v_tile[lane / 16u * 65u + lane % 16u * 4u] = v4.x;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 1u] = v4.y;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 2u] = v4.z;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 3u] = v4.w;
        GroupMemoryBarrierWithGroupSync();
        if (lane < 128u) {
            uint t1 = min(t_group * 8u + lane / 16u, params.T - 1u);
            uint j = min(jo * 16u + lane % 16u, j_last - 1u);
            precise float score = 0.0f;
            for (uint d = 0u; d < 64u; d += 4u) {
                float4 q4 = asfloat(q.Load4(((t1 * 14u + h_group) * 16u + d / 4u) * 16u));
                float held = k_tile[(max(j, jo * 16u) - jo * 16u) * 65u + d];
                float held1 = k_tile[(max(j, jo * 16u) - jo * 16u) * 65u + d + 1u];
                float held2 = k_tile[(max(j, jo * 16u) - jo * 16u) * 65u + d + 2u];
                float held3 = k_tile[(max(j, jo * 16u) - jo * 16u) * 65u + d + 3u];
                score = mad(q4.x * params.scale, held, score);
                score = mad(q4.y * params.scale, held1, score);
                score = mad(q4.z * params.scale, held2, score);
                score = mad(q4.w * params.scale, held3, score);
            }
            score_tile[lane / 16u * 17u + lane % 16u] = score;
        }
        GroupMemoryBarrierWithGroupSync();
        for (uint j_step = 0u; j_step < 16u; j_step++) {
            uint j = jo * 16u + j_step;
            float held = score_tile[lane / 32u * 17u + j_step];
            if (j < j_end) {
                precise float m = max(s_max, held);
                precise float m1 = exp(s_max - m);
                precise float m2 = exp(held - m);
                precise float weight = mad(s_weight, m1, m2);
                uint c = lane % 32u;
                float held1 = v_tile[j_step * 65u + c];
                s_value = mad(s_value, m1, held1 * m2);
                uint c_in = c + 32u;
                float held2 = v_tile[j_step * 65u + c_in];
                s_value1 = mad(s_value1, m1, held2 * m2);
                float held3 = v_tile[j_step * 65u + 63u];
                s_value2 = mad(s_value2, m1, held3 * m2);
                float held4 = v_tile[j_step * 65u + 63u];
                s_value3 = mad(s_value3, m1, held4 * m2);
                s_max = m;
                s_weight = weight;
            }
        }
    }
    uint c = lane % 32u;
    uint c_in = c + 32u;
    if (t < params.T) {
        precise float value = s_value / s_weight;
        y.Store(((t_in * 14u + h_group) * 64u + c) * 4u, asuint(value));
        precise float value1 = s_value1 / s_weight;
        y.Store(((t_in * 14u + h_group) * 64u + c_in) * 4u, asuint(value1));
    }
}
