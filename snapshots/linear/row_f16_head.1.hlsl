// kernel linear, shape K = 896, R = 151936, T = 1, schedule row_f16_head, target webgpu-subgroups
// schedule row_f16_head for linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(8);
//     store w: f16;
// }
// part 2 of 3: rows 74,752 to 149,503 of w
// dispatch (37376) x (2) workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 6
//     loads an invocation: 6
//     bytes loaded an invocation: 96
//     stores an invocation: 1
//     flop an invocation: 38
//     flop a byte: 0.38
//     rounds of all loops: 2

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint workgroup = group.y * 37376u + group.x;
    uint r_group = workgroup % 74752u;
    uint t_group = workgroup / 74752u;
    if (t_group < 1u) {
        uint r = r_group + 74752u;
        precise float sum = 0.0f;
        for (uint k = lane * 8u; k < 896u; k += 512u) {
            uint4 w4 = w.Load4(((r - 74752u) * 112u + k / 8u) * 16u);
            float2 pair = float2(f16tof32(w4.x), f16tof32(w4.x >> 16u));
            float4 x4 = asfloat(x.Load4((t_group * 224u + k / 4u) * 16u));
            float2 pair1 = float2(f16tof32(w4.y), f16tof32(w4.y >> 16u));
            float2 pair2 = float2(f16tof32(w4.z), f16tof32(w4.z >> 16u));
            float4 x4_1 = asfloat(x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
            float2 pair3 = float2(f16tof32(w4.w), f16tof32(w4.w >> 16u));
            sum = mad(pair.x, x4.x, sum);
            sum = mad(pair.y, x4.y, sum);
            sum = mad(pair1.x, x4.z, sum);
            sum = mad(pair1.y, x4.w, sum);
            sum = mad(pair2.x, x4_1.x, sum);
            sum = mad(pair2.y, x4_1.y, sum);
            sum = mad(pair3.x, x4_1.z, sum);
            sum = mad(pair3.y, x4_1.w, sum);
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
            y.Store((t_group * 151936u + r) * 4u, asuint(sum));
        }
    }
}
