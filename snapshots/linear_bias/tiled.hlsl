// kernel linear_bias, shape K = 896, R = 896, T <= 64, schedule tiled, target webgpu-subgroups
// schedule tiled for linear_bias {
//     workgroup 256;
//     t: grid, unroll(4), lanes(16);
//     r: grid, unroll(4), lanes(16);
//     linear.k: serial as ko, serial(16);
//     stage linear.w at ko: workgroup;
//     stage linear.x at ko: workgroup;
// }
// dispatch ceil(T / 64) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 8704 bytes
//     accumulator registers: 16
//     barriers: 112
//     loads an invocation: 116
//     bytes loaded an invocation: 1808
//     stores an invocation: 16
//     flop an invocation: 28688
//     flop a byte: 15.32
//     rounds of all loops: 952

struct Params {
    uint T;
};

ByteAddressBuffer b : register(t0);
ByteAddressBuffer linear_w : register(t1);
ByteAddressBuffer linear_x : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float linear_w_tile[1088];
groupshared float linear_x_tile[1088];

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
        float4 linear_w4 = asfloat(linear_w.Load4(((r_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u) * 16u));
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u] = linear_w4.x;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = linear_w4.y;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = linear_w4.z;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = linear_w4.w;
        float4 linear_x4 = asfloat(linear_x.Load4((min(t_group * 64u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u) * 16u));
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u] = linear_x4.x;
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = linear_x4.y;
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = linear_x4.z;
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = linear_x4.w;
        GroupMemoryBarrierWithGroupSync();
        for (uint k_step = 0u; k_step < 16u; k_step++) {
            float held = linear_w_tile[lane % 16u * 17u + k_step];
            float held1 = linear_x_tile[lane / 16u * 17u + k_step];
            float held2 = linear_w_tile[(lane % 16u + 16u) * 17u + k_step];
            float held3 = linear_w_tile[(lane % 16u + 32u) * 17u + k_step];
            float held4 = linear_w_tile[(lane % 16u + 48u) * 17u + k_step];
            float held5 = linear_x_tile[(lane / 16u + 16u) * 17u + k_step];
            float held6 = linear_x_tile[(lane / 16u + 32u) * 17u + k_step];
            float held7 = linear_x_tile[(lane / 16u + 48u) * 17u + k_step];
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
    float b_at = asfloat(b.Load(r * 4u));
    uint t_in = min(t, params.T - 1u);
    float b_at1 = asfloat(b.Load((r + 16u) * 4u));
    float b_at2 = asfloat(b.Load((r + 32u) * 4u));
    float b_at3 = asfloat(b.Load((r + 48u) * 4u));
    uint t_in1 = min(t + 16u, params.T - 1u);
    uint t_in2 = min(t + 32u, params.T - 1u);
    uint t_in3 = min(t + 48u, params.T - 1u);
    if (t < params.T) {
        precise float value = sum + b_at;
        y.Store((t_in * 896u + r) * 4u, asuint(value));
        precise float value1 = sum1 + b_at1;
        y.Store((t_in * 896u + r + 16u) * 4u, asuint(value1));
        precise float value2 = sum2 + b_at2;
        y.Store((t_in * 896u + r + 32u) * 4u, asuint(value2));
        precise float value3 = sum3 + b_at3;
        y.Store((t_in * 896u + r + 48u) * 4u, asuint(value3));
    }
    if (t + 16u < params.T) {
        precise float value = sum4 + b_at;
        y.Store((t_in1 * 896u + r) * 4u, asuint(value));
        precise float value1 = sum5 + b_at1;
        y.Store((t_in1 * 896u + r + 16u) * 4u, asuint(value1));
        precise float value2 = sum6 + b_at2;
        y.Store((t_in1 * 896u + r + 32u) * 4u, asuint(value2));
        precise float value3 = sum7 + b_at3;
        y.Store((t_in1 * 896u + r + 48u) * 4u, asuint(value3));
    }
    if (t + 32u < params.T) {
        precise float value = sum8 + b_at;
        y.Store((t_in2 * 896u + r) * 4u, asuint(value));
        precise float value1 = sum9 + b_at1;
        y.Store((t_in2 * 896u + r + 16u) * 4u, asuint(value1));
        precise float value2 = sum10 + b_at2;
        y.Store((t_in2 * 896u + r + 32u) * 4u, asuint(value2));
        precise float value3 = sum11 + b_at3;
        y.Store((t_in2 * 896u + r + 48u) * 4u, asuint(value3));
    }
    if (t + 48u < params.T) {
        precise float value = sum12 + b_at;
        y.Store((t_in3 * 896u + r) * 4u, asuint(value));
        precise float value1 = sum13 + b_at1;
        y.Store((t_in3 * 896u + r + 16u) * 4u, asuint(value1));
        precise float value2 = sum14 + b_at2;
        y.Store((t_in3 * 896u + r + 32u) * 4u, asuint(value2));
        precise float value3 = sum15 + b_at3;
        y.Store((t_in3 * 896u + r + 48u) * 4u, asuint(value3));
    }
}
