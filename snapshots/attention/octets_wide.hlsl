// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule octets_wide, target wide
// schedule octets_wide for attention {
//     workgroup 512;
//     t: grid;
//     h: grid;
//     j: serial, lanes(32);
//     softmax.c: lanes(16), vector(8);
//     c: lanes(16), vector(8);
//     d: lanes(16), vector(8);
//     fold d: subgroup;
// }
// dispatch T * 14 workgroups of 512 invocations
// cost
//     workgroup memory: 20992 bytes
//     accumulator registers: 11
//     barriers: 2 * j_step + 5
//     loads an invocation: 6 * j_step
//     bytes loaded an invocation: 96 * j_step
//     stores an invocation: 8
//     flop an invocation: 61 * j_step + 168
//     flop a byte: 0.64
//     rounds of all loops: ceil((pos + T) / 32) * 5
//     rounds of j_step: ceil((pos + T) / 32)

struct Params {
    uint T;
    uint pos;
    float scale;
};

ByteAddressBuffer q : register(t0);
ByteAddressBuffer k : register(t1);
ByteAddressBuffer v : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[128];
groupshared float fold_max[512];
groupshared float fold_weight[512];
groupshared float fold_value[4096];

[numthreads(512, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    precise float s_max = -3.4028235e38f;
    precise float s_weight = 0.0f;
    precise float s_value = 0.0f;
    precise float s_value1 = 0.0f;
    precise float s_value2 = 0.0f;
    precise float s_value3 = 0.0f;
    precise float s_value4 = 0.0f;
    precise float s_value5 = 0.0f;
    precise float s_value6 = 0.0f;
    precise float s_value7 = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    uint j_step_count = (j_end + 31u) / 32u;
    for (uint j_step = 0u; j_step < j_step_count; j_step++) {
        uint j = j_step * 32u + lane / 16u;
        precise float score = 0.0f;
        uint d = lane % 16u * 8u;
        if (d < 64u) {
            float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
            uint j_in = min(j, j_end - 1u);
            uint g = h_group / 7u;
            float4 k4 = asfloat(k.Load4(((j_in * 2u + g) * 16u + d / 4u) * 16u));
            float4 q4_1 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u + 1u) * 16u));
            float4 k4_1 = asfloat(k.Load4(((j_in * 2u + g) * 16u + d / 4u + 1u) * 16u));
            score = mad(q4.x * params.scale, k4.x, score);
            score = mad(q4.y * params.scale, k4.y, score);
            score = mad(q4.z * params.scale, k4.z, score);
            score = mad(q4.w * params.scale, k4.w, score);
            score = mad(q4_1.x * params.scale, k4_1.x, score);
            score = mad(q4_1.y * params.scale, k4_1.y, score);
            score = mad(q4_1.z * params.scale, k4_1.z, score);
            score = mad(q4_1.w * params.scale, k4_1.w, score);
        }
        uint near = min(WaveGetLaneCount(), 16u);
        float sum_near = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 1u);
        score = score + sum_near;
        float sum_near1 = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 2u);
        score = score + sum_near1;
        if (4u < near) {
            float sum_near2 = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 4u);
            score = score + sum_near2;
        }
        if (8u < near) {
            float sum_near2 = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 8u);
            score = score + sum_near2;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_group = lane / near;
        if (lane % near == 0u) {
            fold[near_group] = score;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_groups = 16u / near;
        uint first = lane / 16u * near_groups;
        score = 0.0f;
        for (uint other = 0u; other < near_groups; other++) {
            score = score + fold[first + other];
        }
        if (j < j_end) {
            precise float m = max(s_max, score);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score - m);
            precise float weight = mad(s_weight, m1, m2);
            uint c = lane % 16u * 8u;
            if (c < 64u) {
                uint g = h_group / 7u;
                float4 v4 = asfloat(v.Load4(((j * 2u + g) * 16u + c / 4u) * 16u));
                s_value = mad(s_value, m1, v4.x * m2);
                s_value1 = mad(s_value1, m1, v4.y * m2);
                s_value2 = mad(s_value2, m1, v4.z * m2);
                s_value3 = mad(s_value3, m1, v4.w * m2);
                float4 v4_1 = asfloat(v.Load4(((j * 2u + g) * 16u + c / 4u + 1u) * 16u));
                s_value4 = mad(s_value4, m1, v4_1.x * m2);
                s_value5 = mad(s_value5, m1, v4_1.y * m2);
                s_value6 = mad(s_value6, m1, v4_1.z * m2);
                s_value7 = mad(s_value7, m1, v4_1.w * m2);
            }
            s_max = m;
            s_weight = weight;
        }
    }
    uint fold_lane = lane / 16u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 512u] = s_value1;
    fold_value[lane + 1024u] = s_value2;
    fold_value[lane + 1536u] = s_value3;
    fold_value[lane + 2048u] = s_value4;
    fold_value[lane + 2560u] = s_value5;
    fold_value[lane + 3072u] = s_value6;
    fold_value[lane + 3584u] = s_value7;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 16u) {
        float max_new = fold_max[lane + 256u];
        float weight_new = fold_weight[lane + 256u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 256u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 768u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 1280u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 1792u] * m2);
        s_value4 = mad(s_value4, m1, fold_value[lane + 2304u] * m2);
        s_value5 = mad(s_value5, m1, fold_value[lane + 2816u] * m2);
        s_value6 = mad(s_value6, m1, fold_value[lane + 3328u] * m2);
        s_value7 = mad(s_value7, m1, fold_value[lane + 3840u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 8u) {
        float max_new = fold_max[lane + 128u];
        float weight_new = fold_weight[lane + 128u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 128u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 640u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 1152u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 1664u] * m2);
        s_value4 = mad(s_value4, m1, fold_value[lane + 2176u] * m2);
        s_value5 = mad(s_value5, m1, fold_value[lane + 2688u] * m2);
        s_value6 = mad(s_value6, m1, fold_value[lane + 3200u] * m2);
        s_value7 = mad(s_value7, m1, fold_value[lane + 3712u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        float max_new = fold_max[lane + 64u];
        float weight_new = fold_weight[lane + 64u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 64u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 576u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 1088u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 1600u] * m2);
        s_value4 = mad(s_value4, m1, fold_value[lane + 2112u] * m2);
        s_value5 = mad(s_value5, m1, fold_value[lane + 2624u] * m2);
        s_value6 = mad(s_value6, m1, fold_value[lane + 3136u] * m2);
        s_value7 = mad(s_value7, m1, fold_value[lane + 3648u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        float max_new = fold_max[lane + 32u];
        float weight_new = fold_weight[lane + 32u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 32u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 544u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 1056u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 1568u] * m2);
        s_value4 = mad(s_value4, m1, fold_value[lane + 2080u] * m2);
        s_value5 = mad(s_value5, m1, fold_value[lane + 2592u] * m2);
        s_value6 = mad(s_value6, m1, fold_value[lane + 3104u] * m2);
        s_value7 = mad(s_value7, m1, fold_value[lane + 3616u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        float max_new = fold_max[lane + 16u];
        float weight_new = fold_weight[lane + 16u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 16u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 528u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 1040u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 1552u] * m2);
        s_value4 = mad(s_value4, m1, fold_value[lane + 2064u] * m2);
        s_value5 = mad(s_value5, m1, fold_value[lane + 2576u] * m2);
        s_value6 = mad(s_value6, m1, fold_value[lane + 3088u] * m2);
        s_value7 = mad(s_value7, m1, fold_value[lane + 3600u] * m2);
        s_max = m;
        s_weight = weight;
    }
    uint c = lane % 16u * 8u;
    if (c < 64u) {
        if (lane < 16u) {
            precise float value = s_value / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c) * 4u, asuint(value));
            precise float value1 = s_value1 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 1u) * 4u, asuint(value1));
            precise float value2 = s_value2 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 2u) * 4u, asuint(value2));
            precise float value3 = s_value3 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 3u) * 4u, asuint(value3));
            precise float value4 = s_value4 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 4u) * 4u, asuint(value4));
            precise float value5 = s_value5 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 5u) * 4u, asuint(value5));
            precise float value6 = s_value6 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 6u) * 4u, asuint(value6));
            precise float value7 = s_value7 / s_weight;
            y.Store(((t_group * 14u + h_group) * 64u + c + 7u) * 4u, asuint(value7));
        }
    }
}
