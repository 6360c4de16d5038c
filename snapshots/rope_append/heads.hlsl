// kernel rope_append, shape D = 64, P = 2048, S = 18, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule heads, target webgpu-subgroups
// schedule heads for rope_append {
//     t: grid;
//     q.h: grid;
//     q.p: grid, lanes(32);
//     k.h: grid;
//     k.p: grid, lanes(32);
//     v.g: grid;
//     v.d: grid, lanes(32);
// }
// dispatch T * 14 + T * 2 + T * 2 * 2 workgroups of 32 invocations
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
    uint q_from;
    uint q_at;
    uint k_from;
    uint k_at;
    uint v_from;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer angles : register(t1);
RWByteAddressBuffer q_y : register(u0);
RWByteAddressBuffer k_y : register(u1);
RWByteAddressBuffer v_cache : register(u2);
ConstantBuffer<Params> params : register(b0);

[numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint end0 = params.T * 14u;
    uint end1 = end0 + params.T * 2u;
    uint end2 = end1 + params.T * 4u;
    if (group.x < end0) {
        uint q_h_group = group.x % 14u;
        uint t_group = group.x / 14u;
        uint v = params.q_from + q_h_group;
        float x_at = asfloat(x.Load(((t_group * 18u + v) * 64u + lane) * 4u));
        uint v1 = params.pos + t_group;
        float angles_at = asfloat(angles.Load((v1 * 64u + lane) * 4u));
        uint v2 = lane + 32u;
        float x_at1 = asfloat(x.Load(((t_group * 18u + v) * 64u + v2) * 4u));
        float angles_at1 = asfloat(angles.Load((v1 * 64u + v2) * 4u));
        uint v3 = params.q_at + t_group;
        precise float value = mad(x_at, angles_at, -(x_at1 * angles_at1));
        q_y.Store(((v3 * 14u + q_h_group) * 64u + lane) * 4u, asuint(value));
        precise float value1 = mad(x_at1, angles_at, x_at * angles_at1);
        q_y.Store(((v3 * 14u + q_h_group) * 64u + v2) * 4u, asuint(value1));
    } else if (group.x < end1) {
        uint k_h_group = (group.x - end0) % 2u;
        uint t_group = (group.x - end0) / 2u;
        uint v = params.k_from + k_h_group;
        float x_at = asfloat(x.Load(((t_group * 18u + v) * 64u + lane) * 4u));
        uint v1 = params.pos + t_group;
        float angles_at = asfloat(angles.Load((v1 * 64u + lane) * 4u));
        uint v2 = lane + 32u;
        float x_at1 = asfloat(x.Load(((t_group * 18u + v) * 64u + v2) * 4u));
        float angles_at1 = asfloat(angles.Load((v1 * 64u + v2) * 4u));
        uint v3 = params.k_at + t_group;
        precise float value = mad(x_at, angles_at, -(x_at1 * angles_at1));
        k_y.Store(((v3 * 2u + k_h_group) * 64u + lane) * 4u, asuint(value));
        precise float value1 = mad(x_at1, angles_at, x_at * angles_at1);
        k_y.Store(((v3 * 2u + k_h_group) * 64u + v2) * 4u, asuint(value1));
    } else if (group.x < end2) {
        uint v_d_group = (group.x - end1) % 2u;
        uint v_g_group = (group.x - end1) / 2u % 2u;
        uint t_group = (group.x - end1) / 2u / 2u;
        uint d = v_d_group * 32u + lane;
        float x_at = asfloat(x.Load(((t_group * 18u + params.v_from + v_g_group) * 64u + d) * 4u));
        uint v = params.pos + t_group;
        v_cache.Store(((v * 2u + v_g_group) * 64u + d) * 4u, asuint(x_at));
    }
}
