// kernel attention_merged, shape D = 64, G = 2, H = 14, T <= 64, j.Parts = 16, schedule merged_naive, target webgpu-subgroups
// schedule merged_naive for attention_merged {
//     t: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 66
//     barriers: 0
//     loads an invocation: 1056
//     bytes loaded an invocation: 4224
//     stores an invocation: 64
//     flop an invocation: 3264
//     flop a byte: 0.73
//     rounds of all loops: 1104

struct Params {
    uint T;
};

ByteAddressBuffer j_max : register(t0);
ByteAddressBuffer j_weight : register(t1);
ByteAddressBuffer j_value : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(4, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 4u;
    uint t_group = group.x / 4u;
    uint h = h_group * 4u + lane;
    if (h < 14u) {
        precise float s_max = -3.4028235e38f;
        precise float s_weight = 0.0f;
        precise float s_value[64] = (float[64])0;
        for (uint part = 0u; part < 16u; part++) {
            float j_max_at = asfloat(j_max.Load(((t_group * 14u + h) * 16u + part) * 4u));
            float j_weight_at = asfloat(j_weight.Load(((t_group * 14u + h) * 16u + part) * 4u));
            precise float m = max(s_max, j_max_at);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(j_max_at - m);
            precise float weight = mad(s_weight, m1, j_weight_at * m2);
            for (uint c = 0u; c < 64u; c++) {
                float j_value_at = asfloat(j_value.Load((((t_group * 14u + h) * 16u + part) * 64u + c) * 4u));
                s_value[c] = mad(s_value[c], m1, j_value_at * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        for (uint c = 0u; c < 64u; c++) {
            precise float value = s_value[c] / s_weight;
            y.Store(((t_group * 14u + h) * 64u + c) * 4u, asuint(value));
        }
    }
}
