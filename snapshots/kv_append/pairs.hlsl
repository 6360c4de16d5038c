// kernel kv_append, shape D = 64, G = 2, P = 2048, S = 2, T <= 64, schedule pairs, target webgpu-subgroups
// schedule pairs for kv_append {
//     t: grid;
//     g: grid;
//     d: grid, lanes(32), vector(2);
// }
// dispatch T * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 1
//     bytes loaded an invocation: 8
//     stores an invocation: 2
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
    uint g_group = group.x % 2u;
    uint t_group = group.x / 2u;
    uint d = lane * 2u;
    uint v = params.from + g_group;
    float2 x2 = asfloat(x.Load2(((t_group * 2u + v) * 32u + d / 2u) * 8u));
    uint v1 = params.pos + t_group;
    cache.Store(((v1 * 2u + g_group) * 64u + d) * 4u, asuint(x2.x));
    cache.Store(((v1 * 2u + g_group) * 64u + d + 1u) * 4u, asuint(x2.y));
}
