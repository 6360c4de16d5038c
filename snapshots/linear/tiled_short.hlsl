// kernel linear, shape K = 896, R = 896, T <= 64, schedule tiled_short, target webgpu-subgroups
// schedule tiled_short for linear {
//     workgroup 128;
//     t: grid, unroll(2), lanes(8);
//     r: grid, unroll(4), lanes(16);
//     k: serial as ko, serial(16);
//     stage w at ko: workgroup;
//     stage x at ko: workgroup;
// }
// dispatch ceil(T / 16) * 14 workgroups of 128 invocations
// cost
//     workgroup memory: 5440 bytes
//     accumulator registers: 8
//     barriers: 112
//     loads an invocation: 168
//     bytes loaded an invocation: 2688
//     stores an invocation: 8
//     flop an invocation: 14336
//     flop a byte: 5.27
//     rounds of all loops: 952

struct Params {
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float w_tile[1088];
groupshared float x_tile[272];

[numthreads(128, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint t = t_group * 16u + lane / 16u;
    uint r = r_group * 64u + lane % 16u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    precise float sum4 = 0.0f;
    precise float sum5 = 0.0f;
    precise float sum6 = 0.0f;
    precise float sum7 = 0.0f;
    for (uint ko = 0u; ko < 56u; ko++) {
        GroupMemoryBarrierWithGroupSync();
        float4 w4 = asfloat(w.Load4(((r_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u) * 16u));
        float4 w4_1 = asfloat(w.Load4(((r_group * 64u + lane / 4u + 32u) * 224u + ko * 4u + lane % 4u) * 16u));
        w_tile[lane / 4u * 17u + lane % 4u * 4u] = w4.x;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = w4.y;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = w4.z;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = w4.w;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u] = w4_1.x;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u + 1u] = w4_1.y;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u + 2u] = w4_1.z;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u + 3u] = w4_1.w;
        if (lane < 64u) {
            float4 x4 = asfloat(x.Load4((min(t_group * 16u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u) * 16u));
            x_tile[lane / 4u * 17u + lane % 4u * 4u] = x4.x;
            x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x4.y;
            x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x4.z;
            x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x4.w;
        }
        GroupMemoryBarrierWithGroupSync();
        for (uint k_step = 0u; k_step < 16u; k_step++) {
            float held = w_tile[lane % 16u * 17u + k_step];
            float held1 = x_tile[lane / 16u * 17u + k_step];
            float held2 = w_tile[(lane % 16u + 16u) * 17u + k_step];
            float held3 = w_tile[(lane % 16u + 32u) * 17u + k_step];
            float held4 = w_tile[(lane % 16u + 48u) * 17u + k_step];
            float held5 = x_tile[(lane / 16u + 8u) * 17u + k_step];
            sum = mad(held, held1, sum);
            sum1 = mad(held2, held1, sum1);
            sum2 = mad(held3, held1, sum2);
            sum3 = mad(held4, held1, sum3);
            sum4 = mad(held, held5, sum4);
            sum5 = mad(held2, held5, sum5);
            sum6 = mad(held3, held5, sum6);
            sum7 = mad(held4, held5, sum7);
        }
    }
    uint t_in = min(t, params.T - 1u);
    uint t_in1 = min(t + 8u, params.T - 1u);
    if (t < params.T) {
        y.Store((t_in * 896u + r) * 4u, asuint(sum));
        y.Store((t_in * 896u + r + 16u) * 4u, asuint(sum1));
        y.Store((t_in * 896u + r + 32u) * 4u, asuint(sum2));
        y.Store((t_in * 896u + r + 48u) * 4u, asuint(sum3));
    }
    if (t + 8u < params.T) {
        y.Store((t_in1 * 896u + r) * 4u, asuint(sum4));
        y.Store((t_in1 * 896u + r + 16u) * 4u, asuint(sum5));
        y.Store((t_in1 * 896u + r + 32u) * 4u, asuint(sum6));
        y.Store((t_in1 * 896u + r + 48u) * 4u, asuint(sum7));
    }
}
