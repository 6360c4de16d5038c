// kernel linear, shape K = 896, R = 896, T <= 64, schedule tiled_nf4, target webgpu-subgroups
// schedule tiled_nf4 for linear {
//     workgroup 256;
//     t: grid, unroll(4), lanes(16);
//     r: grid, unroll(4), lanes(16);
//     k: serial as ko, serial(16);
//     stage w at ko: workgroup;
//     stage x at ko: workgroup;
//     store w: nf4(64);
// }
// dispatch ceil(T / 64) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 10752 bytes
//     accumulator registers: 16
//     barriers: 113
//     loads an invocation: 168
//     bytes loaded an invocation: 1568
//     stores an invocation: 16
//     flop an invocation: 29568
//     flop a byte: 18.12
//     rounds of all loops: 952

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float levels[512];
groupshared float w_tile[1088];
groupshared float x_tile[1088];

[numthreads(256, 1, 1)]
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
    uint r_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint t = t_group * 64u + lane / 16u;
    uint r = r_group * 64u + lane % 16u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    precise float sum4 = 0.0f;
    precise float sum5 = 0.0f;
    precise float sum6 = 0.0f;
    precise float sum7 = 0.0f;
    precise float sum8 = 0.0f;
    precise float sum9 = 0.0f;
    precise float sum10 = 0.0f;
    precise float sum11 = 0.0f;
    precise float sum12 = 0.0f;
    precise float sum13 = 0.0f;
    precise float sum14 = 0.0f;
    precise float sum15 = 0.0f;
    for (uint ko = 0u; ko < 56u; ko++) {
        GroupMemoryBarrierWithGroupSync();
        if (lane < 64u) {
            float w_scale = asfloat(w.Load(((r_group * 64u + lane) * 128u + ko * 16u / 64u + 112u) * 4u));
            uint2 w2 = w.Load2(((r_group * 64u + lane) * 64u + ko) * 8u);
            float code = levels[((w2.x << 5u) & 480u) | copy];
            float code1 = levels[((w2.x << 1u) & 480u) | copy];
            float code2 = levels[((w2.x >> 3u) & 480u) | copy];
            float code3 = levels[((w2.x >> 7u) & 480u) | copy];
            float code4 = levels[((w2.x >> 11u) & 480u) | copy];
            float code5 = levels[((w2.x >> 15u) & 480u) | copy];
            float code6 = levels[((w2.x >> 19u) & 480u) | copy];
            float code7 = levels[((w2.x >> 23u) & 480u) | copy];
            float code8 = levels[((w2.y << 5u) & 480u) | copy];
            float code9 = levels[((w2.y << 1u) & 480u) | copy];
            float code10 = levels[((w2.y >> 3u) & 480u) | copy];
            float code11 = levels[((w2.y >> 7u) & 480u) | copy];
            float code12 = levels[((w2.y >> 11u) & 480u) | copy];
            float code13 = levels[((w2.y >> 15u) & 480u) | copy];
            float code14 = levels[((w2.y >> 19u) & 480u) | copy];
            float code15 = levels[((w2.y >> 23u) & 480u) | copy];
            precise float value = code * w_scale;
            w_tile[lane * 17u] = value;
            precise float value1 = code1 * w_scale;
            w_tile[lane * 17u + 1u] = value1;
            precise float value2 = code2 * w_scale;
            w_tile[lane * 17u + 2u] = value2;
            precise float value3 = code3 * w_scale;
            w_tile[lane * 17u + 3u] = value3;
            precise float value4 = code4 * w_scale;
            w_tile[lane * 17u + 4u] = value4;
            precise float value5 = code5 * w_scale;
            w_tile[lane * 17u + 5u] = value5;
            precise float value6 = code6 * w_scale;
            w_tile[lane * 17u + 6u] = value6;
            precise float value7 = code7 * w_scale;
            w_tile[lane * 17u + 7u] = value7;
            precise float value8 = code8 * w_scale;
            w_tile[lane * 17u + 8u] = value8;
            precise float value9 = code9 * w_scale;
            w_tile[lane * 17u + 9u] = value9;
            precise float value10 = code10 * w_scale;
            w_tile[lane * 17u + 10u] = value10;
            precise float value11 = code11 * w_scale;
            w_tile[lane * 17u + 11u] = value11;
            precise float value12 = code12 * w_scale;
            w_tile[lane * 17u + 12u] = value12;
            precise float value13 = code13 * w_scale;
            w_tile[lane * 17u + 13u] = value13;
            precise float value14 = code14 * w_scale;
            w_tile[lane * 17u + 14u] = value14;
            precise float value15 = code15 * w_scale;
            w_tile[lane * 17u + 15u] = value15;
        }
        float4 x4 = asfloat(x.Load4((min(t_group * 64u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u) * 16u));
        x_tile[lane / 4u * 17u + lane % 4u * 4u] = x4.x;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x4.y;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x4.z;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x4.w;
        GroupMemoryBarrierWithGroupSync();
        for (uint k_step = 0u; k_step < 16u; k_step++) {
            float held = w_tile[lane % 16u * 17u + k_step];
            float held1 = x_tile[lane / 16u * 17u + k_step];
            float held2 = w_tile[(lane % 16u + 16u) * 17u + k_step];
            float held3 = w_tile[(lane % 16u + 32u) * 17u + k_step];
            float held4 = w_tile[(lane % 16u + 48u) * 17u + k_step];
            float held5 = x_tile[(lane / 16u + 16u) * 17u + k_step];
            float held6 = x_tile[(lane / 16u + 32u) * 17u + k_step];
            float held7 = x_tile[(lane / 16u + 48u) * 17u + k_step];
            sum = mad(held, held1, sum);
            sum1 = mad(held2, held1, sum1);
            sum2 = mad(held3, held1, sum2);
            sum3 = mad(held4, held1, sum3);
            sum4 = mad(held, held5, sum4);
            sum5 = mad(held2, held5, sum5);
            sum6 = mad(held3, held5, sum6);
            sum7 = mad(held4, held5, sum7);
            sum8 = mad(held, held6, sum8);
            sum9 = mad(held2, held6, sum9);
            sum10 = mad(held3, held6, sum10);
            sum11 = mad(held4, held6, sum11);
            sum12 = mad(held, held7, sum12);
            sum13 = mad(held2, held7, sum13);
            sum14 = mad(held3, held7, sum14);
            sum15 = mad(held4, held7, sum15);
        }
    }
    uint t_in = min(t, params.T - 1u);
    uint t_in1 = min(t + 16u, params.T - 1u);
    uint t_in2 = min(t + 32u, params.T - 1u);
    uint t_in3 = min(t + 48u, params.T - 1u);
    if (t < params.T) {
        y.Store((t_in * 896u + r) * 4u, asuint(sum));
        y.Store((t_in * 896u + r + 16u) * 4u, asuint(sum1));
        y.Store((t_in * 896u + r + 32u) * 4u, asuint(sum2));
        y.Store((t_in * 896u + r + 48u) * 4u, asuint(sum3));
    }
    if (t + 16u < params.T) {
        y.Store((t_in1 * 896u + r) * 4u, asuint(sum4));
        y.Store((t_in1 * 896u + r + 16u) * 4u, asuint(sum5));
        y.Store((t_in1 * 896u + r + 32u) * 4u, asuint(sum6));
        y.Store((t_in1 * 896u + r + 48u) * 4u, asuint(sum7));
    }
    if (t + 32u < params.T) {
        y.Store((t_in2 * 896u + r) * 4u, asuint(sum8));
        y.Store((t_in2 * 896u + r + 16u) * 4u, asuint(sum9));
        y.Store((t_in2 * 896u + r + 32u) * 4u, asuint(sum10));
        y.Store((t_in2 * 896u + r + 48u) * 4u, asuint(sum11));
    }
    if (t + 48u < params.T) {
        y.Store((t_in3 * 896u + r) * 4u, asuint(sum12));
        y.Store((t_in3 * 896u + r + 16u) * 4u, asuint(sum13));
        y.Store((t_in3 * 896u + r + 32u) * 4u, asuint(sum14));
        y.Store((t_in3 * 896u + r + 48u) * 4u, asuint(sum15));
    }
}
