// kernel attention_mix, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule shared, target webgpu-subgroups
// schedule shared for attention_mix {
//     t: grid;
//     h: grid;
//     j: serial, lanes(16);
//     c: grid, lanes(16);
// }
// dispatch T * 14 * 4 workgroups of 256 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 1
//     barriers: 4
//     loads an invocation: 2 * j
//     bytes loaded an invocation: 8 * j
//     stores an invocation: 1
//     flop an invocation: 2 * j + 4
//     flop a byte: 0.25
//     rounds of all loops: ceil((pos + T) / 16)
//     rounds of j: ceil((pos + T) / 16)

struct Params {
    uint R;
    uint C;
    uint T;
    uint pos;
};

ByteAddressBuffer weights : register(t0);
ByteAddressBuffer v : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[256];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint c_group = group.x % 4u;
    uint h_group = group.x / 4u % 14u;
    uint t_group = group.x / 4u / 14u;
    uint g = h_group / 7u;
    uint c = c_group * 16u + lane % 16u;
    precise float sum = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    for (uint j = lane / 16u; j < j_end; j += 16u) {
        float weights_at = asfloat(weights.Load(((t_group * 14u + h_group) * 2048u + j) * 4u));
        float v_at = asfloat(v.Load(((j * 2u + g) * 64u + c) * 4u));
        sum = mad(weights_at, v_at, sum);
    }
    uint fold_lane = lane / 16u;
    fold[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 8u) {
        sum = sum + fold[lane + 128u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        sum = sum + fold[lane + 64u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        sum = sum + fold[lane + 16u];
    }
    if (lane < 16u) {
        y.Store(((t_group * 14u + h_group) * 64u + c) * 4u, asuint(sum));
    }
}
