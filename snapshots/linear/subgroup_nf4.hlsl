// kernel linear, shape K = 896, R = 896, T <= 64, schedule subgroup_nf4, target webgpu-subgroups
// schedule subgroup_nf4 for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
//     store w: nf4(64);
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 2304 bytes
//     accumulator registers: 8
//     barriers: 2
//     loads an invocation: 40
//     bytes loaded an invocation: 256
//     stores an invocation: 4
//     flop an invocation: 312
//     flop a byte: 1.15
//     rounds of all loops: 12

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float levels[512];
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    if (lane < 32u) {
        levels[lane] = -1.0f;
        levels[lane + 32u] = -0.6961928f;
        levels[lane + 64u] = -0.52507305f;
        levels[lane + 96u] = -0.3949175f;
        levels[lane + 128u] = -0.28444138f;
        levels[lane + 160u] = -0.18477343f;
        levels[lane + 192u] = -0.091050036f;
        levels[lane + 224u] = 0.0f;
        levels[lane + 256u] = 0.0795803f;
        levels[lane + 288u] = 0.1609302f;
        levels[lane + 320u] = 0.2461123f;
        levels[lane + 352u] = 0.33791524f;
        levels[lane + 384u] = 0.44070983f;
        levels[lane + 416u] = 0.562617f;
        levels[lane + 448u] = 0.72295684f;
        levels[lane + 480u] = 1.0f;
    }
    GroupMemoryBarrierWithGroupSync();
    uint copy = lane % 32u;
    uint r_group = group.x % 112u;
    uint t_group = group.x / 112u;
    uint r = r_group * 8u + lane / 32u * 4u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
        float w_scale = asfloat(w.Load((r * 128u + k / 64u + 112u) * 4u));
        uint w_at = w.Load((r * 128u + k / 8u) * 4u);
        float code = levels[((w_at << 5u) & 480u) | copy];
        float4 x4 = asfloat(x.Load4((t_group * 224u + k / 4u) * 16u));
        float w_scale1 = asfloat(w.Load(((r + 1u) * 128u + k / 64u + 112u) * 4u));
        uint w_at1 = w.Load(((r + 1u) * 128u + k / 8u) * 4u);
        float code1 = levels[((w_at1 << 5u) & 480u) | copy];
        float w_scale2 = asfloat(w.Load(((r + 2u) * 128u + k / 64u + 112u) * 4u));
        uint w_at2 = w.Load(((r + 2u) * 128u + k / 8u) * 4u);
        float code2 = levels[((w_at2 << 5u) & 480u) | copy];
        float w_scale3 = asfloat(w.Load(((r + 3u) * 128u + k / 64u + 112u) * 4u));
        uint w_at3 = w.Load(((r + 3u) * 128u + k / 8u) * 4u);
        float code3 = levels[((w_at3 << 5u) & 480u) | copy];
        float code4 = levels[((w_at << 1u) & 480u) | copy];
        float code5 = levels[((w_at1 << 1u) & 480u) | copy];
        float code6 = levels[((w_at2 << 1u) & 480u) | copy];
        float code7 = levels[((w_at3 << 1u) & 480u) | copy];
        float code8 = levels[((w_at >> 3u) & 480u) | copy];
        float code9 = levels[((w_at1 >> 3u) & 480u) | copy];
        float code10 = levels[((w_at2 >> 3u) & 480u) | copy];
        float code11 = levels[((w_at3 >> 3u) & 480u) | copy];
        float code12 = levels[((w_at >> 7u) & 480u) | copy];
        float code13 = levels[((w_at1 >> 7u) & 480u) | copy];
        float code14 = levels[((w_at2 >> 7u) & 480u) | copy];
        float code15 = levels[((w_at3 >> 7u) & 480u) | copy];
        float code16 = levels[((w_at >> 11u) & 480u) | copy];
        float4 x4_1 = asfloat(x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        float code17 = levels[((w_at1 >> 11u) & 480u) | copy];
        float code18 = levels[((w_at2 >> 11u) & 480u) | copy];
        float code19 = levels[((w_at3 >> 11u) & 480u) | copy];
        float code20 = levels[((w_at >> 15u) & 480u) | copy];
        float code21 = levels[((w_at1 >> 15u) & 480u) | copy];
        float code22 = levels[((w_at2 >> 15u) & 480u) | copy];
        float code23 = levels[((w_at3 >> 15u) & 480u) | copy];
        float code24 = levels[((w_at >> 19u) & 480u) | copy];
        float code25 = levels[((w_at1 >> 19u) & 480u) | copy];
        float code26 = levels[((w_at2 >> 19u) & 480u) | copy];
        float code27 = levels[((w_at3 >> 19u) & 480u) | copy];
        float code28 = levels[((w_at >> 23u) & 480u) | copy];
        float code29 = levels[((w_at1 >> 23u) & 480u) | copy];
        float code30 = levels[((w_at2 >> 23u) & 480u) | copy];
        float code31 = levels[((w_at3 >> 23u) & 480u) | copy];
        precise float terms = code * x4.x;
        precise float terms1 = code1 * x4.x;
        precise float terms2 = code2 * x4.x;
        precise float terms3 = code3 * x4.x;
        terms = mad(code4, x4.y, terms);
        terms1 = mad(code5, x4.y, terms1);
        terms2 = mad(code6, x4.y, terms2);
        terms3 = mad(code7, x4.y, terms3);
        terms = mad(code8, x4.z, terms);
        terms1 = mad(code9, x4.z, terms1);
        terms2 = mad(code10, x4.z, terms2);
        terms3 = mad(code11, x4.z, terms3);
        terms = mad(code12, x4.w, terms);
        terms1 = mad(code13, x4.w, terms1);
        terms2 = mad(code14, x4.w, terms2);
        terms3 = mad(code15, x4.w, terms3);
        terms = mad(code16, x4_1.x, terms);
        terms1 = mad(code17, x4_1.x, terms1);
        terms2 = mad(code18, x4_1.x, terms2);
        terms3 = mad(code19, x4_1.x, terms3);
        terms = mad(code20, x4_1.y, terms);
        terms1 = mad(code21, x4_1.y, terms1);
        terms2 = mad(code22, x4_1.y, terms2);
        terms3 = mad(code23, x4_1.y, terms3);
        terms = mad(code24, x4_1.z, terms);
        terms1 = mad(code25, x4_1.z, terms1);
        terms2 = mad(code26, x4_1.z, terms2);
        terms3 = mad(code27, x4_1.z, terms3);
        terms = mad(code28, x4_1.w, terms);
        terms1 = mad(code29, x4_1.w, terms1);
        terms2 = mad(code30, x4_1.w, terms2);
        terms3 = mad(code31, x4_1.w, terms3);
        sum = mad(terms, w_scale, sum);
        sum1 = mad(terms1, w_scale1, sum1);
        sum2 = mad(terms2, w_scale2, sum2);
        sum3 = mad(terms3, w_scale3, sum3);
    }
    uint near = min(WaveGetLaneCount(), 32u);
    float sum_near = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 1u);
    sum = sum + sum_near;
    float sum_near1 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 1u);
    sum1 = sum1 + sum_near1;
    float sum_near2 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 1u);
    sum2 = sum2 + sum_near2;
    float sum_near3 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 1u);
    sum3 = sum3 + sum_near3;
    float sum_near4 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 2u);
    sum = sum + sum_near4;
    float sum_near5 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 2u);
    sum1 = sum1 + sum_near5;
    float sum_near6 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 2u);
    sum2 = sum2 + sum_near6;
    float sum_near7 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 2u);
    sum3 = sum3 + sum_near7;
    if (4u < near) {
        float sum_near8 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 4u);
        sum = sum + sum_near8;
        float sum_near9 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 4u);
        sum1 = sum1 + sum_near9;
        float sum_near10 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 4u);
        sum2 = sum2 + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 4u);
        sum3 = sum3 + sum_near11;
    }
    if (8u < near) {
        float sum_near8 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 8u);
        sum = sum + sum_near8;
        float sum_near9 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 8u);
        sum1 = sum1 + sum_near9;
        float sum_near10 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 8u);
        sum2 = sum2 + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 8u);
        sum3 = sum3 + sum_near11;
    }
    if (16u < near) {
        float sum_near8 = WaveReadLaneAt(sum, WaveGetLaneIndex() ^ 16u);
        sum = sum + sum_near8;
        float sum_near9 = WaveReadLaneAt(sum1, WaveGetLaneIndex() ^ 16u);
        sum1 = sum1 + sum_near9;
        float sum_near10 = WaveReadLaneAt(sum2, WaveGetLaneIndex() ^ 16u);
        sum2 = sum2 + sum_near10;
        float sum_near11 = WaveReadLaneAt(sum3, WaveGetLaneIndex() ^ 16u);
        sum3 = sum3 + sum_near11;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = sum;
        fold[near_group + 16u] = sum1;
        fold[near_group + 32u] = sum2;
        fold[near_group + 48u] = sum3;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 32u / near;
    uint first = lane / 32u * near_groups;
    sum = 0.0f;
    sum1 = 0.0f;
    sum2 = 0.0f;
    sum3 = 0.0f;
    for (uint other = 0u; other < near_groups; other++) {
        sum = sum + fold[first + other];
        sum1 = sum1 + fold[first + other + 16u];
        sum2 = sum2 + fold[first + other + 32u];
        sum3 = sum3 + fold[first + other + 48u];
    }
    if (lane % 32u == 0u) {
        y.Store((t_group * 896u + r) * 4u, asuint(sum));
        y.Store((t_group * 896u + r + 1u) * 4u, asuint(sum1));
        y.Store((t_group * 896u + r + 2u) * 4u, asuint(sum2));
        y.Store((t_group * 896u + r + 3u) * 4u, asuint(sum3));
    }
}
