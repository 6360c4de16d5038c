// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule grouped_wide, target webgpu-subgroups
// schedule grouped_wide for attention {
//     workgroup 256;
//     t: grid;
//     h: grid;
//     j: serial as jo, serial(32), lanes(8);
//     softmax.c: lanes(32), vector(4);
//     c: lanes(32), vector(4);
//     d: serial, vector(4);
//     compute score at jo: workgroup;
// }
// dispatch T * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 7168 bytes
//     accumulator registers: 7
//     barriers: 2 * jo + 3
//     loads an invocation: 64 * jo
//     bytes loaded an invocation: 1024 * jo
//     stores an invocation: 4
//     flop an invocation: 800 * jo + 64
//     flop a byte: 0.78
//     rounds of all loops: ceil((pos + T) / 256) * 49
//     rounds of jo: ceil((pos + T) / 256)

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
groupshared float score_tile[256];
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
    uint j_end = params.pos + t_group + 1u;
    uint jo_count = (j_end + 255u) / 256u;
    for (uint jo = 0u; jo < jo_count; jo++) {
        GroupMemoryBarrierWithGroupSync();
        uint j = min(jo * 256u + lane, j_end - 1u);
        precise float score = 0.0f;
        for (uint d = 0u; d < 64u; d += 4u) {
            float4 q4 = asfloat(q.Load4(((t_group * 14u + h_group) * 16u + d / 4u) * 16u));
            uint g = h_group / 7u;
            float4 k4 = asfloat(k.Load4(((j * 2u + g) * 16u + d / 4u) * 16u));
            score = mad(q4.x * params.scale, k4.x, score);
            score = mad(q4.y * params.scale, k4.y, score);
            score = mad(q4.z * params.scale, k4.z, score);
            score = mad(q4.w * params.scale, k4.w, score);
        }
        score_tile[lane] = score;
        GroupMemoryBarrierWithGroupSync();
        for (uint j_step = 0u; j_step < 32u; j_step++) {
            uint j1 = jo * 256u + j_step * 8u + lane / 32u;
            float held = score_tile[j_step * 8u + lane / 32u];
            if (j1 < j_end) {
                precise float m = max(s_max, held);
                precise float m1 = exp(s_max - m);
                precise float m2 = exp(held - m);
                precise float weight = mad(s_weight, m1, m2);
                uint c = lane % 32u * 4u;
                if (c < 64u) {
                    uint g = h_group / 7u;
                    float4 v4 = asfloat(v.Load4(((j1 * 2u + g) * 16u + c / 4u) * 16u));
                    s_value = mad(s_value, m1, v4.x * m2);
                    s_value1 = mad(s_value1, m1, v4.y * m2);
                    s_value2 = mad(s_value2, m1, v4.z * m2);
                    s_value3 = mad(s_value3, m1, v4.w * m2);
                }
                s_max = m;
                s_weight = weight;
            }
        }
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
