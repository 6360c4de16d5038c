// kernel gated, shape D = 4864, K = 896, T <= 64, schedule tiled, target webgpu-subgroups
// schedule tiled for gated {
//     workgroup 256;
//     t: grid, unroll(4), lanes(16);
//     i: grid, unroll(4), lanes(16);
//     k: serial as ko, serial(16);
//     stage gate.w at ko: workgroup;
//     stage up.w at ko: workgroup;
//     stage x at ko: workgroup;
// }
// dispatch ceil(T / 64) * 76 workgroups of 256 invocations
// cost
//     workgroup memory: 13056 bytes
//     accumulator registers: 32
//     barriers: 112
//     loads an invocation: 168
//     bytes loaded an invocation: 2688
//     stores an invocation: 16
//     flop an invocation: 57424
//     flop a byte: 20.87
//     rounds of all loops: 952

struct Params {
    uint T;
};

ByteAddressBuffer gate_w : register(t0);
ByteAddressBuffer x : register(t1);
ByteAddressBuffer up_w : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float gate_w_tile[1088];
groupshared float up_w_tile[1088];
groupshared float x_tile[1088];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint i_group = group.x % 76u;
    uint t_group = group.x / 76u;
    uint t = t_group * 64u + lane / 16u;
    uint i = i_group * 64u + lane % 16u;
    precise float v_sum0 = 0.0f;
    precise float v_sum1 = 0.0f;
    precise float v_sum0_1 = 0.0f;
    precise float v_sum1_1 = 0.0f;
    precise float v_sum0_2 = 0.0f;
    precise float v_sum1_2 = 0.0f;
    precise float v_sum0_3 = 0.0f;
    precise float v_sum1_3 = 0.0f;
    precise float v_sum0_4 = 0.0f;
    precise float v_sum1_4 = 0.0f;
    precise float v_sum0_5 = 0.0f;
    precise float v_sum1_5 = 0.0f;
    precise float v_sum0_6 = 0.0f;
    precise float v_sum1_6 = 0.0f;
    precise float v_sum0_7 = 0.0f;
    precise float v_sum1_7 = 0.0f;
    precise float v_sum0_8 = 0.0f;
    precise float v_sum1_8 = 0.0f;
    precise float v_sum0_9 = 0.0f;
    precise float v_sum1_9 = 0.0f;
    precise float v_sum0_10 = 0.0f;
    precise float v_sum1_10 = 0.0f;
    precise float v_sum0_11 = 0.0f;
    precise float v_sum1_11 = 0.0f;
    precise float v_sum0_12 = 0.0f;
    precise float v_sum1_12 = 0.0f;
    precise float v_sum0_13 = 0.0f;
    precise float v_sum1_13 = 0.0f;
    precise float v_sum0_14 = 0.0f;
    precise float v_sum1_14 = 0.0f;
    precise float v_sum0_15 = 0.0f;
    precise float v_sum1_15 = 0.0f;
    for (uint ko = 0u; ko < 56u; ko++) {
        GroupMemoryBarrierWithGroupSync();
        float4 gate_w4 = asfloat(gate_w.Load4(((i_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u) * 16u));
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u] = gate_w4.x;
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = gate_w4.y;
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = gate_w4.z;
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = gate_w4.w;
        float4 up_w4 = asfloat(up_w.Load4(((i_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u) * 16u));
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u] = up_w4.x;
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = up_w4.y;
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = up_w4.z;
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = up_w4.w;
        float4 x4 = asfloat(x.Load4((min(t_group * 64u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u) * 16u));
        x_tile[lane / 4u * 17u + lane % 4u * 4u] = x4.x;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x4.y;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x4.z;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x4.w;
        GroupMemoryBarrierWithGroupSync();
        for (uint k_step = 0u; k_step < 16u; k_step++) {
            float held = gate_w_tile[lane % 16u * 17u + k_step];
            float held1 = x_tile[lane / 16u * 17u + k_step];
            float held2 = up_w_tile[lane % 16u * 17u + k_step];
            float held3 = gate_w_tile[(lane % 16u + 16u) * 17u + k_step];
            float held4 = up_w_tile[(lane % 16u + 16u) * 17u + k_step];
            float held5 = gate_w_tile[(lane % 16u + 32u) * 17u + k_step];
            float held6 = up_w_tile[(lane % 16u + 32u) * 17u + k_step];
            float held7 = gate_w_tile[(lane % 16u + 48u) * 17u + k_step];
            float held8 = up_w_tile[(lane % 16u + 48u) * 17u + k_step];
            float held9 = x_tile[(lane / 16u + 16u) * 17u + k_step];
            float held10 = x_tile[(lane / 16u + 32u) * 17u + k_step];
            float held11 = x_tile[(lane / 16u + 48u) * 17u + k_step];
            v_sum0 = mad(held, held1, v_sum0);
            v_sum1 = mad(held2, held1, v_sum1);
            v_sum0_1 = mad(held3, held1, v_sum0_1);
            v_sum1_1 = mad(held4, held1, v_sum1_1);
            v_sum0_2 = mad(held5, held1, v_sum0_2);
            v_sum1_2 = mad(held6, held1, v_sum1_2);
            v_sum0_3 = mad(held7, held1, v_sum0_3);
            v_sum1_3 = mad(held8, held1, v_sum1_3);
            v_sum0_4 = mad(held, held9, v_sum0_4);
            v_sum1_4 = mad(held2, held9, v_sum1_4);
            v_sum0_5 = mad(held3, held9, v_sum0_5);
            v_sum1_5 = mad(held4, held9, v_sum1_5);
            v_sum0_6 = mad(held5, held9, v_sum0_6);
            v_sum1_6 = mad(held6, held9, v_sum1_6);
            v_sum0_7 = mad(held7, held9, v_sum0_7);
            v_sum1_7 = mad(held8, held9, v_sum1_7);
            v_sum0_8 = mad(held, held10, v_sum0_8);
            v_sum1_8 = mad(held2, held10, v_sum1_8);
            v_sum0_9 = mad(held3, held10, v_sum0_9);
            v_sum1_9 = mad(held4, held10, v_sum1_9);
            v_sum0_10 = mad(held5, held10, v_sum0_10);
            v_sum1_10 = mad(held6, held10, v_sum1_10);
            v_sum0_11 = mad(held7, held10, v_sum0_11);
            v_sum1_11 = mad(held8, held10, v_sum1_11);
            v_sum0_12 = mad(held, held11, v_sum0_12);
            v_sum1_12 = mad(held2, held11, v_sum1_12);
            v_sum0_13 = mad(held3, held11, v_sum0_13);
            v_sum1_13 = mad(held4, held11, v_sum1_13);
            v_sum0_14 = mad(held5, held11, v_sum0_14);
            v_sum1_14 = mad(held6, held11, v_sum1_14);
            v_sum0_15 = mad(held7, held11, v_sum0_15);
            v_sum1_15 = mad(held8, held11, v_sum1_15);
        }
    }
    precise float silu_e = exp(-abs(v_sum0));
    precise float silu_s = (v_sum0 < 0.0f ? silu_e : 1.0f) / (1.0f + silu_e);
    precise float silu_e1 = exp(-abs(v_sum0_1));
    precise float silu_s1 = (v_sum0_1 < 0.0f ? silu_e1 : 1.0f) / (1.0f + silu_e1);
    precise float silu_e2 = exp(-abs(v_sum0_2));
    precise float silu_s2 = (v_sum0_2 < 0.0f ? silu_e2 : 1.0f) / (1.0f + silu_e2);
    precise float silu_e3 = exp(-abs(v_sum0_3));
    precise float silu_s3 = (v_sum0_3 < 0.0f ? silu_e3 : 1.0f) / (1.0f + silu_e3);
    precise float silu_e4 = exp(-abs(v_sum0_4));
    precise float silu_s4 = (v_sum0_4 < 0.0f ? silu_e4 : 1.0f) / (1.0f + silu_e4);
    precise float silu_e5 = exp(-abs(v_sum0_5));
    precise float silu_s5 = (v_sum0_5 < 0.0f ? silu_e5 : 1.0f) / (1.0f + silu_e5);
    precise float silu_e6 = exp(-abs(v_sum0_6));
    precise float silu_s6 = (v_sum0_6 < 0.0f ? silu_e6 : 1.0f) / (1.0f + silu_e6);
    precise float silu_e7 = exp(-abs(v_sum0_7));
    precise float silu_s7 = (v_sum0_7 < 0.0f ? silu_e7 : 1.0f) / (1.0f + silu_e7);
    precise float silu_e8 = exp(-abs(v_sum0_8));
    precise float silu_s8 = (v_sum0_8 < 0.0f ? silu_e8 : 1.0f) / (1.0f + silu_e8);
    precise float silu_e9 = exp(-abs(v_sum0_9));
    precise float silu_s9 = (v_sum0_9 < 0.0f ? silu_e9 : 1.0f) / (1.0f + silu_e9);
    precise float silu_e10 = exp(-abs(v_sum0_10));
    precise float silu_s10 = (v_sum0_10 < 0.0f ? silu_e10 : 1.0f) / (1.0f + silu_e10);
    precise float silu_e11 = exp(-abs(v_sum0_11));
    precise float silu_s11 = (v_sum0_11 < 0.0f ? silu_e11 : 1.0f) / (1.0f + silu_e11);
    precise float silu_e12 = exp(-abs(v_sum0_12));
    precise float silu_s12 = (v_sum0_12 < 0.0f ? silu_e12 : 1.0f) / (1.0f + silu_e12);
    precise float silu_e13 = exp(-abs(v_sum0_13));
    precise float silu_s13 = (v_sum0_13 < 0.0f ? silu_e13 : 1.0f) / (1.0f + silu_e13);
    precise float silu_e14 = exp(-abs(v_sum0_14));
    precise float silu_s14 = (v_sum0_14 < 0.0f ? silu_e14 : 1.0f) / (1.0f + silu_e14);
    precise float silu_e15 = exp(-abs(v_sum0_15));
    precise float silu_s15 = (v_sum0_15 < 0.0f ? silu_e15 : 1.0f) / (1.0f + silu_e15);
    uint t_in = min(t, params.T - 1u);
    uint t_in1 = min(t + 16u, params.T - 1u);
    uint t_in2 = min(t + 32u, params.T - 1u);
    uint t_in3 = min(t + 48u, params.T - 1u);
    if (t < params.T) {
        precise float value = v_sum0 * silu_s * v_sum1;
        y.Store((t_in * 4864u + i) * 4u, asuint(value));
        precise float value1 = v_sum0_1 * silu_s1 * v_sum1_1;
        y.Store((t_in * 4864u + i + 16u) * 4u, asuint(value1));
        precise float value2 = v_sum0_2 * silu_s2 * v_sum1_2;
        y.Store((t_in * 4864u + i + 32u) * 4u, asuint(value2));
        precise float value3 = v_sum0_3 * silu_s3 * v_sum1_3;
        y.Store((t_in * 4864u + i + 48u) * 4u, asuint(value3));
    }
    if (t + 16u < params.T) {
        precise float value = v_sum0_4 * silu_s4 * v_sum1_4;
        y.Store((t_in1 * 4864u + i) * 4u, asuint(value));
        precise float value1 = v_sum0_5 * silu_s5 * v_sum1_5;
        y.Store((t_in1 * 4864u + i + 16u) * 4u, asuint(value1));
        precise float value2 = v_sum0_6 * silu_s6 * v_sum1_6;
        y.Store((t_in1 * 4864u + i + 32u) * 4u, asuint(value2));
        precise float value3 = v_sum0_7 * silu_s7 * v_sum1_7;
        y.Store((t_in1 * 4864u + i + 48u) * 4u, asuint(value3));
    }
    if (t + 32u < params.T) {
        precise float value = v_sum0_8 * silu_s8 * v_sum1_8;
        y.Store((t_in2 * 4864u + i) * 4u, asuint(value));
        precise float value1 = v_sum0_9 * silu_s9 * v_sum1_9;
        y.Store((t_in2 * 4864u + i + 16u) * 4u, asuint(value1));
        precise float value2 = v_sum0_10 * silu_s10 * v_sum1_10;
        y.Store((t_in2 * 4864u + i + 32u) * 4u, asuint(value2));
        precise float value3 = v_sum0_11 * silu_s11 * v_sum1_11;
        y.Store((t_in2 * 4864u + i + 48u) * 4u, asuint(value3));
    }
    if (t + 48u < params.T) {
        precise float value = v_sum0_12 * silu_s12 * v_sum1_12;
        y.Store((t_in3 * 4864u + i) * 4u, asuint(value));
        precise float value1 = v_sum0_13 * silu_s13 * v_sum1_13;
        y.Store((t_in3 * 4864u + i + 16u) * 4u, asuint(value1));
        precise float value2 = v_sum0_14 * silu_s14 * v_sum1_14;
        y.Store((t_in3 * 4864u + i + 32u) * 4u, asuint(value2));
        precise float value3 = v_sum0_15 * silu_s15 * v_sum1_15;
        y.Store((t_in3 * 4864u + i + 48u) * 4u, asuint(value3));
    }
}
