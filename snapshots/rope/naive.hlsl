// kernel rope, shape D = 64, F = 32, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for rope {
//     t: grid;
//     h: grid;
//     p: grid, lanes(32);
// }
// dispatch T * 14 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 4
//     bytes loaded an invocation: 16
//     stores an invocation: 2
//     flop an invocation: 6
//     flop a byte: 0.25
//     rounds of all loops: 0

struct Params {
    uint T;
    uint pos;
};

ByteAddressBuffer cos_ : register(t0);
ByteAddressBuffer sin_ : register(t1);
RWByteAddressBuffer x : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    float x_at = asfloat(x.Load(((t_group * 14u + h_group) * 64u + lane) * 4u));
    uint v = params.pos + t_group;
    float cos_at = asfloat(cos_.Load((v * 32u + lane) * 4u));
    uint v1 = lane + 32u;
    float x_at1 = asfloat(x.Load(((t_group * 14u + h_group) * 64u + v1) * 4u));
    float sin_at = asfloat(sin_.Load((v * 32u + lane) * 4u));
    precise float value = mad(x_at, cos_at, -(x_at1 * sin_at));
    x.Store(((t_group * 14u + h_group) * 64u + lane) * 4u, asuint(value));
    precise float value1 = mad(x_at1, cos_at, x_at * sin_at);
    x.Store(((t_group * 14u + h_group) * 64u + v1) * 4u, asuint(value1));
}
