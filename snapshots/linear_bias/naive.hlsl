// kernel linear_bias, shape K = 896, R = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for linear_bias {
//     t: grid;
//     r: grid, lanes(64);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 1793
//     bytes loaded an invocation: 7172
//     stores an invocation: 1
//     flop an invocation: 1793
//     flop a byte: 0.25
//     rounds of all loops: 896

struct Params {
    uint T;
};

ByteAddressBuffer b : register(t0);
ByteAddressBuffer linear_w : register(t1);
ByteAddressBuffer linear_x : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint r = r_group * 64u + lane;
    precise float sum = 0.0f;
    for (uint k = 0u; k < 896u; k++) {
        float linear_w_at = asfloat(linear_w.Load((r * 896u + k) * 4u));
        float linear_x_at = asfloat(linear_x.Load((t_group * 896u + k) * 4u));
        sum = mad(linear_w_at, linear_x_at, sum);
    }
    float b_at = asfloat(b.Load(r * 4u));
    precise float value = sum + b_at;
    y.Store((t_group * 896u + r) * 4u, asuint(value));
}
