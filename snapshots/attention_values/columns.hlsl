// kernel attention_values, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule columns, target webgpu-subgroups
// schedule columns for attention_values {
//     t: grid;
//     h: grid;
//     c: serial, lanes(64);
//     j: serial as jo, serial(64);
//     d: serial, vector(4);
//     compute score at jo: workgroup;
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 2
//     barriers: 2 * jo
//     loads an invocation: 160 * jo + 1
//     bytes loaded an invocation: 1024 * jo + 4
//     stores an invocation: 1
//     flop an invocation: 448 * jo + 1
//     flop a byte: 0.44
//     rounds of all loops: ceil((pos + T) / 64) * 81
//     rounds of jo: ceil((pos + T) / 64)

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
groupshared float score_tile[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint g = h_group / 7u;
    precise float mixed = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    uint jo_count = (j_end + 63u) / 64u;
    for (uint jo = 0u; jo < jo_count; jo++) {
        GroupMemoryBarrierWithGroupSync();
        uint j = min(jo * 64u + lane, j_end - 1u);
        precise float score = 0.0f;
        for (uint d = 0u; d < 64u; d += 4u) {
            float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
            float4 k4 = asfloat(k.Load4(((j * 2u + g) * 16u + d / 4u) * 16u));
            score = mad(q4.x * params.scale, k4.x, score);
            score = mad(q4.y * params.scale, k4.y, score);
            score = mad(q4.z * params.scale, k4.z, score);
            score = mad(q4.w * params.scale, k4.w, score);
        }
        score_tile[lane] = score;
        GroupMemoryBarrierWithGroupSync();
        for (uint j_step = 0u; j_step < 64u; j_step++) {
            uint j1 = jo * 64u + j_step;
            float held = score_tile[j_step];
            float top_at = asfloat(top.Load((t_group * 16u + h_group) * 4u));
            uint j_in = min(j1, j_end - 1u);
            float v_at = asfloat(v.Load(((j_in * 2u + g) * 64u + lane) * 4u));
            if (j1 < j_end) {
                mixed = mad(exp(held - top_at), v_at, mixed);
            }
        }
    }
    float total_at = asfloat(total.Load((t_group * 16u + h_group) * 4u));
    precise float value = mixed / total_at;
    y.Store(((t_group * 14u + h_group) * 64u + lane) * 4u, asuint(value));
}
