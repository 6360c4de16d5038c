// kernel head_parts, shape K = 896, T <= 64, V = 32768, v.Parts = 512, schedule wide, target webgpu-subgroups
// schedule wide for head_parts {
//     workgroup 256;
//     t: grid;
//     v.part: grid;
//     v: serial, unroll(2), lanes(8);
//     head.k: serial, lanes(32), vector(8);
//     head.norm.j: serial, lanes(256), vector(4);
//     fold head.k: subgroup;
//     fold head.norm.j: subgroup;
// }
// dispatch T * 512 workgroups of 256 invocations
// cost
//     workgroup memory: 2816 bytes
//     accumulator registers: 5
//     barriers: 12
//     loads an invocation: 129
//     bytes loaded an invocation: 2064
//     stores an invocation: 2
//     flop an invocation: 925
//     flop a byte: 0.45
//     rounds of all loops: 116

struct Params {
    uint T;
    uint limit;
    float head_norm_eps;
};

ByteAddressBuffer head_w : register(t0);
ByteAddressBuffer head_norm_x : register(t1);
ByteAddressBuffer head_norm_w : register(t2);
RWByteAddressBuffer v_max : register(u0);
RWByteAddressBuffer v_index : register(u1);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];
groupshared float fold1[128];
groupshared float fold_max[256];
groupshared uint fold_index[256];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint v_part_group = group.x % 512u;
    uint t_group = group.x / 512u;
    precise float s = 0.0f;
    uint j = lane * 4u;
    if (j < 896u) {
        float4 head_norm_x4 = asfloat(head_norm_x.Load4((t_group * 224u + j / 4u) * 16u));
        s = mad(head_norm_x4.x, head_norm_x4.x, s);
        s = mad(head_norm_x4.y, head_norm_x4.y, s);
        s = mad(head_norm_x4.z, head_norm_x4.z, s);
        s = mad(head_norm_x4.w, head_norm_x4.w, s);
    }
    uint near = WaveGetLaneCount();
    float sum_near = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 1u);
    s = s + sum_near;
    float sum_near1 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 2u);
    s = s + sum_near1;
    if (4u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 4u);
        s = s + sum_near2;
    }
    if (8u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 8u);
        s = s + sum_near2;
    }
    if (16u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 16u);
        s = s + sum_near2;
    }
    if (32u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 32u);
        s = s + sum_near2;
    }
    if (64u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 64u);
        s = s + sum_near2;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 256u / near;
    s = 0.0f;
    for (uint other = 0u; other < near_groups; other++) {
        s = s + fold[other];
    }
    precise float head_norm_scale = rsqrt(s / 896.0f + params.head_norm_eps);
    precise float argmax_max = -3.4028235e38f;
    uint argmax_index = 0xfffffffeu;
    uint v = v_part_group * 64u;
    uint v_end = min(max(min(params.limit, 32768u), v) - v, 64u);
    uint v_step_count = (v_end + 15u) / 16u;
    for (uint v_step = 0u; v_step < v_step_count; v_step++) {
        uint v1 = v_step * 16u + lane / 32u;
        precise float sum = 0.0f;
        precise float sum1 = 0.0f;
        for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
            uint v_in = min(v1, v_end - 1u);
            uint v2 = v + v_in;
            float4 head_w4 = asfloat(head_w.Load4((v2 * 224u + k / 4u) * 16u));
            float4 head_norm_x4 = asfloat(head_norm_x.Load4((t_group * 224u + k / 4u) * 16u));
            precise float v3 = head_norm_x4.x * head_norm_scale;
            float4 head_norm_w4 = asfloat(head_norm_w.Load4(k / 4u * 16u));
            precise float v4 = v3 * head_norm_w4.x;
            uint v_in1 = min(v1 + 8u, v_end - 1u);
            uint v5 = v + v_in1;
            float4 head_w4_1 = asfloat(head_w.Load4((v5 * 224u + k / 4u) * 16u));
            precise float v6 = head_norm_x4.y * head_norm_scale;
            precise float v7 = v6 * head_norm_w4.y;
            precise float v8 = head_norm_x4.z * head_norm_scale;
            precise float v9 = v8 * head_norm_w4.z;
            precise float v10 = head_norm_x4.w * head_norm_scale;
            precise float v11 = v10 * head_norm_w4.w;
            float4 head_w4_2 = asfloat(head_w.Load4((v2 * 224u + k / 4u + 1u) * 16u));
            float4 head_norm_x4_1 = asfloat(head_norm_x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
            precise float v12 = head_norm_x4_1.x * head_norm_scale;
            float4 head_norm_w4_1 = asfloat(head_norm_w.Load4((k / 4u + 1u) * 16u));
            precise float v13 = v12 * head_norm_w4_1.x;
            float4 head_w4_3 = asfloat(head_w.Load4((v5 * 224u + k / 4u + 1u) * 16u));
            precise float v14 = head_norm_x4_1.y * head_norm_scale;
            precise float v15 = v14 * head_norm_w4_1.y;
            precise float v16 = head_norm_x4_1.z * head_norm_scale;
            precise float v17 = v16 * head_norm_w4_1.z;
            precise float v18 = head_norm_x4_1.w * head_norm_scale;
            precise float v19 = v18 * head_norm_w4_1.w;
            sum = mad(head_w4.x, v4, sum);
            sum1 = mad(head_w4_1.x, v4, sum1);
            sum = mad(head_w4.y, v7, sum);
            sum1 = mad(head_w4_1.y, v7, sum1);
            sum = mad(head_w4.z, v9, sum);
            sum1 = mad(head_w4_1.z, v9, sum1);
            sum = mad(head_w4.w, v11, sum);
            sum1 = mad(head_w4_1.w, v11, sum1);
            sum = mad(head_w4_2.x, v13, sum);
            sum1 = mad(head_w4_3.x, v13, sum1);
            sum = mad(head_w4_2.y, v15, sum);
            sum1 = mad(head_w4_3.y, v15, sum1);
            sum = mad(head_w4_2.z, v17, sum);
            sum1 = mad(head_w4_3.z, v17, sum1);
            sum = mad(head_w4_2.w, v19, sum);
            sum1 = mad(head_w4_3.w, v19, sum1);
        }
        uint near1 = min(WaveGetLaneCount(), 32u);
        float sum_near2 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 1u);
        sum = sum + sum_near2;
        float sum_near3 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 1u);
        sum1 = sum1 + sum_near3;
        float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 2u);
        sum = sum + sum_near4;
        float sum_near5 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 2u);
        sum1 = sum1 + sum_near5;
        if (4u < near1) {
            float sum_near6 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 4u);
            sum = sum + sum_near6;
            float sum_near7 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 4u);
            sum1 = sum1 + sum_near7;
        }
        if (8u < near1) {
            float sum_near6 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 8u);
            sum = sum + sum_near6;
            float sum_near7 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 8u);
            sum1 = sum1 + sum_near7;
        }
        if (16u < near1) {
            float sum_near6 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 16u);
            sum = sum + sum_near6;
            float sum_near7 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 16u);
            sum1 = sum1 + sum_near7;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_group1 = lane / near1;
        if (lane % near1 == 0u) {
            fold1[near_group1] = sum;
            fold1[near_group1 + 64u] = sum1;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_groups1 = 32u / near1;
        uint first = lane / 32u * near_groups1;
        sum = 0.0f;
        sum1 = 0.0f;
        for (uint other1 = 0u; other1 < near_groups1; other1++) {
            sum = sum + fold1[first + other1];
            sum1 = sum1 + fold1[first + other1 + 64u];
        }
        bool v2 = (asuint(sum) & 0x7f800000u) == 0x7f800000u;
        uint v_in = min(v1, v_end - 1u);
        uint v3 = v + v_in;
        bool v4 = (asuint(sum1) & 0x7f800000u) == 0x7f800000u;
        uint v_in1 = min(v1 + 8u, v_end - 1u);
        uint v5 = v + v_in1;
        if (v1 < v_end) {
            float max_new = v2 ? 3.4028235e38f : sum;
            uint index_new = v2 ? 0xffffffffu : v3;
            precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            float max_ = m ? argmax_max : max_new;
            uint index = m ? argmax_index : index_new;
            argmax_max = max_;
            argmax_index = index;
        }
        if (v1 + 8u < v_end) {
            float max_new = v4 ? 3.4028235e38f : sum1;
            uint index_new = v4 ? 0xffffffffu : v5;
            precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            float max_ = m ? argmax_max : max_new;
            uint index = m ? argmax_index : index_new;
            argmax_max = max_;
            argmax_index = index;
        }
    }
    uint fold_lane = lane / 32u;
    fold_max[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        float max_new = fold_max[lane + 128u];
        uint index_new = fold_index[lane + 128u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        float max_new = fold_max[lane + 64u];
        uint index_new = fold_index[lane + 64u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        float max_new = fold_max[lane + 32u];
        uint index_new = fold_index[lane + 32u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
    }
    if (lane == 0u) {
        v_max.Store((t_group * 512u + v_part_group) * 4u, asuint(argmax_max));
        v_index.Store((t_group * 512u + v_part_group) * 4u, argmax_index);
    }
}
