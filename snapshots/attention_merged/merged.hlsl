// kernel attention_merged, shape D = 64, G = 2, H = 14, T <= 64, j.Parts = 16, schedule merged, target webgpu-subgroups
// schedule merged for attention_merged {
//     workgroup 256;
//     t: grid;
//     h: grid;
//     j.part: serial, lanes(16);
//     softmax.c: lanes(16), vector(4);
//     c: lanes(16), vector(4);
// }
// dispatch T * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 6144 bytes
//     accumulator registers: 6
//     barriers: 4
//     loads an invocation: 3
//     bytes loaded an invocation: 24
//     stores an invocation: 4
//     flop an invocation: 104
//     flop a byte: 2.60
//     rounds of all loops: 0

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
    uint part = lane / 16u;
    uint c = lane % 16u * 4u;
    float4 j_value4 = asfloat(j_value.Load4((((t_group * 14u + h_group) * 16u + part) * 16u + c / 4u) * 16u));
    float j_max_at = asfloat(j_max.Load(((t_group * 14u + h_group) * 16u + part) * 4u));
    float j_weight_at = asfloat(j_weight.Load(((t_group * 14u + h_group) * 16u + part) * 4u));
    precise float m = max(s_max, j_max_at);
    precise float m1 = exp(s_max - m);
    precise float m2 = exp(j_max_at - m);
    precise float weight = mad(s_weight, m1, j_weight_at * m2);
    s_value = mad(s_value, m1, j_value4.x * m2);
    s_value1 = mad(s_value1, m1, j_value4.y * m2);
    s_value2 = mad(s_value2, m1, j_value4.z * m2);
    s_value3 = mad(s_value3, m1, j_value4.w * m2);
    s_max = m;
    s_weight = weight;
    uint fold_lane = lane / 16u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 256u] = s_value1;
    fold_value[lane + 512u] = s_value2;
    fold_value[lane + 768u] = s_value3;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 8u) {
        float max_new = fold_max[lane + 128u];
        float weight_new = fold_weight[lane + 128u];
        precise float m3 = max(s_max, max_new);
        precise float m4 = exp(s_max - m3);
        precise float m5 = exp(max_new - m3);
        precise float weight1 = mad(s_weight, m4, weight_new * m5);
        s_value = mad(s_value, m4, fold_value[lane + 128u] * m5);
        s_value1 = mad(s_value1, m4, fold_value[lane + 384u] * m5);
        s_value2 = mad(s_value2, m4, fold_value[lane + 640u] * m5);
        s_value3 = mad(s_value3, m4, fold_value[lane + 896u] * m5);
        s_max = m3;
        s_weight = weight1;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        float max_new = fold_max[lane + 64u];
        float weight_new = fold_weight[lane + 64u];
        precise float m3 = max(s_max, max_new);
        precise float m4 = exp(s_max - m3);
        precise float m5 = exp(max_new - m3);
        precise float weight1 = mad(s_weight, m4, weight_new * m5);
        s_value = mad(s_value, m4, fold_value[lane + 64u] * m5);
        s_value1 = mad(s_value1, m4, fold_value[lane + 320u] * m5);
        s_value2 = mad(s_value2, m4, fold_value[lane + 576u] * m5);
        s_value3 = mad(s_value3, m4, fold_value[lane + 832u] * m5);
        s_max = m3;
        s_weight = weight1;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        float max_new = fold_max[lane + 32u];
        float weight_new = fold_weight[lane + 32u];
        precise float m3 = max(s_max, max_new);
        precise float m4 = exp(s_max - m3);
        precise float m5 = exp(max_new - m3);
        precise float weight1 = mad(s_weight, m4, weight_new * m5);
        s_value = mad(s_value, m4, fold_value[lane + 32u] * m5);
        s_value1 = mad(s_value1, m4, fold_value[lane + 288u] * m5);
        s_value2 = mad(s_value2, m4, fold_value[lane + 544u] * m5);
        s_value3 = mad(s_value3, m4, fold_value[lane + 800u] * m5);
        s_max = m3;
        s_weight = weight1;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        float max_new = fold_max[lane + 16u];
        float weight_new = fold_weight[lane + 16u];
        precise float m3 = max(s_max, max_new);
        precise float m4 = exp(s_max - m3);
        precise float m5 = exp(max_new - m3);
        precise float weight1 = mad(s_weight, m4, weight_new * m5);
        s_value = mad(s_value, m4, fold_value[lane + 16u] * m5);
        s_value1 = mad(s_value1, m4, fold_value[lane + 272u] * m5);
        s_value2 = mad(s_value2, m4, fold_value[lane + 528u] * m5);
        s_value3 = mad(s_value3, m4, fold_value[lane + 784u] * m5);
        s_max = m3;
        s_weight = weight1;
    }
    uint c1 = lane % 16u * 4u;
    if (lane < 16u) {
        precise float value = s_value / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c1) * 4u, asuint(value));
        precise float value1 = s_value1 / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c1 + 1u) * 4u, asuint(value1));
        precise float value2 = s_value2 / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c1 + 2u) * 4u, asuint(value2));
        precise float value3 = s_value3 / s_weight;
        y.Store(((t_group * 14u + h_group) * 64u + c1 + 3u) * 4u, asuint(value3));
    }
}
