// kernel attention_scores, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_scores {
//     t: grid;
//     h: grid;
//     j: grid, lanes(64);
// }
// dispatch T * 14 * ceil(C / 64) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 128
//     bytes loaded an invocation: 512
//     stores an invocation: 1
//     flop an invocation: 192
//     flop a byte: 0.37
//     rounds of all loops: 64

struct Params {
    uint T;
    uint R;
    uint C;
    uint pos;
    float scale;
};

ByteAddressBuffer q : register(t0);
ByteAddressBuffer k : register(t1);
RWByteAddressBuffer scores : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint j_group = group.x % ((params.C + 63u) / 64u);
    uint h_group = group.x / ((params.C + 63u) / 64u) % 14u;
    uint t_group = group.x / ((params.C + 63u) / 64u) / 14u;
    uint g = h_group / 7u;
    uint j = j_group * 64u + lane;
    if (j < params.C) {
        precise float score = 0.0f;
        for (uint d = 0u; d < 64u; d++) {
            float q_at = asfloat(q.Load(((t_group * 14u + h_group) * 64u + d) * 4u));
            float k_at = asfloat(k.Load(((j * 2u + g) * 64u + d) * 4u));
            score = mad(q_at * params.scale, k_at, score);
        }
        scores.Store(((t_group * 14u + h_group) * 2048u + j) * 4u, asuint(j <= params.pos + t_group ? score : -3.4028235e38f));
    }
}
