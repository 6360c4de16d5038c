// kernel attention_mix, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_mix {
//     t: grid;
//     h: grid;
//     c: grid, lanes(32);
// }
// dispatch T * 14 * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 2 * j
//     bytes loaded an invocation: 8 * j
//     stores an invocation: 1
//     flop an invocation: 2 * j
//     flop a byte: 0.25
//     rounds of all loops: pos + T
//     rounds of j: pos + T

struct Params {
    uint R;
    uint C;
    uint T;
    uint pos;
};

ByteAddressBuffer weights : register(t0);
ByteAddressBuffer v : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint c_group = group.x % 2u;
    uint h_group = group.x / 2u % 14u;
    uint t_group = group.x / 2u / 14u;
    uint g = h_group / 7u;
    uint c = c_group * 32u + lane;
    precise float sum = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    for (uint j = 0u; j < j_end; j++) {
        float weights_at = asfloat(weights.Load(((t_group * 14u + h_group) * 2048u + j) * 4u));
        float v_at = asfloat(v.Load(((j * 2u + g) * 64u + c) * 4u));
        sum = mad(weights_at, v_at, sum);
    }
    y.Store(((t_group * 14u + h_group) * 64u + c) * 4u, asuint(sum));
}
