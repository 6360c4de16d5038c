// kernel norm_gated, shape D = 4864, K = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for norm_gated {
//     t: grid;
//     i: grid, lanes(2);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
// }
// dispatch (51904) x (ceil(T * 2432 / 51904)) workgroups of 64 invocations
// cost
//     workgroup memory: 192 bytes
//     accumulator registers: 3
//     barriers: 1
//     loads an invocation: 32
//     bytes loaded an invocation: 512
//     stores an invocation: 1
//     flop an invocation: 264
//     flop a byte: 0.51
//     rounds of all loops: 12

struct Params {
    uint T;
    float norm_eps;
};

ByteAddressBuffer gate_w : register(t0);
ByteAddressBuffer up_w : register(t1);
ByteAddressBuffer norm_x : register(t2);
ByteAddressBuffer norm_w : register(t3);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold_sum0[16];
groupshared float fold_sum1[16];
groupshared float fold_sum2[16];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint workgroup = group.y * 51904u + group.x;
    uint i_group = workgroup % 2432u;
    uint t_group = workgroup / 2432u;
    if (t_group < params.T) {
        uint i = i_group * 2u + lane / 32u;
        precise float s_sum0 = 0.0f;
        precise float s_sum1 = 0.0f;
        precise float s_sum2 = 0.0f;
        for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
            float4 gate_w4 = asfloat(gate_w.Load4((i * 224u + k / 4u) * 16u));
            float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + k / 4u) * 16u));
            float4 norm_w4 = asfloat(norm_w.Load4(k / 4u * 16u));
            precise float v = norm_x4.x * norm_w4.x;
            float4 up_w4 = asfloat(up_w.Load4((i * 224u + k / 4u) * 16u));
            precise float v1 = norm_x4.y * norm_w4.y;
            precise float v2 = norm_x4.z * norm_w4.z;
            precise float v3 = norm_x4.w * norm_w4.w;
            float4 gate_w4_1 = asfloat(gate_w.Load4((i * 224u + k / 4u + 1u) * 16u));
            float4 norm_x4_1 = asfloat(norm_x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
            float4 norm_w4_1 = asfloat(norm_w.Load4((k / 4u + 1u) * 16u));
            precise float v4 = norm_x4_1.x * norm_w4_1.x;
            float4 up_w4_1 = asfloat(up_w.Load4((i * 224u + k / 4u + 1u) * 16u));
            precise float v5 = norm_x4_1.y * norm_w4_1.y;
            precise float v6 = norm_x4_1.z * norm_w4_1.z;
            precise float v7 = norm_x4_1.w * norm_w4_1.w;
            s_sum0 = mad(gate_w4.x, v, s_sum0);
            s_sum1 = mad(up_w4.x, v, s_sum1);
            s_sum2 = mad(norm_x4.x, norm_x4.x, s_sum2);
            s_sum0 = mad(gate_w4.y, v1, s_sum0);
            s_sum1 = mad(up_w4.y, v1, s_sum1);
            s_sum2 = mad(norm_x4.y, norm_x4.y, s_sum2);
            s_sum0 = mad(gate_w4.z, v2, s_sum0);
            s_sum1 = mad(up_w4.z, v2, s_sum1);
            s_sum2 = mad(norm_x4.z, norm_x4.z, s_sum2);
            s_sum0 = mad(gate_w4.w, v3, s_sum0);
            s_sum1 = mad(up_w4.w, v3, s_sum1);
            s_sum2 = mad(norm_x4.w, norm_x4.w, s_sum2);
            s_sum0 = mad(gate_w4_1.x, v4, s_sum0);
            s_sum1 = mad(up_w4_1.x, v4, s_sum1);
            s_sum2 = mad(norm_x4_1.x, norm_x4_1.x, s_sum2);
            s_sum0 = mad(gate_w4_1.y, v5, s_sum0);
            s_sum1 = mad(up_w4_1.y, v5, s_sum1);
            s_sum2 = mad(norm_x4_1.y, norm_x4_1.y, s_sum2);
            s_sum0 = mad(gate_w4_1.z, v6, s_sum0);
            s_sum1 = mad(up_w4_1.z, v6, s_sum1);
            s_sum2 = mad(norm_x4_1.z, norm_x4_1.z, s_sum2);
            s_sum0 = mad(gate_w4_1.w, v7, s_sum0);
            s_sum1 = mad(up_w4_1.w, v7, s_sum1);
            s_sum2 = mad(norm_x4_1.w, norm_x4_1.w, s_sum2);
        }
        uint near = min(WaveGetLaneCount(), 32u);
        float sum0_near = WaveReadLaneAt(s_sum0, WaveGetLaneIndex() ^ 1u);
        float sum1_near = WaveReadLaneAt(s_sum1, WaveGetLaneIndex() ^ 1u);
        float sum2_near = WaveReadLaneAt(s_sum2, WaveGetLaneIndex() ^ 1u);
        s_sum0 = s_sum0 + sum0_near;
        s_sum1 = s_sum1 + sum1_near;
        s_sum2 = s_sum2 + sum2_near;
        float sum0_near1 = WaveReadLaneAt(s_sum0, WaveGetLaneIndex() ^ 2u);
        float sum1_near1 = WaveReadLaneAt(s_sum1, WaveGetLaneIndex() ^ 2u);
        float sum2_near1 = WaveReadLaneAt(s_sum2, WaveGetLaneIndex() ^ 2u);
        s_sum0 = s_sum0 + sum0_near1;
        s_sum1 = s_sum1 + sum1_near1;
        s_sum2 = s_sum2 + sum2_near1;
        if (4u < near) {
            float sum0_near2 = WaveReadLaneAt(s_sum0, WaveGetLaneIndex() ^ 4u);
            float sum1_near2 = WaveReadLaneAt(s_sum1, WaveGetLaneIndex() ^ 4u);
            float sum2_near2 = WaveReadLaneAt(s_sum2, WaveGetLaneIndex() ^ 4u);
            s_sum0 = s_sum0 + sum0_near2;
            s_sum1 = s_sum1 + sum1_near2;
            s_sum2 = s_sum2 + sum2_near2;
        }
        if (8u < near) {
            float sum0_near2 = WaveReadLaneAt(s_sum0, WaveGetLaneIndex() ^ 8u);
            float sum1_near2 = WaveReadLaneAt(s_sum1, WaveGetLaneIndex() ^ 8u);
            float sum2_near2 = WaveReadLaneAt(s_sum2, WaveGetLaneIndex() ^ 8u);
            s_sum0 = s_sum0 + sum0_near2;
            s_sum1 = s_sum1 + sum1_near2;
            s_sum2 = s_sum2 + sum2_near2;
        }
        if (16u < near) {
            float sum0_near2 = WaveReadLaneAt(s_sum0, WaveGetLaneIndex() ^ 16u);
            float sum1_near2 = WaveReadLaneAt(s_sum1, WaveGetLaneIndex() ^ 16u);
            float sum2_near2 = WaveReadLaneAt(s_sum2, WaveGetLaneIndex() ^ 16u);
            s_sum0 = s_sum0 + sum0_near2;
            s_sum1 = s_sum1 + sum1_near2;
            s_sum2 = s_sum2 + sum2_near2;
        }
        uint near_group = lane / near;
        if (lane % near == 0u) {
            fold_sum0[near_group] = s_sum0;
            fold_sum1[near_group] = s_sum1;
            fold_sum2[near_group] = s_sum2;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_groups = 32u / near;
        uint first = lane / 32u * near_groups;
        s_sum0 = 0.0f;
        s_sum1 = 0.0f;
        s_sum2 = 0.0f;
        for (uint other = 0u; other < near_groups; other++) {
            s_sum0 = s_sum0 + fold_sum0[first + other];
            s_sum1 = s_sum1 + fold_sum1[first + other];
            s_sum2 = s_sum2 + fold_sum2[first + other];
        }
        precise float norm_scale = rsqrt(s_sum2 / 896.0f + params.norm_eps);
        precise float silu_v = s_sum0 * norm_scale;
        precise float silu_e = exp(-abs(silu_v));
        precise float silu_s = (silu_v < 0.0f ? silu_e : 1.0f) / (1.0f + silu_e);
        if (lane % 32u == 0u) {
            precise float value = silu_v * silu_s * (s_sum1 * norm_scale);
            y.Store((t_group * 4864u + i) * 4u, asuint(value));
        }
    }
}
