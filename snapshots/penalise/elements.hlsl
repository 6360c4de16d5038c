// kernel penalise, shape T <= 64, V = 151936, schedule elements, target webgpu-subgroups
// schedule elements for penalise {
//     t: grid;
//     v: grid, lanes(64);
// }
// dispatch (50688) x (ceil(T * 2374 / 50688)) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 2
//     bytes loaded an invocation: 8
//     stores an invocation: 1
//     flop an invocation: 2
//     flop a byte: 0.17
//     rounds of all loops: 0

struct Params {
    uint T;
    float penalty;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer first : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint workgroup = group.y * 50688u + group.x;
    uint v_group = workgroup % 2374u;
    uint t_group = workgroup / 2374u;
    if (t_group < params.T) {
        uint v = v_group * 64u + lane;
        float x_at = asfloat(x.Load((t_group * 151936u + v) * 4u));
        precise float less = x_at < 0.0f ? x_at * params.penalty : x_at / params.penalty;
        uint first_at = first.Load(v * 4u);
        y.Store((t_group * 151936u + v) * 4u, asuint(first_at == 0xffffffffu ? x_at : less));
    }
}
