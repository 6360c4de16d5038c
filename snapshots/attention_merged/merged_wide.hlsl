// kernel attention_merged, shape D = 64, G = 2, H = 14, T <= 64, j.Parts = 16, schedule merged_wide, target webgpu-subgroups
// schedule merged_wide for attention_merged {
//     workgroup 256;
//     t: grid;
//     h: grid;
//     j.part: serial, lanes(8);
//     softmax.c: lanes(32), vector(4);
//     c: lanes(32), vector(4);
// }
// dispatch T * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 6144 bytes
//     accumulator registers: 6
//     barriers: 3
//     loads an invocation: 6
//     bytes loaded an invocation: 48
//     stores an invocation: 4
//     flop an invocation: 104
//     flop a byte: 1.62
//     rounds of all loops: 2

struct Params {
    uint T;
};

ByteAddressBuffer j_max : register(t0);
ByteAddressBuffer j_weight : register(t1);
ByteAddressBuffer j_value : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold_max[256];
groupshared float fold_weight[256];
groupshared float fold_value[1024];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint h_group = group.x % 14u;
    uint t_group = group.x / 14u;
    precise float s_max = -3.4028235e38f;
    precise float s_weight = 0.0f;
    precise float s_value = 0.0f;
    precise float s_value1 = 0.0f;
    precise float s_value2 = 0.0f;
    precise float s_value3 = 0.0f;
    for (uint part = lane / 32u; part < 16u; part += 8u) {
        float j_max_at = asfloat(j_max.Load(((t_group * 14u + h_group) * 16u + part) * 4u));
        float j_weight_at = asfloat(j_weight.Load(((t_group * 14u + h_group) * 16u + part) * 4u));
        precise float m = max(s_max, j_max_at);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(j_max_at - m);
        precise float weight = mad(s_weight, m1, j_weight_at * m2);
        uint c = lane % 32u * 4u;
        if (c < 64u) {
            float4 j_value4 = asfloat(j_value.Load4((((t_group * 14u + h_group) * 16u + part) * 16u + c / 4u) * 16u));
            s_value = mad(s_value, m1, j_value4.x * m2);
            s_value1 = mad(s_value1, m1, j_value4.y * m2);
            s_value2 = mad(s_value2, m1, j_value4.z * m2);
            s_value3 = mad(s_value3, m1, j_value4.w * m2);
        }
        s_max = m;
        s_weight = weight;
    }
    uint fold_lane = lane / 32u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 256u] = s_value1;
    fold_value[lane + 512u] = s_value2;
    fold_value[lane + 768u] = s_value3;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        float max_new = fold_max[lane + 128u];
        float weight_new = fold_weight[lane + 128u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 128u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 384u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 640u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 896u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        float max_new = fold_max[lane + 64u];
        float weight_new = fold_weight[lane + 64u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 64u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 320u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 576u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 832u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        float max_new = fold_max[lane + 32u];
        float weight_new = fold_weight[lane + 32u];
        precise float m = max(s_max, max_new);
        precise float m1 = exp(s_max - m);
        precise float m2 = exp(max_new - m);
        precise float weight = mad(s_weight, m1, weight_new * m2);
        s_value = mad(s_value, m1, fold_value[lane + 32u] * m2);
        s_value1 = mad(s_value1, m1, fold_value[lane + 288u] * m2);
        s_value2 = mad(s_value2, m1, fold_value[lane + 544u] * m2);
        s_value3 = mad(s_value3, m1, fold_value[lane + 800u] * m2);
        s_max = m;
        s_weight = weight;
    }
    uint c = lane % 32u * 4u;
    if (c < 64u) {
        if (lane < 32u) {
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
}
