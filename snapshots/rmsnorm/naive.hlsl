// kernel rmsnorm, shape D = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for rmsnorm {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 898
//     bytes loaded an invocation: 3592
//     stores an invocation: 1
//     flop an invocation: 1797
//     flop a byte: 0.50
//     rounds of all loops: 896

struct Params {
    uint T;
    float eps;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer w : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 14u;
    uint t_group = group.x / 14u;
    precise float s = 0.0f;
    for (uint j = 0u; j < 896u; j++) {
        float x_at = asfloat(x.Load((t_group * 896u + j) * 4u));
        s = mad(x_at, x_at, s);
    }
    precise float scale = rsqrt(s / 896.0f + params.eps);
    uint i = i_group * 64u + lane;
    float x_at = asfloat(x.Load((t_group * 896u + i) * 4u));
    float w_at = asfloat(w.Load(i * 4u));
    precise float value = x_at * scale * w_at;
    y.Store((t_group * 896u + i) * 4u, asuint(value));
}
