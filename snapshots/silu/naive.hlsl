// kernel silu, shape D = 4864, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for silu {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 76 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 1
//     bytes loaded an invocation: 4
//     stores an invocation: 1
//     flop an invocation: 4
//     flop a byte: 0.50
//     rounds of all loops: 0

struct Params {
    uint T;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 76u;
    uint t_group = group.x / 76u;
    uint i = i_group * 64u + lane;
    float x_at = asfloat(x.Load((t_group * 4864u + i) * 4u));
    precise float e = exp(-abs(x_at));
    precise float s = (x_at < 0.0f ? e : 1.0f) / (1.0f + e);
    precise float value = x_at * s;
    y.Store((t_group * 4864u + i) * 4u, asuint(value));
}
