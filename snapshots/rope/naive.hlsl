// kernel rope, shape C = 64, D = 64, H = 14, P = 2048, S = 14, T <= 64, schedule naive, target webgpu-subgroups
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
    uint from;
    uint at;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer angles : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint v = params.from + h_group;
    float x_at = asfloat(x.Load(((t_group * 14u + v) * 64u + lane) * 4u));
    uint v1 = params.pos + t_group;
    float angles_at = asfloat(angles.Load((v1 * 64u + lane) * 4u));
    uint v2 = lane + 32u;
    float x_at1 = asfloat(x.Load(((t_group * 14u + v) * 64u + v2) * 4u));
    float angles_at1 = asfloat(angles.Load((v1 * 64u + v2) * 4u));
    uint v3 = params.at + t_group;
    precise float value = mad(x_at, angles_at, -(x_at1 * angles_at1));
    y.Store(((v3 * 14u + h_group) * 64u + lane) * 4u, asuint(value));
    precise float value1 = mad(x_at1, angles_at, x_at * angles_at1);
    y.Store(((v3 * 14u + h_group) * 64u + v2) * 4u, asuint(value1));
}
