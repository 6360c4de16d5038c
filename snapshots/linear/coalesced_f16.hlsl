// kernel linear, shape K = 896, R = 896, T <= 64, schedule coalesced_f16, target webgpu-subgroups
// schedule coalesced_f16 for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     store w: f16;
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 4
//     barriers: 5
//     loads an invocation: 24
//     bytes loaded an invocation: 384
//     stores an invocation: 4
//     flop an invocation: 276
//     flop a byte: 0.69
//     rounds of all loops: 4

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[256];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 112u;
    uint t_group = group.x / 112u;
    uint r = r_group * 8u + lane / 32u * 4u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
        uint4 w4 = w.Load4((r * 112u + k / 8u) * 16u);
        float2 pair = float2(f16tof32(w4.x), f16tof32(w4.x >> 16u));
        float4 x4 = asfloat(x.Load4((t_group * 224u + k / 4u) * 16u));
        uint4 w4_1 = w.Load4(((r + 1u) * 112u + k / 8u) * 16u);
        float2 pair1 = float2(f16tof32(w4_1.x), f16tof32(w4_1.x >> 16u));
        uint4 w4_2 = w.Load4(((r + 2u) * 112u + k / 8u) * 16u);
        float2 pair2 = float2(f16tof32(w4_2.x), f16tof32(w4_2.x >> 16u));
        uint4 w4_3 = w.Load4(((r + 3u) * 112u + k / 8u) * 16u);
        float2 pair3 = float2(f16tof32(w4_3.x), f16tof32(w4_3.x >> 16u));
        float2 pair4 = float2(f16tof32(w4.y), f16tof32(w4.y >> 16u));
        float2 pair5 = float2(f16tof32(w4_1.y), f16tof32(w4_1.y >> 16u));
        float2 pair6 = float2(f16tof32(w4_2.y), f16tof32(w4_2.y >> 16u));
        float2 pair7 = float2(f16tof32(w4_3.y), f16tof32(w4_3.y >> 16u));
        float2 pair8 = float2(f16tof32(w4.z), f16tof32(w4.z >> 16u));
        float4 x4_1 = asfloat(x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        float2 pair9 = float2(f16tof32(w4_1.z), f16tof32(w4_1.z >> 16u));
        float2 pair10 = float2(f16tof32(w4_2.z), f16tof32(w4_2.z >> 16u));
        float2 pair11 = float2(f16tof32(w4_3.z), f16tof32(w4_3.z >> 16u));
        float2 pair12 = float2(f16tof32(w4.w), f16tof32(w4.w >> 16u));
        float2 pair13 = float2(f16tof32(w4_1.w), f16tof32(w4_1.w >> 16u));
        float2 pair14 = float2(f16tof32(w4_2.w), f16tof32(w4_2.w >> 16u));
        float2 pair15 = float2(f16tof32(w4_3.w), f16tof32(w4_3.w >> 16u));
        sum = mad(pair.x, x4.x, sum);
        sum1 = mad(pair1.x, x4.x, sum1);
        sum2 = mad(pair2.x, x4.x, sum2);
        sum3 = mad(pair3.x, x4.x, sum3);
        sum = mad(pair.y, x4.y, sum);
        sum1 = mad(pair1.y, x4.y, sum1);
        sum2 = mad(pair2.y, x4.y, sum2);
        sum3 = mad(pair3.y, x4.y, sum3);
        sum = mad(pair4.x, x4.z, sum);
        sum1 = mad(pair5.x, x4.z, sum1);
        sum2 = mad(pair6.x, x4.z, sum2);
        sum3 = mad(pair7.x, x4.z, sum3);
        sum = mad(pair4.y, x4.w, sum);
        sum1 = mad(pair5.y, x4.w, sum1);
        sum2 = mad(pair6.y, x4.w, sum2);
        sum3 = mad(pair7.y, x4.w, sum3);
        sum = mad(pair8.x, x4_1.x, sum);
        sum1 = mad(pair9.x, x4_1.x, sum1);
        sum2 = mad(pair10.x, x4_1.x, sum2);
        sum3 = mad(pair11.x, x4_1.x, sum3);
        sum = mad(pair8.y, x4_1.y, sum);
        sum1 = mad(pair9.y, x4_1.y, sum1);
        sum2 = mad(pair10.y, x4_1.y, sum2);
        sum3 = mad(pair11.y, x4_1.y, sum3);
        sum = mad(pair12.x, x4_1.z, sum);
        sum1 = mad(pair13.x, x4_1.z, sum1);
        sum2 = mad(pair14.x, x4_1.z, sum2);
        sum3 = mad(pair15.x, x4_1.z, sum3);
        sum = mad(pair12.y, x4_1.w, sum);
        sum1 = mad(pair13.y, x4_1.w, sum1);
        sum2 = mad(pair14.y, x4_1.w, sum2);
        sum3 = mad(pair15.y, x4_1.w, sum3);
    }
    uint fold_lane = lane % 32u;
    fold[lane] = sum;
    fold[lane + 64u] = sum1;
    fold[lane + 128u] = sum2;
    fold[lane + 192u] = sum3;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 16u) {
        sum = sum + fold[lane + 16u];
        sum1 = sum1 + fold[lane + 80u];
        sum2 = sum2 + fold[lane + 144u];
        sum3 = sum3 + fold[lane + 208u];
        fold[lane] = sum;
        fold[lane + 64u] = sum1;
        fold[lane + 128u] = sum2;
        fold[lane + 192u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 8u) {
        sum = sum + fold[lane + 8u];
        sum1 = sum1 + fold[lane + 72u];
        sum2 = sum2 + fold[lane + 136u];
        sum3 = sum3 + fold[lane + 200u];
        fold[lane] = sum;
        fold[lane + 64u] = sum1;
        fold[lane + 128u] = sum2;
        fold[lane + 192u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        sum = sum + fold[lane + 4u];
        sum1 = sum1 + fold[lane + 68u];
        sum2 = sum2 + fold[lane + 132u];
        sum3 = sum3 + fold[lane + 196u];
        fold[lane] = sum;
        fold[lane + 64u] = sum1;
        fold[lane + 128u] = sum2;
        fold[lane + 192u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        sum = sum + fold[lane + 2u];
        sum1 = sum1 + fold[lane + 66u];
        sum2 = sum2 + fold[lane + 130u];
        sum3 = sum3 + fold[lane + 194u];
        fold[lane] = sum;
        fold[lane + 64u] = sum1;
        fold[lane + 128u] = sum2;
        fold[lane + 192u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        sum = sum + fold[lane + 1u];
        sum1 = sum1 + fold[lane + 65u];
        sum2 = sum2 + fold[lane + 129u];
        sum3 = sum3 + fold[lane + 193u];
    }
    if (lane % 32u == 0u) {
        y.Store((t_group * 896u + r) * 4u, asuint(sum));
        y.Store((t_group * 896u + r + 1u) * 4u, asuint(sum1));
        y.Store((t_group * 896u + r + 2u) * 4u, asuint(sum2));
        y.Store((t_group * 896u + r + 3u) * 4u, asuint(sum3));
    }
}
