// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule queries, target wide
// schedule queries for attention {
//     workgroup 256;
//     t: grid, lanes(16);
//     h: grid;
//     j: serial as jo, serial(32);
//     softmax.c: unroll(4), lanes(16);
//     c: unroll(4), lanes(16);
//     d: serial, vector(4);
//     stage k at jo: workgroup;
//     stage v at jo: workgroup;
//     compute score at jo: workgroup;
// }
// dispatch ceil(T / 16) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 18752 bytes
//     accumulator registers: 7
//     barriers: 3 * jo
//     loads an invocation: 36 * jo
//     bytes loaded an invocation: 576 * jo
//     stores an invocation: 4
//     flop an invocation: 992 * jo + 4
//     flop a byte: 1.72
//     rounds of all loops: (pos + min((ceil(T / 16) - 1) * 16 + 15, T - 1) + 32) / 32 * 67
//     rounds of jo: (pos + min((ceil(T / 16) - 1) * 16 + 15, T - 1) + 32) / 32

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
groupshared float k_tile[2080];
groupshared float v_tile[2080];
groupshared float score_tile[528];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint t = t_group * 16u + lane / 16u;
    precise float s_max = -3.4028235e38f;
    precise float s_weight = 0.0f;
    precise float s_value = 0.0f;
    precise float s_value1 = 0.0f;
    precise float s_value2 = 0.0f;
    precise float s_value3 = 0.0f;
    uint t_in = min(t, params.T - 1u);
    uint j_end = params.pos + t_in + 1u;
    uint j_last = params.pos + min(t_group * 16u + 15u, params.T - 1u) + 1u;
    uint jo_count = (j_last + 31u) / 32u;
    for (uint jo = 0u; jo < jo_count; jo++) {
        GroupMemoryBarrierWithGroupSync();
        uint g = h_group / 7u;
        float4 k4 = asfloat(k.Load4(((min(jo * 32u + lane / 16u, 2047u) * 2u + g) * 16u + lane % 16u) * 16u));
        float4 k4_1 = asfloat(k.Load4(((min(jo * 32u + lane / 16u + 16u, 2047u) * 2u + g) * 16u + lane % 16u) * 16u));
        k_tile[lane / 16u * 65u + lane % 16u * 4u] = k4.x;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 1u] = k4.y;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 2u] = k4.z;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 3u] = k4.w;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u] = k4_1.x;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 1u] = k4_1.y;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 2u] = k4_1.z;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 3u] = k4_1.w;
        float4 v4 = asfloat(v.Load4(((min(jo * 32u + lane / 16u, 2047u) * 2u + g) * 16u + lane % 16u) * 16u));
        float4 v4_1 = asfloat(v.Load4(((min(jo * 32u + lane / 16u + 16u, 2047u) * 2u + g) * 16u + lane % 16u) * 16u));
        v_tile[lane / 16u * 65u + lane % 16u * 4u] = v4.x;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 1u] = v4.y;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 2u] = v4.z;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 3u] = v4.w;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u] = v4_1.x;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 1u] = v4_1.y;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 2u] = v4_1.z;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 3u] = v4_1.w;
        GroupMemoryBarrierWithGroupSync();
        for (uint fill = lane; fill < 512u; fill += 256u) {
            uint t1 = min(t_group * 16u + fill / 32u, params.T - 1u);
            uint j = min(jo * 32u + fill % 32u, j_last - 1u);
            precise float score = 0.0f;
            for (uint d = 0u; d < 64u; d += 4u) {
                float4 q4 = asfloat(q.Load4(((t1 * 14u + h_group) * 16u + d / 4u) * 16u));
                float held = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d];
                float held1 = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d + 1u];
                float held2 = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d + 2u];
                float held3 = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d + 3u];
                score = mad(q4.x * params.scale, held, score);
                score = mad(q4.y * params.scale, held1, score);
                score = mad(q4.z * params.scale, held2, score);
                score = mad(q4.w * params.scale, held3, score);
            }
            score_tile[fill / 32u * 33u + fill % 32u] = score;
        }
        GroupMemoryBarrierWithGroupSync();
        for (uint j_step = 0u; j_step < 32u; j_step++) {
            uint j = jo * 32u + j_step;
            uint c = lane % 16u;
            float held = v_tile[j_step * 65u + c];
            float held1 = v_tile[j_step * 65u + c + 16u];
            float held2 = v_tile[j_step * 65u + c + 32u];
            float held3 = v_tile[j_step * 65u + c + 48u];
            float held4 = score_tile[lane / 16u * 33u + j_step];
            if (j < j_end) {
                precise float m = max(s_max, held4);
                precise float m1 = exp(s_max - m);
                precise float m2 = exp(held4 - m);
                precise float weight = mad(s_weight, m1, m2);
                s_value = mad(s_value, m1, held * m2);
                s_value1 = mad(s_value1, m1, held1 * m2);
                s_value2 = mad(s_value2, m1, held2 * m2);
                s_value3 = mad(s_value3, m1, held3 * m2);
                s_max = m;
                s_weight = weight;
            }
        }
    }
    uint c = lane % 16u;
    if (t < params.T) {
        precise float value = s_value / s_weight;
        y.Store(((t_in * 14u + h_group) * 64u + c) * 4u, asuint(value));
        precise float value1 = s_value1 / s_weight;
        y.Store(((t_in * 14u + h_group) * 64u + c + 16u) * 4u, asuint(value1));
        precise float value2 = s_value2 / s_weight;
        y.Store(((t_in * 14u + h_group) * 64u + c + 32u) * 4u, asuint(value2));
        precise float value3 = s_value3 / s_weight;
        y.Store(((t_in * 14u + h_group) * 64u + c + 48u) * 4u, asuint(value3));
    }
}
