// kernel attention_scores, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule vectors, target webgpu-subgroups
// schedule vectors for attention_scores {
//     t: grid;
//     h: grid;
//     j: grid, lanes(64);
//     d: serial, vector(4);
// }
// dispatch T * 14 * ceil(C / 64) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 32
//     bytes loaded an invocation: 512
//     stores an invocation: 1
//     flop an invocation: 192
//     flop a byte: 0.37
//     rounds of all loops: 16

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
        for (uint d = 0u; d < 64u; d += 4u) {
            float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
            float4 k4 = asfloat(k.Load4(((j * 2u + g) * 16u + d / 4u) * 16u));
            score = mad(q4.x * params.scale, k4.x, score);
            score = mad(q4.y * params.scale, k4.y, score);
            score = mad(q4.z * params.scale, k4.z, score);
            score = mad(q4.w * params.scale, k4.w, score);
        }
        scores.Store(((t_group * 14u + h_group) * 2048u + j) * 4u, asuint(j <= params.pos + t_group ? score : -3.4028235e38f));
    }
}
