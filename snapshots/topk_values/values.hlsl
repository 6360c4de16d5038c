// kernel topk_values, shape C = 64, F = 64, N = 2374, T <= 64, V = 151936, schedule values, target webgpu-subgroups
// schedule values for topk_values {
//     workgroup 64;
//     t: grid;
//     f: grid;
//     n: serial, lanes(64);
//     c: serial, lanes(64);
// }
// dispatch T * 64 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 7
//     loads an invocation: 39
//     bytes loaded an invocation: 156
//     stores an invocation: 2
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 38

struct Params {
    uint T;
    uint limit;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer rank : register(t1);
RWByteAddressBuffer value : register(u0);
RWByteAddressBuffer id : register(u1);
ConstantBuffer<Params> params : register(b0);
groupshared uint fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint f_group = group.x % 64u;
    uint t_group = group.x / 64u;
    uint found = 0xffffffffu;
    for (uint n = lane; n < 2374u; n += 64u) {
        float rank_at = asfloat(rank.Load((t_group * 2376u + n) * 4u));
        precise uint index = rank_at == float(f_group) ? n : 0xffffffffu;
        found = min(found, index);
    }
    fold[lane] = found;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        uint index_new = fold[lane + 32u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        uint index_new = fold[lane + 16u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        uint index_new = fold[lane + 8u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        uint index_new = fold[lane + 4u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        uint index_new = fold[lane + 2u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        uint index_new = fold[lane + 1u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    GroupMemoryBarrierWithGroupSync();
    found = fold[0];
    uint chunk = min(found, 2373u);
    uint at = chunk * 64u + lane;
    float x_at = asfloat(x.Load((t_group * 151936u + at) * 4u));
    value.Store(((t_group * 64u + f_group) * 64u + lane) * 4u, asuint(at < min(params.limit, 151936u) ? x_at : -3.4028235e38f));
    id.Store(((t_group * 64u + f_group) * 64u + lane) * 4u, at);
}
