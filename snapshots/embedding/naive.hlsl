// kernel embedding, shape D = 896, T <= 64, V = 1000, schedule naive, target webgpu-subgroups
// schedule naive for embedding {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 2
//     bytes loaded an invocation: 8
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 0

struct Params {
    uint T;
};

ByteAddressBuffer ids : register(t0);
ByteAddressBuffer w : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint i = i_group * 64u + lane;
    uint ids_at = ids.Load(t_group * 4u);
    float w_at = asfloat(w.Load((min(ids_at, 999u) * 896u + i) * 4u));
    y.Store((t_group * 896u + i) * 4u, asuint(w_at));
}
