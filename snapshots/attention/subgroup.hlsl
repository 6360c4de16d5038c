// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for attention {
//     t: grid;
//     h: grid;
//     j: serial, lanes(8);
//     softmax.c: lanes(16), unroll(4);
//     c: lanes(16), unroll(4);
//     d: lanes(16), vector(4);
//     fold d: subgroup;
// }
// dispatch T * 14 workgroups of 128 invocations
// cost
//     workgroup memory: 3200 bytes
//     accumulator registers: 7
//     barriers: 2 * j_step + 3
//     loads an invocation: 6 * j_step
//     bytes loaded an invocation: 48 * j_step
//     stores an invocation: 4
//     flop an invocation: 37 * j_step + 64
//     flop a byte: 0.77
//     rounds of all loops: ceil((pos + T) / 8) * 5
//     rounds of j_step: ceil((pos + T) / 8)

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
groupshared float fold[32];
groupshared float fold_max[128];
groupshared float fold_weight[128];
groupshared float fold_value[512];

[numthreads(128, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    precise float s_max = -3.4028235e38f;
    precise float s_weight = 0.0f;
    precise float s_value = 0.0f;
    precise float s_value1 = 0.0f;
    precise float s_value2 = 0.0f;
    precise float s_value3 = 0.0f;
    uint j_end = params.pos + t_group + 1u;
    uint j_step_count = (j_end + 7u) / 8u;
    for (uint j_step = 0u; j_step < j_step_count; j_step++) {
        uint j = j_step * 8u + lane / 16u;
        uint c = lane % 16u * 4u;
        uint j_in = min(j, j_end - 1u);
        uint g = h_group / 7u;
        float v_at = asfloat(v.Load(((j_in * 2u + g) * 64u + c) * 4u));
        float v_at1 = asfloat(v.Load(((j_in * 2u + g) * 64u + c + 1u) * 4u));
        float v_at2 = asfloat(v.Load(((j_in * 2u + g) * 64u + c + 2u) * 4u));
        float v_at3 = asfloat(v.Load(((j_in * 2u + g) * 64u + c + 3u) * 4u));
        precise float score = 0.0f;
        uint d = lane % 16u * 4u;
        float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
        float4 k4 = asfloat(k.Load4(((j_in * 2u + g) * 16u + d / 4u) * 16u));
        score = mad(q4.x * params.scale, k4.x, score);
        score = mad(q4.y * params.scale, k4.y, score);
        score = mad(q4.z * params.scale, k4.z, score);
        score = mad(q4.w * params.scale, k4.w, score);
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
            s_value = mad(s_value, m1, v_at * m2);
            s_value1 = mad(s_value1, m1, v_at1 * m2);
            s_value2 = mad(s_value2, m1, v_at2 * m2);
            s_value3 = mad(s_value3, m1, v_at3 * m2);
            s_max = m;
            s_weight = weight;
        }
    }
    uint fold_lane = lane / 16u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 128u] = s_value1;
    fold_value[lane + 256u] = s_value2;
    fold_value[lane + 384u] = s_value3;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        float max_new = fold_max[lane + 64u];
        float weight_new = fold_weight[lane + 64u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 64u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 192u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 320u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 448u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 128u] = s_value1;
        fold_value[lane + 256u] = s_value2;
        fold_value[lane + 384u] = s_value3;
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
        s_value1 = mad(s_value1, m1, fold_value[lane + 160u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 288u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 416u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 128u] = s_value1;
        fold_value[lane + 256u] = s_value2;
        fold_value[lane + 384u] = s_value3;
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
        s_value1 = mad(s_value1, m1, fold_value[lane + 144u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 272u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 400u] * m2);
        s_max = m;
        s_weight = weight;
    }
    uint c = lane % 16u * 4u;
    if (lane < 16u) {
        precise float value = s_value / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c) * 4u, asuint(value));
        precise float value1 = s_value1 / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c + 1u) * 4u, asuint(value1));
        precise float value2 = s_value2 / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c + 2u) * 4u, asuint(value2));
        precise float value3 = s_value3 / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c + 3u) * 4u, asuint(value3));
    }
}
