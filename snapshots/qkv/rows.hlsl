// kernel qkv, shape D = 64, K = 896, P = 2048, R = 1152, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule rows, target webgpu-subgroups
// schedule rows for qkv {
//     t: grid;
//     q.h: grid;
//     q.p: grid, lanes(4);
//     k.h: grid;
//     k.p: grid, lanes(4);
//     v.g: grid;
//     v.d: grid, lanes(4);
//     q.i: serial, lanes(32), vector(8);
//     k.i: serial, lanes(32), vector(8);
//     v.i: serial, lanes(32), vector(8);
// }
// dispatch T * 14 * 8 + T * 2 * 8 + T * 2 * 16 workgroups of 128 invocations
// cost
//     workgroup memory: 1536 bytes
//     accumulator registers: 3
//     barriers: 5
//     loads an invocation: 36
//     bytes loaded an invocation: 528
//     stores an invocation: 2
//     flop an invocation: 252
//     flop a byte: 0.47
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

[numthreads(128, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint end0 = params.T * 112u;
    uint end1 = end0 + params.T * 16u;
    uint end2 = end1 + params.T * 32u;
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
        uint k_p_group = (group.x - end0) % 8u;
        uint k_h_group = (group.x - end0) / 8u % 2u;
        uint t_group = (group.x - end0) / 8u / 2u;
        uint p = k_p_group * 4u + lane / 32u;
        precise float s_sum0 = 0.0f;
        precise float s_sum1 = 0.0f;
        precise float s_sum2 = 0.0f;
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
        precise float k_in_norm_scale = rsqrt(s_sum2 / 896.0f + params.in_norm_eps);
        uint v = (params.k_from + k_h_group) * 64u;
        uint v1 = v + p;
        float in_b_at = asfloat(in_b.Load(v1 * 4u));
        precise float k_one = mad(s_sum0, k_in_norm_scale, in_b_at);
        uint v2 = p + 32u;
        uint v3 = v + v2;
        float in_b_at1 = asfloat(in_b.Load(v3 * 4u));
        precise float k_two = mad(s_sum1, k_in_norm_scale, in_b_at1);
        if (lane % 32u == 0u) {
            uint v4 = params.pos + t_group;
            float angles_at = asfloat(angles.Load((v4 * 64u + p) * 4u));
            float angles_at1 = asfloat(angles.Load((v4 * 64u + v2) * 4u));
            uint v5 = params.k_at + t_group;
            precise float value = mad(k_one, angles_at, -(k_two * angles_at1));
            k_y.Store(((v5 * 2u + k_h_group) * 64u + p) * 4u, asuint(value));
            precise float value1 = mad(k_two, angles_at, k_one * angles_at1);
            k_y.Store(((v5 * 2u + k_h_group) * 64u + v2) * 4u, asuint(value1));
        }
    } else if (group.x < end2) {
        uint v_d_group = (group.x - end1) % 16u;
        uint v_g_group = (group.x - end1) / 16u % 2u;
        uint t_group = (group.x - end1) / 16u / 2u;
        uint d = v_d_group * 4u + lane / 32u;
        precise float s_sum0 = 0.0f;
        precise float s_sum1 = 0.0f;
        for (uint i = lane % 32u * 8u; i < 896u; i += 256u) {
            uint v = params.v_from + v_g_group;
            uint v1 = v * 64u;
            uint v2 = v1 + d;
            float4 in_linear_w4 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u) * 16u));
            float4 in_norm_x4 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u) * 16u));
            float4 in_norm_w4 = asfloat(in_norm_w.Load4(i / 4u * 16u));
            float4 in_linear_w4_1 = asfloat(in_linear_w.Load4((v2 * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_x4_1 = asfloat(in_norm_x.Load4((t_group * 224u + i / 4u + 1u) * 16u));
            float4 in_norm_w4_1 = asfloat(in_norm_w.Load4((i / 4u + 1u) * 16u));
            s_sum0 = mad(in_linear_w4.x, in_norm_x4.x * in_norm_w4.x, s_sum0);
            s_sum1 = mad(in_norm_x4.x, in_norm_x4.x, s_sum1);
            s_sum0 = mad(in_linear_w4.y, in_norm_x4.y * in_norm_w4.y, s_sum0);
            s_sum1 = mad(in_norm_x4.y, in_norm_x4.y, s_sum1);
            s_sum0 = mad(in_linear_w4.z, in_norm_x4.z * in_norm_w4.z, s_sum0);
            s_sum1 = mad(in_norm_x4.z, in_norm_x4.z, s_sum1);
            s_sum0 = mad(in_linear_w4.w, in_norm_x4.w * in_norm_w4.w, s_sum0);
            s_sum1 = mad(in_norm_x4.w, in_norm_x4.w, s_sum1);
            s_sum0 = mad(in_linear_w4_1.x, in_norm_x4_1.x * in_norm_w4_1.x, s_sum0);
            s_sum1 = mad(in_norm_x4_1.x, in_norm_x4_1.x, s_sum1);
            s_sum0 = mad(in_linear_w4_1.y, in_norm_x4_1.y * in_norm_w4_1.y, s_sum0);
            s_sum1 = mad(in_norm_x4_1.y, in_norm_x4_1.y, s_sum1);
            s_sum0 = mad(in_linear_w4_1.z, in_norm_x4_1.z * in_norm_w4_1.z, s_sum0);
            s_sum1 = mad(in_norm_x4_1.z, in_norm_x4_1.z, s_sum1);
            s_sum0 = mad(in_linear_w4_1.w, in_norm_x4_1.w * in_norm_w4_1.w, s_sum0);
            s_sum1 = mad(in_norm_x4_1.w, in_norm_x4_1.w, s_sum1);
        }
        uint fold_lane = lane % 32u;
        fold_sum0[lane] = s_sum0;
        fold_sum1[lane] = s_sum1;
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 16u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1[lane + 16u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 8u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1[lane + 8u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 4u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1[lane + 4u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 2u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1[lane + 2u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 1u) {
            s_sum0 = s_sum0 + fold_sum0[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1[lane + 1u];
        }
        precise float v_in_norm_scale = rsqrt(s_sum1 / 896.0f + params.in_norm_eps);
        if (lane % 32u == 0u) {
            uint v = (params.v_from + v_g_group) * 64u + d;
            float in_b_at = asfloat(in_b.Load(v * 4u));
            uint v1 = params.pos + t_group;
            precise float value = mad(s_sum0, v_in_norm_scale, in_b_at);
            v_cache.Store(((v1 * 2u + v_g_group) * 64u + d) * 4u, asuint(value));
        }
    }
}
