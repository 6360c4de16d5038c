// kernel linear, shape K = 896, R = 896, T <= 64, schedule tiled_f16, target webgpu-subgroups
// schedule tiled_f16 for linear {
//     workgroup 256;
//     t: grid, unroll(4), lanes(16);
//     r: grid, unroll(4), lanes(16);
//     k: serial as ko, serial(16);
//     stage w at ko: workgroup;
//     stage x at ko: workgroup;
//     store w: f16;
// }
// dispatch ceil(T / 64) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 8704 bytes
//     accumulator registers: 16
//     barriers: 112
//     loads an invocation: 112
//     bytes loaded an invocation: 1792
//     stores an invocation: 16
//     flop an invocation: 28672
//     flop a byte: 15.45
//     rounds of all loops: 952

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float w_tile[1088];
groupshared float x_tile[1088];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
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
        if (lane < 128u) {
            uint4 w4 = w.Load4(((r_group * 64u + lane / 2u) * 112u + ko * 2u + lane % 2u) * 16u);
            float2 pair = float2(f16tof32(w4.x), f16tof32(w4.x >> 16u));
            float2 pair1 = float2(f16tof32(w4.y), f16tof32(w4.y >> 16u));
            float2 pair2 = float2(f16tof32(w4.z), f16tof32(w4.z >> 16u));
            float2 pair3 = float2(f16tof32(w4.w), f16tof32(w4.w >> 16u));
            w_tile[lane / 2u * 17u + lane % 2u * 8u] = pair.x;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 1u] = pair.y;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 2u] = pair1.x;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 3u] = pair1.y;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 4u] = pair2.x;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 5u] = pair2.y;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 6u] = pair3.x;
            w_tile[lane / 2u * 17u + lane % 2u * 8u + 7u] = pair3.y;
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
