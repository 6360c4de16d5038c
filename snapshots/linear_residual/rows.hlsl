// kernel linear_residual, shape D = 896, K = 4864, T <= 64, schedule rows, target webgpu-subgroups
// schedule rows for linear_residual {
//     t: grid;
//     i: grid;
//     linear.k: serial, lanes(64), vector(8);
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 6
//     loads an invocation: 41
//     bytes loaded an invocation: 644
//     stores an invocation: 1
//     flop an invocation: 167
//     flop a byte: 0.26
//     rounds of all loops: 10

struct Params {
    uint T;
};

ByteAddressBuffer linear_w : register(t0);
ByteAddressBuffer linear_x : register(t1);
RWByteAddressBuffer h : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 896u;
    uint t_group = group.x / 896u;
    precise float sum = 0.0f;
    for (uint k = lane * 8u; k < 4864u; k += 512u) {
        float4 linear_w4 = asfloat(linear_w.Load4((i_group * 1216u + k / 4u) * 16u));
        float4 linear_x4 = asfloat(linear_x.Load4((t_group * 1216u + k / 4u) * 16u));
        float4 linear_w4_1 = asfloat(linear_w.Load4((i_group * 1216u + k / 4u + 1u) * 16u));
        float4 linear_x4_1 = asfloat(linear_x.Load4((t_group * 1216u + k / 4u + 1u) * 16u));
        sum = mad(linear_w4.x, linear_x4.x, sum);
        sum = mad(linear_w4.y, linear_x4.y, sum);
        sum = mad(linear_w4.z, linear_x4.z, sum);
        sum = mad(linear_w4.w, linear_x4.w, sum);
        sum = mad(linear_w4_1.x, linear_x4_1.x, sum);
        sum = mad(linear_w4_1.y, linear_x4_1.y, sum);
        sum = mad(linear_w4_1.z, linear_x4_1.z, sum);
        sum = mad(linear_w4_1.w, linear_x4_1.w, sum);
    }
    fold[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        sum = sum + fold[lane + 16u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        sum = sum + fold[lane + 1u];
    }
    if (lane == 0u) {
        float h_at = asfloat(h.Load((t_group * 896u + i_group) * 4u));
        precise float value = h_at + sum;
        h.Store((t_group * 896u + i_group) * 4u, asuint(value));
    }
}
