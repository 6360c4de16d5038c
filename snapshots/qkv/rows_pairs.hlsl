// kernel qkv, shape D = 64, K = 896, P = 2048, R = 1152, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule rows_pairs, target webgpu-subgroups
// schedule rows_pairs for qkv {
//     t: grid;
//     q.h: grid;
//     q.p: grid, lanes(4);
//     k.h: grid;
//     k.p: grid, lanes(4), unroll(2);
//     v.g: grid;
//     v.d: grid, lanes(4), unroll(2);
//     q.i: serial, lanes(32), vector(8);
//     k.i: serial, lanes(32), vector(8);
//     v.i: serial, lanes(32), vector(8);
// }
// dispatch T * 14 * 8 + T * 2 * 4 + T * 2 * 8 workgroups of 128 invocations
// cost
//     workgroup memory: 4608 bytes
//     accumulator registers: 6
//     barriers: 5
//     loads an invocation: 56
//     bytes loaded an invocation: 800
//     stores an invocation: 4
//     flop an invocation: 440
//     flop a byte: 0.54
//     rounds of all loops: 4

struct Params {
    uint T;
    uint pos;
    uint q_from;
    uint q_at;
    float in_norm_eps;
    uint k_from;
    uint k_at;
    uint v_from;
};

ByteAddressBuffer angles : register(t0);
ByteAddressBuffer in_b : register(t1);
ByteAddressBuffer in_linear_w : register(t2);
ByteAddressBuffer in_norm_x : register(t3);
ByteAddressBuffer in_norm_w : register(t4);
RWByteAddressBuffer q_y : register(u0);
RWByteAddressBuffer k_y : register(u1);
RWByteAddressBuffer v_cache : register(u2);
ConstantBuffer<Params> params : register(b0);
groupshared float fold_sum0[128];
groupshared float fold_sum1[128];
groupshared float fold_sum2[128];
groupshared float fold_sum0_1[256];
groupshared float fold_sum1_1[256];
groupshared float fold_sum2_1[256];

