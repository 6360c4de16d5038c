// kernel linear, shape K = 896, R = 896, T <= 64, schedule naive_f16, target webgpu-subgroups
// schedule naive_f16 for linear {
//     t: grid;
//     r: grid, lanes(64);
//     store w: f16;
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 1792
//     bytes loaded an invocation: 7168
//     stores an invocation: 1
//     flop an invocation: 1792
//     flop a byte: 0.25
//     rounds of all loops: 896

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint r = r_group * 64u + lane;
    precise float sum = 0.0f;
    for (uint k = 0u; k < 896u; k++) {
        uint at = r * 896u + k;
        uint w_at = w.Load(at / 2u * 4u);
        float2 pair = float2(f16tof32(w_at), f16tof32(w_at >> 16u));
        float x_at = asfloat(x.Load((t_group * 896u + k) * 4u));
        sum = mad(at % 2u == 1u ? pair.y : pair.x, x_at, sum);
    }
    y.Store((t_group * 896u + r) * 4u, asuint(sum));
}
