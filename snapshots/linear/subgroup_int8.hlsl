// kernel linear, shape K = 896, R = 896, T <= 64, schedule subgroup_int8, target webgpu-subgroups
// schedule subgroup_int8 for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
//     store w: int8(channel);
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 8
//     barriers: 1
//     loads an invocation: 28
//     bytes loaded an invocation: 272
//     stores an invocation: 4
//     flop an invocation: 440
//     flop a byte: 1.53
//     rounds of all loops: 12

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 112u;
    uint t_group = group.x / 112u;
    uint r = r_group * 8u + lane / 32u * 4u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    float w_scale = asfloat(w.Load((r * 228u + 224u) * 4u));
    float w_scale1 = asfloat(w.Load(((r + 1u) * 228u + 224u) * 4u));
    float w_scale2 = asfloat(w.Load(((r + 2u) * 228u + 224u) * 4u));
    float w_scale3 = asfloat(w.Load(((r + 3u) * 228u + 224u) * 4u));
    for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
        uint2 w2 = w.Load2((r * 114u + k / 8u) * 8u);
        precise float code = asfloat((w2.x & 255u) | 0x4b000000u) - 8388736.0f;
        float4 x4 = asfloat(x.Load4((t_group * 224u + k / 4u) * 16u));
        uint2 w2_1 = w.Load2(((r + 1u) * 114u + k / 8u) * 8u);
        precise float code1 = asfloat((w2_1.x & 255u) | 0x4b000000u) - 8388736.0f;
        uint2 w2_2 = w.Load2(((r + 2u) * 114u + k / 8u) * 8u);
        precise float code2 = asfloat((w2_2.x & 255u) | 0x4b000000u) - 8388736.0f;
        uint2 w2_3 = w.Load2(((r + 3u) * 114u + k / 8u) * 8u);
        precise float code3 = asfloat((w2_3.x & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code4 = asfloat(((w2.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code5 = asfloat(((w2_1.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code6 = asfloat(((w2_2.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code7 = asfloat(((w2_3.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code8 = asfloat(((w2.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code9 = asfloat(((w2_1.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code10 = asfloat(((w2_2.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code11 = asfloat(((w2_3.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code12 = asfloat((w2.x >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code13 = asfloat((w2_1.x >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code14 = asfloat((w2_2.x >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code15 = asfloat((w2_3.x >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code16 = asfloat((w2.y & 255u) | 0x4b000000u) - 8388736.0f;
        float4 x4_1 = asfloat(x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        precise float code17 = asfloat((w2_1.y & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code18 = asfloat((w2_2.y & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code19 = asfloat((w2_3.y & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code20 = asfloat(((w2.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code21 = asfloat(((w2_1.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code22 = asfloat(((w2_2.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code23 = asfloat(((w2_3.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code24 = asfloat(((w2.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code25 = asfloat(((w2_1.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code26 = asfloat(((w2_2.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code27 = asfloat(((w2_3.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0f;
        precise float code28 = asfloat((w2.y >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code29 = asfloat((w2_1.y >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code30 = asfloat((w2_2.y >> 24u) | 0x4b000000u) - 8388736.0f;
        precise float code31 = asfloat((w2_3.y >> 24u) | 0x4b000000u) - 8388736.0f;
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
