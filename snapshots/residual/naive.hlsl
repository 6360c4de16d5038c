// kernel residual, shape D = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for residual {
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
//     flop an invocation: 1
//     flop a byte: 0.08
//     rounds of all loops: 0

struct Params {
    uint T;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer h : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint i = i_group * 64u + lane;
    float h_at = asfloat(h.Load((t_group * 896u + i) * 4u));
    float x_at = asfloat(x.Load((t_group * 896u + i) * 4u));
    precise float value = h_at + x_at;
    h.Store((t_group * 896u + i) * 4u, asuint(value));
}