[numthreads(128, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint end0 = params.T * 112u;
    uint end1 = end0 + params.T * 8u;
    uint end2 = end1 + params.T * 16u;
    if (group.x < end0) {
        uint q_p_group = group.x % 8u;
        uint q_h_group = group.x / 8u % 14u;
        uint t_group = group.x / 8u / 14u;
        uint p = q_p_group * 4u + lane / 32u;
        precise float s_sum0 = 0.0f;
        precise float s_sum1 = 0.0f;
        precise float s_sum2 = 0.0f;
        for (uint i = lane % 32u * 8u; i < 896u; i += 256u) {
            uint v = params.q_from + q_h_group;
            uint v1 = v * 64u;
            uint v2 = v1 + p;
            float4 in_linear_w4 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u) * 16u));
            float4 in_norm_x4 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u) * 16u));
            float4 in_norm_w4 = asfloat(in_norm_w.Load4(i / 4u * 16u));
            precise float v3 = in_norm_x4.x * in_norm_w4.x;
            uint v4 = p + 32u;
            uint v5 = v1 + v4;
            float4 in_linear_w4_1 = asfloat(in_linear_w.Load4((v5 * 224u + i / 4u) * 16u));
            precise float v6 = in_norm_x4.y * in_norm_w4.y;
            precise float v7 = in_norm_x4.z * in_norm_w4.z;
            precise float v8 = in_norm_x4.w * in_norm_w4.w;
            float4 in_linear_w4_2 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_x4_1 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_w4_1 = asfloat(in_norm_w.Load4((i / 4u + 1u) * 16u));
            precise float v9 = in_norm_x4_1.x * in_norm_w4_1.x;
            float4 in_linear_w4_3 = asfloat(in_linear_w.Load4((v5 * 224u + i / 4u + 1u) * 16u));
            precise float v10 = in_norm_x4_1.y * in_norm_w4_1.y;
            precise float v11 = in_norm_x4_1.z * in_norm_w4_1.z;
            precise float v12 = in_norm_x4_1.w * in_norm_w4_1.w;
            s_sum0 = mad(in_linear_w4.x, v3, s_sum0);
            s_sum1 = mad(in_linear_w4_1.x, v3, s_sum1);
            s_sum2 = mad(in_norm_x4.x, in_norm_x4.x, s_sum2);
            s_sum0 = mad(in_linear_w4.y, v6, s_sum0);
            s_sum1 = mad(in_linear_w4_1.y, v6, s_sum1);
            s_sum2 = mad(in_norm_x4.y, in_norm_x4.y, s_sum2);
            s_sum0 = mad(in_linear_w4.z, v7, s_sum0);
            s_sum1 = mad(in_linear_w4_1.z, v7, s_sum1);
            s_sum2 = mad(in_norm_x4.z, in_norm_x4.z, s_sum2);
            s_sum0 = mad(in_linear_w4.w, v8, s_sum0);
            s_sum1 = mad(in_linear_w4_1.w, v8, s_sum1);
            s_sum2 = mad(in_norm_x4.w, in_norm_x4.w, s_sum2);
            s_sum0 = mad(in_linear_w4_2.x, v9, s_sum0);
            s_sum1 = mad(in_linear_w4_3.x, v9, s_sum1);
            s_sum2 = mad(in_norm_x4_1.x, in_norm_x4_1.x, s_sum2);
            s_sum0 = mad(in_linear_w4_2.y, v10, s_sum0);
            s_sum1 = mad(in_linear_w4_3.y, v10, s_sum1);
            s_sum2 = mad(in_norm_x4_1.y, in_norm_x4_1.y, s_sum2);
            s_sum0 = mad(in_linear_w4_2.z, v11, s_sum0);
            s_sum1 = mad(in_linear_w4_3.z, v11, s_sum1);
            s_sum2 = mad(in_norm_x4_1.z, in_norm_x4_1.z, s_sum2);
            s_sum0 = mad(in_linear_w4_2.w, v12, s_sum0);
            s_sum1 = mad(in_linear_w4_3.w, v12, s_sum1);
            s_sum2 = mad(in_norm_x4_1.w, in_norm_x4_1.w, s_sum2);
        }
        uint fold_lane = lane % 32u;
        fold_sum0[lane] = s_sum0;
        fold_sum1[lane] = s_sum1;
        fold_sum2[lane] = s_sum2;
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 16u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1[lane + 16u];
            s_sum2 = s_sum2 + fold_sum2[lane + 16u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 8u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1[lane + 8u];
            s_sum2 = s_sum2 + fold_sum2[lane + 8u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 4u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1[lane + 4u];
            s_sum2 = s_sum2 + fold_sum2[lane + 4u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 2u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1[lane + 2u];
            s_sum2 = s_sum2 + fold_sum2[lane + 2u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 1u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1[lane + 1u];
            s_sum2 = s_sum2 + fold_sum2[lane + 1u];
        }
        precise float q_in_norm_scale = rsqrt(s_sum2 / 896.0f + params.in_norm_eps);
        uint v = (params.q_from + q_h_group) * 64u;
        uint v1 = v + p;
        float in_b_at = asfloat(in_b.Load(v1 * 4u));
        precise float q_one = mad(s_sum0, q_in_norm_scale, in_b_at);
        uint v2 = p + 32u;
        uint v3 = v + v2;
        float in_b_at1 = asfloat(in_b.Load(v3 * 4u));
        precise float q_two = mad(s_sum1, q_in_norm_scale, in_b_at1);
        if (lane % 32u == 0u) {
            uint v4 = params.pos + t_group;
            float angles_at = asfloat(angles.Load((v4 * 64u + p) * 4u));
            float angles_at1 = asfloat(angles.Load((v4 * 64u + v2) * 4u));
            uint v5 = params.q_at + t_group;
            precise float value = mad(q_one, angles_at, -(q_two * angles_at1));
            q_y.Store(((v5 * 14u + q_h_group) * 64u + p) * 4u, asuint(value));
            precise float value1 = mad(q_two, angles_at, q_one * angles_at1);
            q_y.Store(((v5 * 14u + q_h_group) * 64u + v2) * 4u, asuint(value1));
        }
    } else if (group.x < end1) {
        uint k_p_group = (group.x - end0) % 4u;
        uint k_h_group = (group.x - end0) / 4u % 2u;
        uint t_group = (group.x - end0) / 4u / 2u;
        uint p = k_p_group * 8u + lane / 32u * 2u;
        precise float s_sum0 = 0.0f;
        precise float s_sum1 = 0.0f;
        precise float s_sum2 = 0.0f;
        precise float s_sum0_1 = 0.0f;
        precise float s_sum1_1 = 0.0f;
        precise float s_sum2_1 = 0.0f;
        for (uint i = lane % 32u * 8u; i < 896u; i += 256u) {
            uint v = params.k_from + k_h_group;
            uint v1 = v * 64u;
            uint v2 = v1 + p;
            float4 in_linear_w4 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u) * 16u));
            float4 in_norm_x4 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u) * 16u));
            float4 in_norm_w4 = asfloat(in_norm_w.Load4(i / 4u * 16u));
            precise float v3 = in_norm_x4.x * in_norm_w4.x;
            uint v4 = p + 32u;
            uint v5 = v1 + v4;
            float4 in_linear_w4_1 = asfloat(in_linear_w.Load4((v5 * 224u + i / 4u) * 16u));
            precise float v6 = in_norm_x4.x * in_norm_x4.x;
            uint v7 = v1 + p + 1u;
            float4 in_linear_w4_2 = asfloat(in_linear_w.Load4((v7 * 224u + i / 4u) * 16u));
            uint v8 = p + 33u;
            uint v9 = v1 + v8;
            float4 in_linear_w4_3 = asfloat(in_linear_w.Load4((v9 * 224u + i / 4u) * 16u));
            precise float v10 = in_norm_x4.y * in_norm_w4.y;
            precise float v11 = in_norm_x4.y * in_norm_x4.y;
            precise float v12 = in_norm_x4.z * in_norm_w4.z;
            precise float v13 = in_norm_x4.z * in_norm_x4.z;
            precise float v14 = in_norm_x4.w * in_norm_w4.w;
            precise float v15 = in_norm_x4.w * in_norm_x4.w;
            float4 in_linear_w4_4 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_x4_1 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_w4_1 = asfloat(in_norm_w.Load4((i / 4u + 1u) * 16u));
            precise float v16 = in_norm_x4_1.x * in_norm_w4_1.x;
            float4 in_linear_w4_5 = asfloat(in_linear_w.Load4((v5 * 224u + i / 4u + 1u) * 16u));
            precise float v17 = in_norm_x4_1.x * in_norm_x4_1.x;
            float4 in_linear_w4_6 = asfloat(in_linear_w.Load4((v7 * 224u + i / 4u + 1u) * 16u));
            float4 in_linear_w4_7 = asfloat(in_linear_w.Load4((v9 * 224u + i / 4u + 1u) * 16u));
            precise float v18 = in_norm_x4_1.y * in_norm_w4_1.y;
            precise float v19 = in_norm_x4_1.y * in_norm_x4_1.y;
            precise float v20 = in_norm_x4_1.z * in_norm_w4_1.z;
            precise float v21 = in_norm_x4_1.z * in_norm_x4_1.z;
            precise float v22 = in_norm_x4_1.w * in_norm_w4_1.w;
            precise float v23 = in_norm_x4_1.w * in_norm_x4_1.w;
            s_sum0 = mad(in_linear_w4.x, v3, s_sum0);
            s_sum1 = mad(in_linear_w4_1.x, v3, s_sum1);
            s_sum2 = s_sum2 + v6;
            s_sum0_1 = mad(in_linear_w4_2.x, v3, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_3.x, v3, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v6;
            s_sum0 = mad(in_linear_w4.y, v10, s_sum0);
            s_sum1 = mad(in_linear_w4_1.y, v10, s_sum1);
            s_sum2 = s_sum2 + v11;
            s_sum0_1 = mad(in_linear_w4_2.y, v10, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_3.y, v10, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v11;
            s_sum0 = mad(in_linear_w4.z, v12, s_sum0);
            s_sum1 = mad(in_linear_w4_1.z, v12, s_sum1);
            s_sum2 = s_sum2 + v13;
            s_sum0_1 = mad(in_linear_w4_2.z, v12, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_3.z, v12, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v13;
            s_sum0 = mad(in_linear_w4.w, v14, s_sum0);
            s_sum1 = mad(in_linear_w4_1.w, v14, s_sum1);
            s_sum2 = s_sum2 + v15;
            s_sum0_1 = mad(in_linear_w4_2.w, v14, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_3.w, v14, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v15;
            s_sum0 = mad(in_linear_w4_4.x, v16, s_sum0);
            s_sum1 = mad(in_linear_w4_5.x, v16, s_sum1);
            s_sum2 = s_sum2 + v17;
            s_sum0_1 = mad(in_linear_w4_6.x, v16, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_7.x, v16, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v17;
            s_sum0 = mad(in_linear_w4_4.y, v18, s_sum0);
            s_sum1 = mad(in_linear_w4_5.y, v18, s_sum1);
            s_sum2 = s_sum2 + v19;
            s_sum0_1 = mad(in_linear_w4_6.y, v18, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_7.y, v18, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v19;
            s_sum0 = mad(in_linear_w4_4.z, v20, s_sum0);
            s_sum1 = mad(in_linear_w4_5.z, v20, s_sum1);
            s_sum2 = s_sum2 + v21;
            s_sum0_1 = mad(in_linear_w4_6.z, v20, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_7.z, v20, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v21;
            s_sum0 = mad(in_linear_w4_4.w, v22, s_sum0);
            s_sum1 = mad(in_linear_w4_5.w, v22, s_sum1);
            s_sum2 = s_sum2 + v23;
            s_sum0_1 = mad(in_linear_w4_6.w, v22, s_sum0_1);
            s_sum1_1 = mad(in_linear_w4_7.w, v22, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v23;
        }
        uint fold_lane = lane % 32u;
        fold_sum0_1[lane] = s_sum0;
        fold_sum1_1[lane] = s_sum1;
        fold_sum2_1[lane] = s_sum2;
        fold_sum0_1[lane + 128u] = s_sum0_1;
        fold_sum1_1[lane + 128u] = s_sum1_1;
        fold_sum2_1[lane + 128u] = s_sum2_1;
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 16u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 16u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 16u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 144u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 144u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 144u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 8u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 8u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 8u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 136u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 136u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 136u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 4u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 4u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 4u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 132u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 132u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 132u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 2u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 2u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 2u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 130u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 130u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 130u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 1u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 1u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 1u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 129u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 129u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 129u];
        }
        precise float k_in_norm_scale = rsqrt(s_sum2 / 896.0f + params.in_norm_eps);
        uint v = params.k_from + k_h_group;
        uint v1 = v * 64u;
        uint v2 = v1 + p;
        float in_b_at = asfloat(in_b.Load(v2 * 4u));
        precise float k_one = mad(s_sum0, k_in_norm_scale, in_b_at);
        precise float k_in_norm_scale1 = rsqrt(s_sum2_1 / 896.0f + params.in_norm_eps);
        uint v3 = v1 + p + 1u;
        float in_b_at1 = asfloat(in_b.Load(v3 * 4u));
        precise float k_one1 = mad(s_sum0_1, k_in_norm_scale1, in_b_at1);
        uint v4 = p + 32u;
        uint v5 = v1 + v4;
        float in_b_at2 = asfloat(in_b.Load(v5 * 4u));
        precise float k_two = mad(s_sum1, k_in_norm_scale, in_b_at2);
        uint v6 = p + 33u;
        uint v7 = v1 + v6;
        float in_b_at3 = asfloat(in_b.Load(v7 * 4u));
        precise float k_two1 = mad(s_sum1_1, k_in_norm_scale1, in_b_at3);
        if (lane % 32u == 0u) {
            uint v8 = params.pos + t_group;
            float angles_at = asfloat(angles.Load((v8 * 64u + p) * 4u));
            float angles_at1 = asfloat(angles.Load((v8 * 64u + v4) * 4u));
            uint v9 = params.k_at + t_group;
            float angles_at2 = asfloat(angles.Load((v8 * 64u + p + 1u) * 4u));
            float angles_at3 = asfloat(angles.Load((v8 * 64u + v6) * 4u));
            precise float value = mad(k_one, angles_at, -(k_two * angles_at1));
            k_y.Store(((v9 * 2u + k_h_group) * 64u + p) * 4u, asuint(value));
            precise float value1 = mad(k_two, angles_at, k_one * angles_at1);
            k_y.Store(((v9 * 2u + k_h_group) * 64u + v4) * 4u, asuint(value1));
            precise float value2 = mad(k_one1, angles_at2, -(k_two1 * angles_at3));
            k_y.Store(((v9 * 2u + k_h_group) * 64u + p + 1u) * 4u, asuint(value2));
            precise float value3 = mad(k_two1, angles_at2, k_one1 * angles_at3);
            k_y.Store(((v9 * 2u + k_h_group) * 64u + v6) * 4u, asuint(value3));
        }
    } else if (group.x < end2) {
        uint v_d_group = (group.x - end1) % 8u;
        uint v_g_group = (group.x - end1) / 8u % 2u;
        uint t_group = (group.x - end1) / 8u / 2u;
        uint d = v_d_group * 8u + lane / 32u * 2u;
        precise float s_sum0 = 0.0f;
        precise float s_sum1 = 0.0f;
        precise float s_sum0_1 = 0.0f;
        precise float s_sum1_1 = 0.0f;
        for (uint i = lane % 32u * 8u; i < 896u; i += 256u) {
            uint v = params.v_from + v_g_group;
            uint v1 = v * 64u;
            uint v2 = v1 + d;
            float4 in_linear_w4 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u) * 16u));
            float4 in_norm_x4 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u) * 16u));
            float4 in_norm_w4 = asfloat(in_norm_w.Load4(i / 4u * 16u));
            precise float v3 = in_norm_x4.x * in_norm_w4.x;
            precise float v4 = in_norm_x4.x * in_norm_x4.x;
            uint v5 = v1 + d + 1u;
            float4 in_linear_w4_1 = asfloat(in_linear_w.Load4((v5 * 224u + i / 4u) * 16u));
            precise float v6 = in_norm_x4.y * in_norm_w4.y;
            precise float v7 = in_norm_x4.y * in_norm_x4.y;
            precise float v8 = in_norm_x4.z * in_norm_w4.z;
            precise float v9 = in_norm_x4.z * in_norm_x4.z;
            precise float v10 = in_norm_x4.w * in_norm_w4.w;
            precise float v11 = in_norm_x4.w * in_norm_x4.w;
            float4 in_linear_w4_2 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_x4_1 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_w4_1 = asfloat(in_norm_w.Load4((i / 4u + 1u) * 16u));
            precise float v12 = in_norm_x4_1.x * in_norm_w4_1.x;
            precise float v13 = in_norm_x4_1.x * in_norm_x4_1.x;
            float4 in_linear_w4_3 = asfloat(in_linear_w.Load4((v5 * 224u + i / 4u + 1u) * 16u));
            precise float v14 = in_norm_x4_1.y * in_norm_w4_1.y;
            precise float v15 = in_norm_x4_1.y * in_norm_x4_1.y;
            precise float v16 = in_norm_x4_1.z * in_norm_w4_1.z;
            precise float v17 = in_norm_x4_1.z * in_norm_x4_1.z;
            precise float v18 = in_norm_x4_1.w * in_norm_w4_1.w;
            precise float v19 = in_norm_x4_1.w * in_norm_x4_1.w;
            s_sum0 = mad(in_linear_w4.x, v3, s_sum0);
            s_sum1 = s_sum1 + v4;
            s_sum0_1 = mad(in_linear_w4_1.x, v3, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v4;
            s_sum0 = mad(in_linear_w4.y, v6, s_sum0);
            s_sum1 = s_sum1 + v7;
            s_sum0_1 = mad(in_linear_w4_1.y, v6, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v7;
            s_sum0 = mad(in_linear_w4.z, v8, s_sum0);
            s_sum1 = s_sum1 + v9;
            s_sum0_1 = mad(in_linear_w4_1.z, v8, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v9;
            s_sum0 = mad(in_linear_w4.w, v10, s_sum0);
            s_sum1 = s_sum1 + v11;
            s_sum0_1 = mad(in_linear_w4_1.w, v10, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v11;
            s_sum0 = mad(in_linear_w4_2.x, v12, s_sum0);
            s_sum1 = s_sum1 + v13;
            s_sum0_1 = mad(in_linear_w4_3.x, v12, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v13;
            s_sum0 = mad(in_linear_w4_2.y, v14, s_sum0);
            s_sum1 = s_sum1 + v15;
            s_sum0_1 = mad(in_linear_w4_3.y, v14, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v15;
            s_sum0 = mad(in_linear_w4_2.z, v16, s_sum0);
            s_sum1 = s_sum1 + v17;
            s_sum0_1 = mad(in_linear_w4_3.z, v16, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v17;
            s_sum0 = mad(in_linear_w4_2.w, v18, s_sum0);
            s_sum1 = s_sum1 + v19;
            s_sum0_1 = mad(in_linear_w4_3.w, v18, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v19;
        }
        uint fold_lane = lane % 32u;
        fold_sum0_1[lane] = s_sum0;
        fold_sum1_1[lane] = s_sum1;
        fold_sum0_1[lane + 128u] = s_sum0_1;
        fold_sum1_1[lane + 128u] = s_sum1_1;
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 16u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 16u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 144u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 144u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 8u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 8u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 136u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 136u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 4u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 4u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 132u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 132u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 2u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 2u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 130u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 130u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 1u) {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 1u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 129u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 129u];
        }
        precise float v_in_norm_scale = rsqrt(s_sum1 / 896.0f + params.in_norm_eps);
        precise float v_in_norm_scale1 = rsqrt(s_sum1_1 / 896.0f + params.in_norm_eps);
        if (lane % 32u == 0u) {
            uint v = params.v_from + v_g_group;
            uint v1 = v * 64u;
            uint v2 = v1 + d;
            float in_b_at = asfloat(in_b.Load(v2 * 4u));
            uint v3 = params.pos + t_group;
            uint v4 = v1 + d + 1u;
            float in_b_at1 = asfloat(in_b.Load(v4 * 4u));
            precise float value = mad(s_sum0, v_in_norm_scale, in_b_at);
            v_cache.Store(((v3 * 2u + v_g_group) * 64u + d) * 4u, asuint(value));
            precise float value1 = mad(s_sum0_1, v_in_norm_scale1, in_b_at1);
            v_cache.Store(((v3 * 2u + v_g_group) * 64u + d + 1u) * 4u, asuint(value1));
        }
    }
}
