// kernel linear_residual, shape D = 896, K = 4864, T <= 64, schedule tiled, target webgpu-subgroups
// schedule tiled for linear_residual {
//     workgroup 256;
//     t: grid, unroll(4), lanes(16);
//     i: grid, unroll(4), lanes(16);
//     linear.k: serial as ko, serial(16);
//     stage linear.w at ko: workgroup;
//     stage linear.x at ko: workgroup;
// }
// dispatch ceil(T / 64) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 8704 bytes
//     accumulator registers: 16
//     barriers: 608
//     loads an invocation: 624
//     bytes loaded an invocation: 9792
//     stores an invocation: 16
//     flop an invocation: 155664
//     flop a byte: 15.79
//     rounds of all loops: 5168

struct Params {
    uint T;
};

ByteAddressBuffer linear_w : register(t0);
ByteAddressBuffer linear_x : register(t1);
RWByteAddressBuffer h : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float linear_w_tile[1088];
groupshared float linear_x_tile[1088];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 14u;
    uint t_group = group.x / 14u;
    uint t = t_group * 64u + lane / 16u;
    uint i = i_group * 64u + lane % 16u;
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
    for (uint ko = 0u; ko < 304u; ko++) {
        GroupMemoryBarrierWithGroupSync();
        float4 linear_w4 = asfloat(linear_w.Load4(((i_group * 64u + lane / 4u) * 1216u + ko * 4u + lane % 4u) * 16u));
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u] = linear_w4.x;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = linear_w4.y;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = linear_w4.z;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = linear_w4.w;
        float4 linear_x4 = asfloat(linear_x.Load4((min(t_group * 64u + lane / 4u, 63u) * 1216u + ko * 4u + lane % 4u) * 16u));
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
    if (t < params.T) {
        float h_at = asfloat(h.Load((t * 896u + i) * 4u));
        precise float value = h_at + sum;
        h.Store((t * 896u + i) * 4u, asuint(value));
        float h_at1 = asfloat(h.Load((t * 896u + i + 16u) * 4u));
        precise float value1 = h_at1 + sum1;
        h.Store((t * 896u + i + 16u) * 4u, asuint(value1));
        float h_at2 = asfloat(h.Load((t * 896u + i + 32u) * 4u));
        precise float value2 = h_at2 + sum2;
        h.Store((t * 896u + i + 32u) * 4u, asuint(value2));
        float h_at3 = asfloat(h.Load((t * 896u + i + 48u) * 4u));
        precise float value3 = h_at3 + sum3;
        h.Store((t * 896u + i + 48u) * 4u, asuint(value3));
    }
    if (t + 16u < params.T) {
        uint t_in = t + 16u;
        float h_at = asfloat(h.Load((t_in * 896u + i) * 4u));
        precise float value = h_at + sum4;
        h.Store((t_in * 896u + i) * 4u, asuint(value));
        uint t_in1 = t + 16u;
        float h_at1 = asfloat(h.Load((t_in1 * 896u + i + 16u) * 4u));
        precise float value1 = h_at1 + sum5;
        h.Store((t_in1 * 896u + i + 16u) * 4u, asuint(value1));
        uint t_in2 = t + 16u;
        float h_at2 = asfloat(h.Load((t_in2 * 896u + i + 32u) * 4u));
        precise float value2 = h_at2 + sum6;
        h.Store((t_in2 * 896u + i + 32u) * 4u, asuint(value2));
        uint t_in3 = t + 16u;
        float h_at3 = asfloat(h.Load((t_in3 * 896u + i + 48u) * 4u));
        precise float value3 = h_at3 + sum7;
        h.Store((t_in3 * 896u + i + 48u) * 4u, asuint(value3));
    }
    if (t + 32u < params.T) {
        uint t_in = t + 32u;
        float h_at = asfloat(h.Load((t_in * 896u + i) * 4u));
        precise float value = h_at + sum8;
        h.Store((t_in * 896u + i) * 4u, asuint(value));
        uint t_in1 = t + 32u;
        float h_at1 = asfloat(h.Load((t_in1 * 896u + i + 16u) * 4u));
        precise float value1 = h_at1 + sum9;
        h.Store((t_in1 * 896u + i + 16u) * 4u, asuint(value1));
        uint t_in2 = t + 32u;
        float h_at2 = asfloat(h.Load((t_in2 * 896u + i + 32u) * 4u));
        precise float value2 = h_at2 + sum10;
        h.Store((t_in2 * 896u + i + 32u) * 4u, asuint(value2));
        uint t_in3 = t + 32u;
        float h_at3 = asfloat(h.Load((t_in3 * 896u + i + 48u) * 4u));
        precise float value3 = h_at3 + sum11;
        h.Store((t_in3 * 896u + i + 48u) * 4u, asuint(value3));
    }
    if (t + 48u < params.T) {
        uint t_in = t + 48u;
        float h_at = asfloat(h.Load((t_in * 896u + i) * 4u));
        precise float value = h_at + sum12;
        h.Store((t_in * 896u + i) * 4u, asuint(value));
        uint t_in1 = t + 48u;
        float h_at1 = asfloat(h.Load((t_in1 * 896u + i + 16u) * 4u));
        precise float value1 = h_at1 + sum13;
        h.Store((t_in1 * 896u + i + 16u) * 4u, asuint(value1));
        uint t_in2 = t + 48u;
        float h_at2 = asfloat(h.Load((t_in2 * 896u + i + 32u) * 4u));
        precise float value2 = h_at2 + sum14;
        h.Store((t_in2 * 896u + i + 32u) * 4u, asuint(value2));
        uint t_in3 = t + 48u;
        float h_at3 = asfloat(h.Load((t_in3 * 896u + i + 48u) * 4u));
        precise float value3 = h_at3 + sum15;
        h.Store((t_in3 * 896u + i + 48u) * 4u, asuint(value3));
    }
}
