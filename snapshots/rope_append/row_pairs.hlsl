// kernel rope_append, shape D = 64, P = 2048, S = 18, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule row_pairs, target webgpu-subgroups
// schedule row_pairs for rope_append {
//     workgroup 256;
//     t: grid;
//     q.h: serial, lanes(8);
//     q.p: serial, lanes(32);
//     k.h: serial, lanes(16);
//     k.p: serial, lanes(16), unroll(2);
//     v.g: serial, lanes(8);
//     v.d: serial, lanes(32), unroll(2);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 18
//     bytes loaded an invocation: 72
//     stores an invocation: 10
//     flop an invocation: 24
//     flop a byte: 0.21
//     rounds of all loops: 2

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

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    for (uint h = lane / 32u; h < 14u; h += 8u) {
        uint p = lane % 32u;
        uint v = params.q_from + h;
        float x_at = asfloat(x.Load(((group.x * 18u + v) * 64u + p) * 4u));
        uint v1 = params.pos + group.x;
        float angles_at = asfloat(angles.Load((v1 * 64u + p) * 4u));
        uint v2 = p + 32u;
        float x_at1 = asfloat(x.Load(((group.x * 18u + v) * 64u + v2) * 4u));
        float angles_at1 = asfloat(angles.Load((v1 * 64u + v2) * 4u));
        uint v3 = params.q_at + group.x;
        precise float value = mad(x_at, angles_at, -(x_at1 * angles_at1));
        q_y.Store(((v3 * 14u + h) * 64u + p) * 4u, asuint(value));
        precise float value1 = mad(x_at1, angles_at, x_at * angles_at1);
        q_y.Store(((v3 * 14u + h) * 64u + v2) * 4u, asuint(value1));
    }
    uint h1 = lane / 16u;
    if (h1 < 2u) {
        uint p = lane % 16u * 2u;
        uint v = params.k_from + h1;
        float x_at = asfloat(x.Load(((group.x * 18u + v) * 64u + p) * 4u));
        uint v1 = params.pos + group.x;
        float angles_at = asfloat(angles.Load((v1 * 64u + p) * 4u));
        uint v2 = p + 32u;
        float x_at1 = asfloat(x.Load(((group.x * 18u + v) * 64u + v2) * 4u));
        float angles_at1 = asfloat(angles.Load((v1 * 64u + v2) * 4u));
        uint v3 = params.k_at + group.x;
        float x_at2 = asfloat(x.Load(((group.x * 18u + v) * 64u + p + 1u) * 4u));
        float angles_at2 = asfloat(angles.Load((v1 * 64u + p + 1u) * 4u));
        uint v4 = p + 33u;
        float x_at3 = asfloat(x.Load(((group.x * 18u + v) * 64u + v4) * 4u));
        float angles_at3 = asfloat(angles.Load((v1 * 64u + v4) * 4u));
        precise float value = mad(x_at, angles_at, -(x_at1 * angles_at1));
        k_y.Store(((v3 * 2u + h1) * 64u + p) * 4u, asuint(value));
        precise float value1 = mad(x_at1, angles_at, x_at * angles_at1);
        k_y.Store(((v3 * 2u + h1) * 64u + v2) * 4u, asuint(value1));
        precise float value2 = mad(x_at2, angles_at2, -(x_at3 * angles_at3));
        k_y.Store(((v3 * 2u + h1) * 64u + p + 1u) * 4u, asuint(value2));
        precise float value3 = mad(x_at3, angles_at2, x_at2 * angles_at3);
        k_y.Store(((v3 * 2u + h1) * 64u + v4) * 4u, asuint(value3));
    }
    uint g = lane / 32u;
    if (g < 2u) {
        uint d = lane % 32u * 2u;
        uint v = params.v_from + g;
        float x_at = asfloat(x.Load(((group.x * 18u + v) * 64u + d) * 4u));
        uint v1 = params.pos + group.x;
        float x_at1 = asfloat(x.Load(((group.x * 18u + v) * 64u + d + 1u) * 4u));
        v_cache.Store(((v1 * 2u + g) * 64u + d) * 4u, asuint(x_at));
        v_cache.Store(((v1 * 2u + g) * 64u + d + 1u) * 4u, asuint(x_at1));
    }
}
