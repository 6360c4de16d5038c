// kernel kv_append, shape D = 64, G = 2, P = 2048, S = 2, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for kv_append {
//     t: grid;
//     g: grid;
//     d: grid, lanes(32);
// }
// dispatch T * 2 * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 1
//     bytes loaded an invocation: 4
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 0

struct Params {
    uint T;
    uint pos;
    uint from;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer cache : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint d_group = group.x % 2u;
    uint g_group = group.x / 2u % 2u;
    uint t_group = group.x / 2u / 2u;
    uint d = d_group * 32u + lane;
    float x_at = asfloat(x.Load(((t_group * 2u + params.from + g_group) * 64u + d) * 4u));
    cache.Store((((params.pos + t_group) * 2u + g_group) * 64u + d) * 4u, asuint(x_at));
}
