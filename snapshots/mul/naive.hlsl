// kernel mul, shape D = 4864, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for mul {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 76 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 2
//     bytes loaded an invocation: 8
//     stores an invocation: 1
//     flop an invocation: 1
//     flop a byte: 0.08
//     rounds of all loops: 0

struct Params {
    uint T;
};

ByteAddressBuffer a : register(t0);
ByteAddressBuffer b : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 76u;
    uint t_group = group.x / 76u;
    uint i = i_group * 64u + lane;
    float a_at = asfloat(a.Load((t_group * 4864u + i) * 4u));
    float b_at = asfloat(b.Load((t_group * 4864u + i) * 4u));
    precise float value = a_at * b_at;
    y.Store((t_group * 4864u + i) * 4u, asuint(value));
}
