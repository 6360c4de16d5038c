// kernel topk_rank, shape M = 4096, T <= 64, schedule ranks, target webgpu-subgroups
// schedule ranks for topk_rank {
//     workgroup 256;
//     t: grid;
//     m: grid, lanes(16);
//     j: serial, unroll(4), lanes(16);
// }
// dispatch T * 256 workgroups of 256 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 1
//     barriers: 4
//     loads an invocation: 640
//     bytes loaded an invocation: 2560
//     stores an invocation: 1
//     flop an invocation: 260
//     flop a byte: 0.10
//     rounds of all loops: 64

struct Params {
    uint T;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer id : register(t1);
RWByteAddressBuffer rank : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[256];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint m_group = group.x % 256u;
    uint t_group = group.x / 256u;
    uint m = m_group * 16u + lane / 16u;
    precise float sum = 0.0f;
    for (uint j = lane % 16u; j < 4096u; j += 64u) {
        float x_at = asfloat(x.Load((t_group * 4096u + j) * 4u));
        float x_at1 = asfloat(x.Load((t_group * 4096u + m) * 4u));
        uint id_at = id.Load((t_group * 4096u + j) * 4u);
        uint id_at1 = id.Load((t_group * 4096u + m) * 4u);
        float x_at2 = asfloat(x.Load((t_group * 4096u + j + 16u) * 4u));
        uint id_at2 = id.Load((t_group * 4096u + j + 16u) * 4u);
        float x_at3 = asfloat(x.Load((t_group * 4096u + j + 32u) * 4u));
        uint id_at3 = id.Load((t_group * 4096u + j + 32u) * 4u);
        float x_at4 = asfloat(x.Load((t_group * 4096u + j + 48u) * 4u));
        uint id_at4 = id.Load((t_group * 4096u + j + 48u) * 4u);
        sum = sum + (x_at > x_at1 || (x_at == x_at1 && id_at < id_at1) ? 1.0f : 0.0f);
        sum = sum + (x_at2 > x_at1 || (x_at2 == x_at1 && id_at2 < id_at1) ? 1.0f : 0.0f);
        sum = sum + (x_at3 > x_at1 || (x_at3 == x_at1 && id_at3 < id_at1) ? 1.0f : 0.0f);
        sum = sum + (x_at4 > x_at1 || (x_at4 == x_at1 && id_at4 < id_at1) ? 1.0f : 0.0f);
    }
    uint fold_lane = lane % 16u;
    fold[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 8u) {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        sum = sum + fold[lane + 1u];
    }
    if (lane % 16u == 0u) {
        rank.Store((t_group * 4096u + m) * 4u, asuint(sum));
    }
}
