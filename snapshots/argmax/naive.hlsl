// kernel argmax, shape T <= 64, V = 151936, schedule naive, target webgpu-subgroups
// schedule naive for argmax {
//     t: grid;
// }
// dispatch T workgroups of 1 invocation
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: v
//     bytes loaded an invocation: 4 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: min(limit, 151936)
//     rounds of v: min(limit, 151936)

struct Params {
    uint T;
    uint limit;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID) {
    precise float argmax_max = -3.4028235e38f;
    uint argmax_index = 0xfffffffeu;
    uint v_end = min(params.limit, 151936u);
    for (uint v = 0u; v < v_end; v++) {
        float x_at = asfloat(x.Load((group.x * 151936u + v) * 4u));
        bool v1 = (asuint(x_at) & 0x7f800000u) == 0x7f800000u;
        float max_new = v1 ? 3.4028235e38f : x_at;
        uint index_new = v1 ? 0xffffffffu : v;
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
    }
    y.Store(group.x * 4u, argmax_index);
}
