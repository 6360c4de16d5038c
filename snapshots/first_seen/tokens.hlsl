// kernel first_seen, shape T <= 64, V = 151936, schedule tokens, target webgpu-subgroups
// schedule tokens for first_seen {
//     v: grid, lanes(64);
// }
// dispatch 2374 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: t + 1
//     bytes loaded an invocation: 4 * t + 4
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: T
//     rounds of t: T

struct Params {
    uint T;
    uint pos;
};

ByteAddressBuffer ids : register(t0);
RWByteAddressBuffer first : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint v = group.x * 64u + lane;
    uint now = 0xffffffffu;
    for (uint t = 0u; t < params.T; t++) {
        uint ids_at = ids.Load(t * 4u);
        uint index = ids_at == v ? params.pos + t : 0xffffffffu;
        now = min(now, index);
    }
    uint first_at = first.Load(v * 4u);
    first.Store(v * 4u, first_at < params.pos ? first_at : now);
}
