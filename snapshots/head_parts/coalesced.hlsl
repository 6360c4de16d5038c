// kernel head_parts, shape K = 896, T <= 64, V = 32768, v.Parts = 512, schedule coalesced, target webgpu-subgroups
// schedule coalesced for head_parts {
//     workgroup 64;
//     t: grid;
//     v.part: grid;
//     v: serial, unroll(4), lanes(2);
//     head.k: serial, lanes(32), vector(8);
//     head.norm.j: serial, lanes(64), vector(4);
// }
// dispatch T * 512 workgroups of 64 invocations
// cost
//     workgroup memory: 1536 bytes
//     accumulator registers: 7
//     barriers: 65
//     loads an invocation: 388
//     bytes loaded an invocation: 6208
//     stores an invocation: 2
//     flop an invocation: 2761
//     flop a byte: 0.44
//     rounds of all loops: 44

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
groupshared float fold1[256];
groupshared uint fold_index[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint v_part_group = group.x % 512u;
    uint t_group = group.x / 512u;
    precise float s = 0.0f;
    for (uint j = lane * 4u; j < 896u; j += 256u) {
        float4 head_norm_x4 = asfloat(head_norm_x.Load4((t_group * 224u + j / 4u) * 16u));
        s = mad(head_norm_x4.x, head_norm_x4.x, s);
        s = mad(head_norm_x4.y, head_norm_x4.y, s);
        s = mad(head_norm_x4.z, head_norm_x4.z, s);
        s = mad(head_norm_x4.w, head_norm_x4.w, s);
    }
    fold[lane] = s;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        s = s + fold[lane + 32u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        s = s + fold[lane + 16u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        s = s + fold[lane + 8u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        s = s + fold[lane + 4u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        s = s + fold[lane + 2u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        s = s + fold[lane + 1u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    s = fold[0];
    precise float head_norm_scale = rsqrt(s / 896.0f + params.head_norm_eps);
    precise float argmax_max = -3.4028235e38f;
    uint argmax_index = 0xfffffffeu;
    uint v = v_part_group * 64u;
    uint v_end = min(max(min(params.limit, 32768u), v) - v, 64u);
    uint v_step_count = (v_end + 7u) / 8u;
    for (uint v_step = 0u; v_step < v_step_count; v_step++) {
        uint v1 = v_step * 8u + lane / 32u;
        precise float sum = 0.0f;
        precise float sum1 = 0.0f;
        precise float sum2 = 0.0f;
        precise float sum3 = 0.0f;
        for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
            uint v_in = min(v1, v_end - 1u);
            uint v2 = v + v_in;
            float4 head_w4 = asfloat(head_w.Load4((v2 * 224u + k / 4u) * 16u));
            float4 head_norm_x4 = asfloat(head_norm_x.Load4((t_group * 224u + k / 4u) * 16u));
            precise float v3 = head_norm_x4.x * head_norm_scale;
            float4 head_norm_w4 = asfloat(head_norm_w.Load4(k / 4u * 16u));
            precise float v4 = v3 * head_norm_w4.x;
            uint v_in1 = min(v1 + 2u, v_end - 1u);
            uint v5 = v + v_in1;
            float4 head_w4_1 = asfloat(head_w.Load4((v5 * 224u + k / 4u) * 16u));
            uint v_in2 = min(v1 + 4u, v_end - 1u);
            uint v6 = v + v_in2;
            float4 head_w4_2 = asfloat(head_w.Load4((v6 * 224u + k / 4u) * 16u));
            uint v_in3 = min(v1 + 6u, v_end - 1u);
            uint v7 = v + v_in3;
            float4 head_w4_3 = asfloat(head_w.Load4((v7 * 224u + k / 4u) * 16u));
            precise float v8 = head_norm_x4.y * head_norm_scale;
            precise float v9 = v8 * head_norm_w4.y;
            precise float v10 = head_norm_x4.z * head_norm_scale;
            precise float v11 = v10 * head_norm_w4.z;
            precise float v12 = head_norm_x4.w * head_norm_scale;
            precise float v13 = v12 * head_norm_w4.w;
            float4 head_w4_4 = asfloat(head_w.Load4((v2 * 224u + k / 4u + 1u) * 16u));
            float4 head_norm_x4_1 = asfloat(head_norm_x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
            precise float v14 = head_norm_x4_1.x * head_norm_scale;
            float4 head_norm_w4_1 = asfloat(head_norm_w.Load4((k / 4u + 1u) * 16u));
            precise float v15 = v14 * head_norm_w4_1.x;
            float4 head_w4_5 = asfloat(head_w.Load4((v5 * 224u + k / 4u + 1u) * 16u));
            float4 head_w4_6 = asfloat(head_w.Load4((v6 * 224u + k / 4u + 1u) * 16u));
            float4 head_w4_7 = asfloat(head_w.Load4((v7 * 224u + k / 4u + 1u) * 16u));
            precise float v16 = head_norm_x4_1.y * head_norm_scale;
            precise float v17 = v16 * head_norm_w4_1.y;
            precise float v18 = head_norm_x4_1.z * head_norm_scale;
            precise float v19 = v18 * head_norm_w4_1.z;
            precise float v20 = head_norm_x4_1.w * head_norm_scale;
            precise float v21 = v20 * head_norm_w4_1.w;
            sum = mad(head_w4.x, v4, sum);
            sum1 = mad(head_w4_1.x, v4, sum1);
            sum2 = mad(head_w4_2.x, v4, sum2);
            sum3 = mad(head_w4_3.x, v4, sum3);
            sum = mad(head_w4.y, v9, sum);
            sum1 = mad(head_w4_1.y, v9, sum1);
            sum2 = mad(head_w4_2.y, v9, sum2);
            sum3 = mad(head_w4_3.y, v9, sum3);
            sum = mad(head_w4.z, v11, sum);
            sum1 = mad(head_w4_1.z, v11, sum1);
            sum2 = mad(head_w4_2.z, v11, sum2);
            sum3 = mad(head_w4_3.z, v11, sum3);
            sum = mad(head_w4.w, v13, sum);
            sum1 = mad(head_w4_1.w, v13, sum1);
            sum2 = mad(head_w4_2.w, v13, sum2);
            sum3 = mad(head_w4_3.w, v13, sum3);
            sum = mad(head_w4_4.x, v15, sum);
            sum1 = mad(head_w4_5.x, v15, sum1);
            sum2 = mad(head_w4_6.x, v15, sum2);
            sum3 = mad(head_w4_7.x, v15, sum3);
            sum = mad(head_w4_4.y, v17, sum);
            sum1 = mad(head_w4_5.y, v17, sum1);
            sum2 = mad(head_w4_6.y, v17, sum2);
            sum3 = mad(head_w4_7.y, v17, sum3);
            sum = mad(head_w4_4.z, v19, sum);
            sum1 = mad(head_w4_5.z, v19, sum1);
            sum2 = mad(head_w4_6.z, v19, sum2);
            sum3 = mad(head_w4_7.z, v19, sum3);
            sum = mad(head_w4_4.w, v21, sum);
            sum1 = mad(head_w4_5.w, v21, sum1);
            sum2 = mad(head_w4_6.w, v21, sum2);
            sum3 = mad(head_w4_7.w, v21, sum3);
        }
        GroupMemoryBarrierWithGroupSync();
        uint fold_lane = lane % 32u;
        fold1[lane] = sum;
        fold1[lane + 64u] = sum1;
        fold1[lane + 128u] = sum2;
        fold1[lane + 192u] = sum3;
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 16u) {
            sum = sum + fold1[lane + 16u];
            sum1 = sum1 + fold1[lane + 80u];
            sum2 = sum2 + fold1[lane + 144u];
            sum3 = sum3 + fold1[lane + 208u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 8u) {
            sum = sum + fold1[lane + 8u];
            sum1 = sum1 + fold1[lane + 72u];
            sum2 = sum2 + fold1[lane + 136u];
            sum3 = sum3 + fold1[lane + 200u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 4u) {
            sum = sum + fold1[lane + 4u];
            sum1 = sum1 + fold1[lane + 68u];
            sum2 = sum2 + fold1[lane + 132u];
            sum3 = sum3 + fold1[lane + 196u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 2u) {
            sum = sum + fold1[lane + 2u];
            sum1 = sum1 + fold1[lane + 66u];
            sum2 = sum2 + fold1[lane + 130u];
            sum3 = sum3 + fold1[lane + 194u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        GroupMemoryBarrierWithGroupSync();
        if (fold_lane < 1u) {
            sum = sum + fold1[lane + 1u];
            sum1 = sum1 + fold1[lane + 65u];
            sum2 = sum2 + fold1[lane + 129u];
            sum3 = sum3 + fold1[lane + 193u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        GroupMemoryBarrierWithGroupSync();
        sum = fold1[lane - lane % 32u];
        sum1 = fold1[lane - lane % 32u + 64u];
        sum2 = fold1[lane - lane % 32u + 128u];
        sum3 = fold1[lane - lane % 32u + 192u];
        bool v2 = (asuint(sum) & 0x7f800000u) == 0x7f800000u;
        uint v_in = min(v1, v_end - 1u);
        uint v3 = v + v_in;
        bool v4 = (asuint(sum1) & 0x7f800000u) == 0x7f800000u;
        uint v_in1 = min(v1 + 2u, v_end - 1u);
        uint v5 = v + v_in1;
        bool v6 = (asuint(sum2) & 0x7f800000u) == 0x7f800000u;
        uint v_in2 = min(v1 + 4u, v_end - 1u);
        uint v7 = v + v_in2;
        bool v8 = (asuint(sum3) & 0x7f800000u) == 0x7f800000u;
        uint v_in3 = min(v1 + 6u, v_end - 1u);
        uint v9 = v + v_in3;
        if (v1 < v_end) {
            float max_new = v2 ? 3.4028235e38f : sum;
            uint index_new = v2 ? 0xffffffffu : v3;
            precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            float max_ = m ? argmax_max : max_new;
            uint index = m ? argmax_index : index_new;
            argmax_max = max_;
            argmax_index = index;
        }
        if (v1 + 2u < v_end) {
            float max_new = v4 ? 3.4028235e38f : sum1;
            uint index_new = v4 ? 0xffffffffu : v5;
            precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            float max_ = m ? argmax_max : max_new;
            uint index = m ? argmax_index : index_new;
            argmax_max = max_;
            argmax_index = index;
        }
        if (v1 + 4u < v_end) {
            float max_new = v6 ? 3.4028235e38f : sum2;
            uint index_new = v6 ? 0xffffffffu : v7;
            precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            float max_ = m ? argmax_max : max_new;
            uint index = m ? argmax_index : index_new;
            argmax_max = max_;
            argmax_index = index;
        }
        if (v1 + 6u < v_end) {
            float max_new = v8 ? 3.4028235e38f : sum3;
            uint index_new = v8 ? 0xffffffffu : v9;
            precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            float max_ = m ? argmax_max : max_new;
            uint index = m ? argmax_index : index_new;
            argmax_max = max_;
            argmax_index = index;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    uint fold_lane = lane / 32u;
    fold[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        float max_new = fold[lane + 32u];
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
