// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule coalesced, target webgpu-subgroups
// schedule coalesced for norm_linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     norm.j: serial, lanes(64), vector(4);
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 1280 bytes
//     accumulator registers: 5
//     barriers: 12
//     loads an invocation: 52
//     bytes loaded an invocation: 832
//     stores an invocation: 4
//     flop an invocation: 381
//     flop a byte: 0.45
//     rounds of all loops: 8

struct Params {
    uint T;
    float norm_eps;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer norm_x : register(t1);
ByteAddressBuffer norm_w : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];
groupshared float fold1[256];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 112u;
    uint t_group = group.x / 112u;
    precise float s = 0.0f;
    for (uint j = lane * 4u; j < 896u; j += 256u) {
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + j / 4u) * 16u));
        s = mad(norm_x4.x, norm_x4.x, s);
        s = mad(norm_x4.y, norm_x4.y, s);
        s = mad(norm_x4.z, norm_x4.z, s);
        s = mad(norm_x4.w, norm_x4.w, s);
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
    precise float norm_scale = rsqrt(s / 896.0f + params.norm_eps);
    uint r = r_group * 8u + lane / 32u * 4u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    for (uint k = lane % 32u * 8u; k < 896u; k += 256u) {
        float4 w4 = asfloat(w.Load4((r * 224u + k / 4u) * 16u));
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + k / 4u) * 16u));
        precise float v = norm_x4.x * norm_scale;
        float4 norm_w4 = asfloat(norm_w.Load4(k / 4u * 16u));
        precise float v1 = v * norm_w4.x;
        float4 w4_1 = asfloat(w.Load4(((r + 1u) * 224u + k / 4u) * 16u));
        float4 w4_2 = asfloat(w.Load4(((r + 2u) * 224u + k / 4u) * 16u));
        float4 w4_3 = asfloat(w.Load4(((r + 3u) * 224u + k / 4u) * 16u));
        precise float v2 = norm_x4.y * norm_scale;
        precise float v3 = v2 * norm_w4.y;
        precise float v4 = norm_x4.z * norm_scale;
        precise float v5 = v4 * norm_w4.z;
        precise float v6 = norm_x4.w * norm_scale;
        precise float v7 = v6 * norm_w4.w;
        float4 w4_4 = asfloat(w.Load4((r * 224u + k / 4u + 1u) * 16u));
        float4 norm_x4_1 = asfloat(norm_x.Load4((t_group * 224u + k / 4u + 1u) * 16u));
        precise float v8 = norm_x4_1.x * norm_scale;
        float4 norm_w4_1 = asfloat(norm_w.Load4((k / 4u + 1u) * 16u));
        precise float v9 = v8 * norm_w4_1.x;
        float4 w4_5 = asfloat(w.Load4(((r + 1u) * 224u + k / 4u + 1u) * 16u));
        float4 w4_6 = asfloat(w.Load4(((r + 2u) * 224u + k / 4u + 1u) * 16u));
        float4 w4_7 = asfloat(w.Load4(((r + 3u) * 224u + k / 4u + 1u) * 16u));
        precise float v10 = norm_x4_1.y * norm_scale;
        precise float v11 = v10 * norm_w4_1.y;
        precise float v12 = norm_x4_1.z * norm_scale;
        precise float v13 = v12 * norm_w4_1.z;
        precise float v14 = norm_x4_1.w * norm_scale;
        precise float v15 = v14 * norm_w4_1.w;
        sum = mad(w4.x, v1, sum);
        sum1 = mad(w4_1.x, v1, sum1);
        sum2 = mad(w4_2.x, v1, sum2);
        sum3 = mad(w4_3.x, v1, sum3);
        sum = mad(w4.y, v3, sum);
        sum1 = mad(w4_1.y, v3, sum1);
        sum2 = mad(w4_2.y, v3, sum2);
        sum3 = mad(w4_3.y, v3, sum3);
        sum = mad(w4.z, v5, sum);
        sum1 = mad(w4_1.z, v5, sum1);
        sum2 = mad(w4_2.z, v5, sum2);
        sum3 = mad(w4_3.z, v5, sum3);
        sum = mad(w4.w, v7, sum);
        sum1 = mad(w4_1.w, v7, sum1);
        sum2 = mad(w4_2.w, v7, sum2);
        sum3 = mad(w4_3.w, v7, sum3);
        sum = mad(w4_4.x, v9, sum);
        sum1 = mad(w4_5.x, v9, sum1);
        sum2 = mad(w4_6.x, v9, sum2);
        sum3 = mad(w4_7.x, v9, sum3);
        sum = mad(w4_4.y, v11, sum);
        sum1 = mad(w4_5.y, v11, sum1);
        sum2 = mad(w4_6.y, v11, sum2);
        sum3 = mad(w4_7.y, v11, sum3);
        sum = mad(w4_4.z, v13, sum);
        sum1 = mad(w4_5.z, v13, sum1);
        sum2 = mad(w4_6.z, v13, sum2);
        sum3 = mad(w4_7.z, v13, sum3);
        sum = mad(w4_4.w, v15, sum);
        sum1 = mad(w4_5.w, v15, sum1);
        sum2 = mad(w4_6.w, v15, sum2);
        sum3 = mad(w4_7.w, v15, sum3);
    }
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
    }
    if (lane % 32u == 0u) {
        y.Store((t_group * 896u + r) * 4u, asuint(sum));
        y.Store((t_group * 896u + r + 1u) * 4u, asuint(sum1));
        y.Store((t_group * 896u + r + 2u) * 4u, asuint(sum2));
        y.Store((t_group * 896u + r + 3u) * 4u, asuint(sum3));
    }
}
