// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule fours, target wide
// schedule fours for attention {
//     workgroup 512;
//     t: grid;
//     h: grid;
//     j: serial, unroll(4), lanes(64);
//     softmax.c: lanes(8), vector(8);
//     c: lanes(8), vector(8);
//     d: lanes(8), vector(8);
//     fold d: subgroup;
// }
// dispatch T * 14 workgroups of 512 invocations
// cost
//     workgroup memory: 20480 bytes
//     accumulator registers: 14
//     barriers: 2 * j_step + 7
//     loads an invocation: 18 * j_step
//     bytes loaded an invocation: 288 * j_step
//     stores an invocation: 8
//     flop an invocation: 212 * j_step + 200
//     flop a byte: 0.74
//     rounds of all loops: ceil((pos + T) / 256) * 3
//     rounds of j_step: ceil((pos + T) / 256)

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
groupshared float fold[512];
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
    uint j_step_count = (j_end + 255u) / 256u;
    for (uint j_step = 0u; j_step < j_step_count; j_step++) {
        uint j = j_step * 256u + lane / 8u;
        uint c = lane % 8u * 8u;
        uint j_in = min(j, j_end - 1u);
        uint g = h_group / 7u;
        float4 v4 = asfloat(v.Load4(((j_in * 2u + g) * 16u + c / 4u) * 16u));
        float4 v4_1 = asfloat(v.Load4(((j_in * 2u + g) * 16u + c / 4u + 1u) * 16u));
        uint j_in1 = min(j + 64u, j_end - 1u);
        float4 v4_2 = asfloat(v.Load4(((j_in1 * 2u + g) * 16u + c / 4u) * 16u));
        float4 v4_3 = asfloat(v.Load4(((j_in1 * 2u + g) * 16u + c / 4u + 1u) * 16u));
        uint j_in2 = min(j + 128u, j_end - 1u);
        float4 v4_4 = asfloat(v.Load4(((j_in2 * 2u + g) * 16u + c / 4u) * 16u));
        float4 v4_5 = asfloat(v.Load4(((j_in2 * 2u + g) * 16u + c / 4u + 1u) * 16u));
        uint j_in3 = min(j + 192u, j_end - 1u);
        float4 v4_6 = asfloat(v.Load4(((j_in3 * 2u + g) * 16u + c / 4u) * 16u));
        float4 v4_7 = asfloat(v.Load4(((j_in3 * 2u + g) * 16u + c / 4u + 1u) * 16u));
        precise float score = 0.0f;
        precise float score1 = 0.0f;
        precise float score2 = 0.0f;
        precise float score3 = 0.0f;
        uint d = lane % 8u * 8u;
        float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
        precise float v1 = q4.x * params.scale;
        float4 k4 = asfloat(k.Load4(((j_in * 2u + g) * 16u + d / 4u) * 16u));
        float4 k4_1 = asfloat(k.Load4(((j_in1 * 2u + g) * 16u + d / 4u) * 16u));
        float4 k4_2 = asfloat(k.Load4(((j_in2 * 2u + g) * 16u + d / 4u) * 16u));
        float4 k4_3 = asfloat(k.Load4(((j_in3 * 2u + g) * 16u + d / 4u) * 16u));
        precise float v2 = q4.y * params.scale;
        precise float v3 = q4.z * params.scale;
        precise float v5 = q4.w * params.scale;
        float4 q4_1 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u + 1u) * 16u));
        precise float v6 = q4_1.x * params.scale;
        float4 k4_4 = asfloat(k.Load4(((j_in * 2u + g) * 16u + d / 4u + 1u) * 16u));
        float4 k4_5 = asfloat(k.Load4(((j_in1 * 2u + g) * 16u + d / 4u + 1u) * 16u));
        float4 k4_6 = asfloat(k.Load4(((j_in2 * 2u + g) * 16u + d / 4u + 1u) * 16u));
        float4 k4_7 = asfloat(k.Load4(((j_in3 * 2u + g) * 16u + d / 4u + 1u) * 16u));
        precise float v7 = q4_1.y * params.scale;
        precise float v8 = q4_1.z * params.scale;
        precise float v9 = q4_1.w * params.scale;
        score = mad(v1, k4.x, score);
        score1 = mad(v1, k4_1.x, score1);
        score2 = mad(v1, k4_2.x, score2);
        score3 = mad(v1, k4_3.x, score3);
        score = mad(v2, k4.y, score);
        score1 = mad(v2, k4_1.y, score1);
        score2 = mad(v2, k4_2.y, score2);
        score3 = mad(v2, k4_3.y, score3);
        score = mad(v3, k4.z, score);
        score1 = mad(v3, k4_1.z, score1);
        score2 = mad(v3, k4_2.z, score2);
        score3 = mad(v3, k4_3.z, score3);
        score = mad(v5, k4.w, score);
        score1 = mad(v5, k4_1.w, score1);
        score2 = mad(v5, k4_2.w, score2);
        score3 = mad(v5, k4_3.w, score3);
        score = mad(v6, k4_4.x, score);
        score1 = mad(v6, k4_5.x, score1);
        score2 = mad(v6, k4_6.x, score2);
        score3 = mad(v6, k4_7.x, score3);
        score = mad(v7, k4_4.y, score);
        score1 = mad(v7, k4_5.y, score1);
        score2 = mad(v7, k4_6.y, score2);
        score3 = mad(v7, k4_7.y, score3);
        score = mad(v8, k4_4.z, score);
        score1 = mad(v8, k4_5.z, score1);
        score2 = mad(v8, k4_6.z, score2);
        score3 = mad(v8, k4_7.z, score3);
        score = mad(v9, k4_4.w, score);
        score1 = mad(v9, k4_5.w, score1);
        score2 = mad(v9, k4_6.w, score2);
        score3 = mad(v9, k4_7.w, score3);
        uint near = min(WaveGetLaneCount(), 8u);
        float sum_near = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 1u);
        score = score + sum_near;
        float sum_near1 = WaveReadLaneAt(score1, WaveGetLaneIndex() ^ 1u);
        score1 = score1 + sum_near1;
        float sum_near2 = WaveReadLaneAt(score2, WaveGetLaneIndex() ^ 1u);
        score2 = score2 + sum_near2;
        float sum_near3 = WaveReadLaneAt(score3, WaveGetLaneIndex() ^ 1u);
        score3 = score3 + sum_near3;
        float sum_near4 = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 2u);
        score = score + sum_near4;
        float sum_near5 = WaveReadLaneAt(score1, WaveGetLaneIndex() ^ 2u);
        score1 = score1 + sum_near5;
        float sum_near6 = WaveReadLaneAt(score2, WaveGetLaneIndex() ^ 2u);
        score2 = score2 + sum_near6;
        float sum_near7 = WaveReadLaneAt(score3, WaveGetLaneIndex() ^ 2u);
        score3 = score3 + sum_near7;
        if (4u < near) {
            float sum_near8 = WaveReadLaneAt(score, WaveGetLaneIndex() ^ 4u);
            score = score + sum_near8;
            float sum_near9 = WaveReadLaneAt(score1, WaveGetLaneIndex() ^ 4u);
            score1 = score1 + sum_near9;
            float sum_near10 = WaveReadLaneAt(score2, WaveGetLaneIndex() ^ 4u);
            score2 = score2 + sum_near10;
            float sum_near11 = WaveReadLaneAt(score3, WaveGetLaneIndex() ^ 4u);
            score3 = score3 + sum_near11;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_group = lane / near;
        if (lane % near == 0u) {
            fold[near_group] = score;
            fold[near_group + 128u] = score1;
            fold[near_group + 256u] = score2;
            fold[near_group + 384u] = score3;
        }
        GroupMemoryBarrierWithGroupSync();
        uint near_groups = 8u / near;
        uint first = lane / 8u * near_groups;
        score = 0.0f;
        score1 = 0.0f;
        score2 = 0.0f;
        score3 = 0.0f;
        for (uint other = 0u; other < near_groups; other++) {
            score = score + fold[first + other];
            score1 = score1 + fold[first + other + 128u];
            score2 = score2 + fold[first + other + 256u];
            score3 = score3 + fold[first + other + 384u];
        }
        if (j < j_end) {
            precise float m = max(s_max, score);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score - m);
            precise float weight = mad(s_weight, m1, m2);
            s_value = mad(s_value, m1, v4.x * m2);
            s_value1 = mad(s_value1, m1, v4.y * m2);
            s_value2 = mad(s_value2, m1, v4.z * m2);
            s_value3 = mad(s_value3, m1, v4.w * m2);
            s_value4 = mad(s_value4, m1, v4_1.x * m2);
            s_value5 = mad(s_value5, m1, v4_1.y * m2);
            s_value6 = mad(s_value6, m1, v4_1.z * m2);
            s_value7 = mad(s_value7, m1, v4_1.w * m2);
            s_max = m;
            s_weight = weight;
        }
        if (j + 64u < j_end) {
            precise float m = max(s_max, score1);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score1 - m);
            precise float weight = mad(s_weight, m1, m2);
            s_value = mad(s_value, m1, v4_2.x * m2);
            s_value1 = mad(s_value1, m1, v4_2.y * m2);
            s_value2 = mad(s_value2, m1, v4_2.z * m2);
            s_value3 = mad(s_value3, m1, v4_2.w * m2);
            s_value4 = mad(s_value4, m1, v4_3.x * m2);
            s_value5 = mad(s_value5, m1, v4_3.y * m2);
            s_value6 = mad(s_value6, m1, v4_3.z * m2);
            s_value7 = mad(s_value7, m1, v4_3.w * m2);
            s_max = m;
            s_weight = weight;
        }
        if (j + 128u < j_end) {
            precise float m = max(s_max, score2);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score2 - m);
            precise float weight = mad(s_weight, m1, m2);
            s_value = mad(s_value, m1, v4_4.x * m2);
            s_value1 = mad(s_value1, m1, v4_4.y * m2);
            s_value2 = mad(s_value2, m1, v4_4.z * m2);
            s_value3 = mad(s_value3, m1, v4_4.w * m2);
            s_value4 = mad(s_value4, m1, v4_5.x * m2);
            s_value5 = mad(s_value5, m1, v4_5.y * m2);
            s_value6 = mad(s_value6, m1, v4_5.z * m2);
            s_value7 = mad(s_value7, m1, v4_5.w * m2);
            s_max = m;
            s_weight = weight;
        }
        if (j + 192u < j_end) {
            precise float m = max(s_max, score3);
            precise float m1 = exp(s_max - m);
            precise float m2 = exp(score3 - m);
            precise float weight = mad(s_weight, m1, m2);
            s_value = mad(s_value, m1, v4_6.x * m2);
            s_value1 = mad(s_value1, m1, v4_6.y * m2);
            s_value2 = mad(s_value2, m1, v4_6.z * m2);
            s_value3 = mad(s_value3, m1, v4_6.w * m2);
            s_value4 = mad(s_value4, m1, v4_7.x * m2);
            s_value5 = mad(s_value5, m1, v4_7.y * m2);
            s_value6 = mad(s_value6, m1, v4_7.z * m2);
            s_value7 = mad(s_value7, m1, v4_7.w * m2);
            s_max = m;
            s_weight = weight;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    uint fold_lane = lane / 8u;
    fold[lane] = s_max;
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
    if (fold_lane < 32u) {
        float max_new = fold[lane + 256u];
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
        fold[lane] = s_max;
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
    if (fold_lane < 16u) {
        float max_new = fold[lane + 128u];
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
        fold[lane] = s_max;
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
        float max_new = fold[lane + 64u];
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
        fold[lane] = s_max;
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
        float max_new = fold[lane + 32u];
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
        fold[lane] = s_max;
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
        float max_new = fold[lane + 16u];
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
        fold[lane] = s_max;
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
        float max_new = fold[lane + 8u];
        float weight_new = fold_weight[lane + 8u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 8u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 520u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 1032u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 1544u] * m2);
        s_value4 = mad(s_value4, m1, fold_value[lane + 2056u] * m2);
        s_value5 = mad(s_value5, m1, fold_value[lane + 2568u] * m2);
        s_value6 = mad(s_value6, m1, fold_value[lane + 3080u] * m2);
        s_value7 = mad(s_value7, m1, fold_value[lane + 3592u] * m2);
        s_max = m;
        s_weight = weight;
    }
    uint c = lane % 8u * 8u;
    if (lane < 8u) {
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
