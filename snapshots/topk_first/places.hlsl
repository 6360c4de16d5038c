// kernel topk_first, shape K = 64, M = 4096, T <= 64, schedule places, target webgpu-subgroups
// schedule places for topk_first {
//     workgroup 64;
//     t: grid;
//     k: grid;
//     m: serial, unroll(4), lanes(64);
// }
// dispatch T * 64 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 6
//     loads an invocation: 66
//     bytes loaded an invocation: 264
//     stores an invocation: 2
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 16

struct Params {
    uint T;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer id : register(t1);
ByteAddressBuffer rank : register(t2);
RWByteAddressBuffer value : register(u0);
RWByteAddressBuffer token : register(u1);
ConstantBuffer<Params> params : register(b0);
groupshared uint fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint k_group = group.x % 64u;
    uint t_group = group.x / 64u;
    uint found = 0xffffffffu;
    for (uint m = lane; m < 4096u; m += 256u) {
        float rank_at = asfloat(rank.Load((t_group * 4096u + m) * 4u));
        float v = float(k_group);
        precise uint index = rank_at == v ? m : 0xffffffffu;
        float rank_at1 = asfloat(rank.Load((t_group * 4096u + m + 64u) * 4u));
        precise uint index1 = rank_at1 == v ? m + 64u : 0xffffffffu;
        float rank_at2 = asfloat(rank.Load((t_group * 4096u + m + 128u) * 4u));
        precise uint index2 = rank_at2 == v ? m + 128u : 0xffffffffu;
        float rank_at3 = asfloat(rank.Load((t_group * 4096u + m + 192u) * 4u));
        precise uint index3 = rank_at3 == v ? m + 192u : 0xffffffffu;
        found = min(found, index);
        found = min(found, index1);
        found = min(found, index2);
        found = min(found, index3);
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
    }
    uint at = min(found, 4095u);
    if (lane == 0u) {
        bool v = found < 4096u;
        float x_at = asfloat(x.Load((t_group * 4096u + at) * 4u));
        uint id_at = id.Load((t_group * 4096u + at) * 4u);
        value.Store((t_group * 64u + k_group) * 4u, asuint(v ? x_at : -3.4028235e38f));
        token.Store((t_group * 64u + k_group) * 4u, v ? id_at : 0xffffffffu);
    }
}
