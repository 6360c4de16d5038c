// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule columns_wide, target webgpu-subgroups
// schedule columns_wide for attention {
//     t: grid;
//     h: grid;
//     j: serial as jo, serial(128);
//     softmax.c: lanes(128);
//     c: lanes(128);
//     d: serial, vector(4);
//     compute score at jo: workgroup;
// }
// dispatch T * 14 workgroups of 128 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 4
//     barriers: 2 * jo
//     loads an invocation: 160 * jo
//     bytes loaded an invocation: 1024 * jo
//     stores an invocation: 1
//     flop an invocation: 1472 * jo + 1
//     flop a byte: 1.44
//     rounds of all loops: ceil((pos + T) / 128) * 145
//     rounds of jo: ceil((pos + T) / 128)

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
groupshared float score_tile[128];

[numthreads(128, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    precise float s_max = -3.4028235e38f;
    precise float s_weight = 0.0f;
    precise float s_value = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    uint jo_count = (j_end + 127u) / 128u;
    for (uint jo = 0u; jo < jo_count; jo++) {
        GroupMemoryBarrierWithGroupSync();
        uint j = min(jo * 128u + lane, j_end - 1u);
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
        score_tile[lane] = score;
        GroupMemoryBarrierWithGroupSync();
        for (uint j_step = 0u; j_step < 128u; j_step++) {
            uint j1 = jo * 128u + j_step;
            float held = score_tile[j_step];
            if (j1 < j_end) {
                precise float m = max(s_max, held);
                precise float m1 = exp(s_max - m);
                precise float m2 = exp(held - m);
                precise float weight = mad(s_weight, m1, m2);
                if (lane < 64u) {
                    uint g = h_group / 7u;
                    float v_at = asfloat(v.Load(((j1 * 2u + g) * 64u + lane) * 4u));
                    s_value = mad(s_value, m1, v_at * m2);
                }
                s_max = m;
                s_weight = weight;
            }
        }
    }
    if (lane < 64u) {
        precise float value = s_value / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + lane) * 4u, asuint(value));
    }
}
