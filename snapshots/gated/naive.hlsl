// kernel gated, shape D = 4864, K = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for gated {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 76 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: 2688
//     bytes loaded an invocation: 10752
//     stores an invocation: 1
//     flop an invocation: 3589
//     flop a byte: 0.33
//     rounds of all loops: 896

struct Params {
    uint T;
};

ByteAddressBuffer gate_w : register(t0);
ByteAddressBuffer x : register(t1);
ByteAddressBuffer up_w : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 76u;
    uint t_group = group.x / 76u;
    uint i = i_group * 64u + lane;
    precise float v_sum0 = 0.0f;
    precise float v_sum1 = 0.0f;
    for (uint k = 0u; k < 896u; k++) {
        float gate_w_at = asfloat(gate_w.Load((i * 896u + k) * 4u));
        float x_at = asfloat(x.Load((t_group * 896u + k) * 4u));
        float up_w_at = asfloat(up_w.Load((i * 896u + k) * 4u));
        v_sum0 = mad(gate_w_at, x_at, v_sum0);
        v_sum1 = mad(up_w_at, x_at, v_sum1);
    }
    precise float silu_e = exp(-abs(v_sum0));
    precise float silu_s = (v_sum0 < 0.0f ? silu_e : 1.0f) / (1.0f + silu_e);
    precise float value = v_sum0 * silu_s * v_sum1;
    y.Store((t_group * 4864u + i) * 4u, asuint(value));
}
