// kernel bias, shape R = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for bias {
//     t: grid;
//     r: grid, lanes(64);
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
ByteAddressBuffer b : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint r = r_group * 64u + lane;
    float x_at = asfloat(x.Load((t_group * 896u + r) * 4u));
    float b_at = asfloat(b.Load(r * 4u));
    precise float value = x_at + b_at;
    y.Store((t_group * 896u + r) * 4u, asuint(value));
}
