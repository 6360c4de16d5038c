// kernel gated, shape D = 4864, K = 896, T <= 64, schedule tiled_wide, target wide
// schedule tiled_wide for gated {
//     workgroup 256;
//     t: grid, unroll(8), lanes(16);
//     i: grid, unroll(4), lanes(16);
//     k: serial as ko, serial(16);
//     stage gate.w at ko: workgroup;
//     stage up.w at ko: workgroup;
//     stage x at ko: workgroup ahead;
// }
// dispatch ceil(T / 128) * 76 workgroups of 256 invocations
// cost
//     workgroup memory: 17408 bytes
//     accumulator registers: 72
//     barriers: 112
//     loads an invocation: 226
//     bytes loaded an invocation: 3616
//     stores an invocation: 32
//     flop an invocation: 114848
//     flop a byte: 30.68
//     rounds of all loops: 952

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> gate_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> up_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> gate_w_tile: array<f32, 1088>;
var<workgroup> up_w_tile: array<f32, 1088>;
var<workgroup> x_tile: array<f32, 2176>;

@compute @workgroup_size(256)
fn gated(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 76u;
    let t_group = group.x / 76u;
    let t = t_group * 128u + lane / 16u;
    let i = i_group * 64u + lane % 16u;
    var v_sum0 = 0.0;
    var v_sum1 = 0.0;
    var v_sum0_1 = 0.0;
    var v_sum1_1 = 0.0;
    var v_sum0_2 = 0.0;
    var v_sum1_2 = 0.0;
    var v_sum0_3 = 0.0;
    var v_sum1_3 = 0.0;
    var v_sum0_4 = 0.0;
    var v_sum1_4 = 0.0;
    var v_sum0_5 = 0.0;
    var v_sum1_5 = 0.0;
    var v_sum0_6 = 0.0;
    var v_sum1_6 = 0.0;
    var v_sum0_7 = 0.0;
    var v_sum1_7 = 0.0;
    var v_sum0_8 = 0.0;
    var v_sum1_8 = 0.0;
    var v_sum0_9 = 0.0;
    var v_sum1_9 = 0.0;
    var v_sum0_10 = 0.0;
    var v_sum1_10 = 0.0;
    var v_sum0_11 = 0.0;
    var v_sum1_11 = 0.0;
    var v_sum0_12 = 0.0;
    var v_sum1_12 = 0.0;
    var v_sum0_13 = 0.0;
    var v_sum1_13 = 0.0;
    var v_sum0_14 = 0.0;
    var v_sum1_14 = 0.0;
    var v_sum0_15 = 0.0;
    var v_sum1_15 = 0.0;
    var v_sum0_16 = 0.0;
    var v_sum1_16 = 0.0;
    var v_sum0_17 = 0.0;
    var v_sum1_17 = 0.0;
    var v_sum0_18 = 0.0;
    var v_sum1_18 = 0.0;
    var v_sum0_19 = 0.0;
    var v_sum1_19 = 0.0;
    var v_sum0_20 = 0.0;
    var v_sum1_20 = 0.0;
    var v_sum0_21 = 0.0;
    var v_sum1_21 = 0.0;
    var v_sum0_22 = 0.0;
    var v_sum1_22 = 0.0;
    var v_sum0_23 = 0.0;
    var v_sum1_23 = 0.0;
    var v_sum0_24 = 0.0;
    var v_sum1_24 = 0.0;
    var v_sum0_25 = 0.0;
    var v_sum1_25 = 0.0;
    var v_sum0_26 = 0.0;
    var v_sum1_26 = 0.0;
    var v_sum0_27 = 0.0;
    var v_sum1_27 = 0.0;
    var v_sum0_28 = 0.0;
    var v_sum1_28 = 0.0;
    var v_sum0_29 = 0.0;
    var v_sum1_29 = 0.0;
    var v_sum0_30 = 0.0;
    var v_sum1_30 = 0.0;
    var v_sum0_31 = 0.0;
    var v_sum1_31 = 0.0;
    var x_next = x[min(t_group * 128u + lane / 4u, 63u) * 224u + lane % 4u];
    var x_next1 = x[min(t_group * 128u + lane / 4u + 64u, 63u) * 224u + lane % 4u];
    for (var ko = 0u; ko < 56u; ko++) {
        workgroupBarrier();
        let gate_w4 = gate_w[(i_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u];
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u] = gate_w4.x;
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = gate_w4.y;
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = gate_w4.z;
        gate_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = gate_w4.w;
        let up_w4 = up_w[(i_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u];
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u] = up_w4.x;
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = up_w4.y;
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = up_w4.z;
        up_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = up_w4.w;
        x_tile[lane / 4u * 17u + lane % 4u * 4u] = x_next.x;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x_next.y;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x_next.z;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x_next.w;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u] = x_next1.x;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 1u] = x_next1.y;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 2u] = x_next1.z;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 3u] = x_next1.w;
        workgroupBarrier();
        if ko + 1u < 56u {
            x_next = x[min(t_group * 128u + lane / 4u, 63u) * 224u + (ko + 1u) * 4u + lane % 4u];
            x_next1 = x[min(t_group * 128u + lane / 4u + 64u, 63u) * 224u + (ko + 1u) * 4u + lane % 4u];
        }
        for (var k_step = 0u; k_step < 16u; k_step++) {
            let held = gate_w_tile[lane % 16u * 17u + k_step];
            let held1 = x_tile[lane / 16u * 17u + k_step];
            let held2 = up_w_tile[lane % 16u * 17u + k_step];
            let held3 = gate_w_tile[(lane % 16u + 16u) * 17u + k_step];
            let held4 = up_w_tile[(lane % 16u + 16u) * 17u + k_step];
            let held5 = gate_w_tile[(lane % 16u + 32u) * 17u + k_step];
            let held6 = up_w_tile[(lane % 16u + 32u) * 17u + k_step];
            let held7 = gate_w_tile[(lane % 16u + 48u) * 17u + k_step];
            let held8 = up_w_tile[(lane % 16u + 48u) * 17u + k_step];
            let held9 = x_tile[(lane / 16u + 16u) * 17u + k_step];
            let held10 = x_tile[(lane / 16u + 32u) * 17u + k_step];
            let held11 = x_tile[(lane / 16u + 48u) * 17u + k_step];
            let held12 = x_tile[(lane / 16u + 64u) * 17u + k_step];
            let held13 = x_tile[(lane / 16u + 80u) * 17u + k_step];
            let held14 = x_tile[(lane / 16u + 96u) * 17u + k_step];
            let held15 = x_tile[(lane / 16u + 112u) * 17u + k_step];
            v_sum0 = fma(held, held1, v_sum0);
            v_sum1 = fma(held2, held1, v_sum1);
            v_sum0_1 = fma(held3, held1, v_sum0_1);
            v_sum1_1 = fma(held4, held1, v_sum1_1);
            v_sum0_2 = fma(held5, held1, v_sum0_2);
            v_sum1_2 = fma(held6, held1, v_sum1_2);
            v_sum0_3 = fma(held7, held1, v_sum0_3);
            v_sum1_3 = fma(held8, held1, v_sum1_3);
            v_sum0_4 = fma(held, held9, v_sum0_4);
            v_sum1_4 = fma(held2, held9, v_sum1_4);
            v_sum0_5 = fma(held3, held9, v_sum0_5);
            v_sum1_5 = fma(held4, held9, v_sum1_5);
            v_sum0_6 = fma(held5, held9, v_sum0_6);
            v_sum1_6 = fma(held6, held9, v_sum1_6);
            v_sum0_7 = fma(held7, held9, v_sum0_7);
            v_sum1_7 = fma(held8, held9, v_sum1_7);
            v_sum0_8 = fma(held, held10, v_sum0_8);
            v_sum1_8 = fma(held2, held10, v_sum1_8);
            v_sum0_9 = fma(held3, held10, v_sum0_9);
            v_sum1_9 = fma(held4, held10, v_sum1_9);
            v_sum0_10 = fma(held5, held10, v_sum0_10);
            v_sum1_10 = fma(held6, held10, v_sum1_10);
            v_sum0_11 = fma(held7, held10, v_sum0_11);
            v_sum1_11 = fma(held8, held10, v_sum1_11);
            v_sum0_12 = fma(held, held11, v_sum0_12);
            v_sum1_12 = fma(held2, held11, v_sum1_12);
            v_sum0_13 = fma(held3, held11, v_sum0_13);
            v_sum1_13 = fma(held4, held11, v_sum1_13);
            v_sum0_14 = fma(held5, held11, v_sum0_14);
            v_sum1_14 = fma(held6, held11, v_sum1_14);
            v_sum0_15 = fma(held7, held11, v_sum0_15);
            v_sum1_15 = fma(held8, held11, v_sum1_15);
            v_sum0_16 = fma(held, held12, v_sum0_16);
            v_sum1_16 = fma(held2, held12, v_sum1_16);
            v_sum0_17 = fma(held3, held12, v_sum0_17);
            v_sum1_17 = fma(held4, held12, v_sum1_17);
            v_sum0_18 = fma(held5, held12, v_sum0_18);
            v_sum1_18 = fma(held6, held12, v_sum1_18);
            v_sum0_19 = fma(held7, held12, v_sum0_19);
            v_sum1_19 = fma(held8, held12, v_sum1_19);
            v_sum0_20 = fma(held, held13, v_sum0_20);
            v_sum1_20 = fma(held2, held13, v_sum1_20);
            v_sum0_21 = fma(held3, held13, v_sum0_21);
            v_sum1_21 = fma(held4, held13, v_sum1_21);
            v_sum0_22 = fma(held5, held13, v_sum0_22);
            v_sum1_22 = fma(held6, held13, v_sum1_22);
            v_sum0_23 = fma(held7, held13, v_sum0_23);
            v_sum1_23 = fma(held8, held13, v_sum1_23);
            v_sum0_24 = fma(held, held14, v_sum0_24);
            v_sum1_24 = fma(held2, held14, v_sum1_24);
            v_sum0_25 = fma(held3, held14, v_sum0_25);
            v_sum1_25 = fma(held4, held14, v_sum1_25);
            v_sum0_26 = fma(held5, held14, v_sum0_26);
            v_sum1_26 = fma(held6, held14, v_sum1_26);
            v_sum0_27 = fma(held7, held14, v_sum0_27);
            v_sum1_27 = fma(held8, held14, v_sum1_27);
            v_sum0_28 = fma(held, held15, v_sum0_28);
            v_sum1_28 = fma(held2, held15, v_sum1_28);
            v_sum0_29 = fma(held3, held15, v_sum0_29);
            v_sum1_29 = fma(held4, held15, v_sum1_29);
            v_sum0_30 = fma(held5, held15, v_sum0_30);
            v_sum1_30 = fma(held6, held15, v_sum1_30);
            v_sum0_31 = fma(held7, held15, v_sum0_31);
            v_sum1_31 = fma(held8, held15, v_sum1_31);
        }
    }
    let silu_e = exp(-abs(v_sum0));
    let silu_s = select(1.0, silu_e, v_sum0 < 0.0) / (1.0 + silu_e);
    let silu_e1 = exp(-abs(v_sum0_1));
    let silu_s1 = select(1.0, silu_e1, v_sum0_1 < 0.0) / (1.0 + silu_e1);
    let silu_e2 = exp(-abs(v_sum0_2));
    let silu_s2 = select(1.0, silu_e2, v_sum0_2 < 0.0) / (1.0 + silu_e2);
    let silu_e3 = exp(-abs(v_sum0_3));
    let silu_s3 = select(1.0, silu_e3, v_sum0_3 < 0.0) / (1.0 + silu_e3);
    let silu_e4 = exp(-abs(v_sum0_4));
    let silu_s4 = select(1.0, silu_e4, v_sum0_4 < 0.0) / (1.0 + silu_e4);
    let silu_e5 = exp(-abs(v_sum0_5));
    let silu_s5 = select(1.0, silu_e5, v_sum0_5 < 0.0) / (1.0 + silu_e5);
    let silu_e6 = exp(-abs(v_sum0_6));
    let silu_s6 = select(1.0, silu_e6, v_sum0_6 < 0.0) / (1.0 + silu_e6);
    let silu_e7 = exp(-abs(v_sum0_7));
    let silu_s7 = select(1.0, silu_e7, v_sum0_7 < 0.0) / (1.0 + silu_e7);
    let silu_e8 = exp(-abs(v_sum0_8));
    let silu_s8 = select(1.0, silu_e8, v_sum0_8 < 0.0) / (1.0 + silu_e8);
    let silu_e9 = exp(-abs(v_sum0_9));
    let silu_s9 = select(1.0, silu_e9, v_sum0_9 < 0.0) / (1.0 + silu_e9);
    let silu_e10 = exp(-abs(v_sum0_10));
    let silu_s10 = select(1.0, silu_e10, v_sum0_10 < 0.0) / (1.0 + silu_e10);
    let silu_e11 = exp(-abs(v_sum0_11));
    let silu_s11 = select(1.0, silu_e11, v_sum0_11 < 0.0) / (1.0 + silu_e11);
    let silu_e12 = exp(-abs(v_sum0_12));
    let silu_s12 = select(1.0, silu_e12, v_sum0_12 < 0.0) / (1.0 + silu_e12);
    let silu_e13 = exp(-abs(v_sum0_13));
    let silu_s13 = select(1.0, silu_e13, v_sum0_13 < 0.0) / (1.0 + silu_e13);
    let silu_e14 = exp(-abs(v_sum0_14));
    let silu_s14 = select(1.0, silu_e14, v_sum0_14 < 0.0) / (1.0 + silu_e14);
    let silu_e15 = exp(-abs(v_sum0_15));
    let silu_s15 = select(1.0, silu_e15, v_sum0_15 < 0.0) / (1.0 + silu_e15);
    let silu_e16 = exp(-abs(v_sum0_16));
    let silu_s16 = select(1.0, silu_e16, v_sum0_16 < 0.0) / (1.0 + silu_e16);
    let silu_e17 = exp(-abs(v_sum0_17));
    let silu_s17 = select(1.0, silu_e17, v_sum0_17 < 0.0) / (1.0 + silu_e17);
    let silu_e18 = exp(-abs(v_sum0_18));
    let silu_s18 = select(1.0, silu_e18, v_sum0_18 < 0.0) / (1.0 + silu_e18);
    let silu_e19 = exp(-abs(v_sum0_19));
    let silu_s19 = select(1.0, silu_e19, v_sum0_19 < 0.0) / (1.0 + silu_e19);
    let silu_e20 = exp(-abs(v_sum0_20));
    let silu_s20 = select(1.0, silu_e20, v_sum0_20 < 0.0) / (1.0 + silu_e20);
    let silu_e21 = exp(-abs(v_sum0_21));
    let silu_s21 = select(1.0, silu_e21, v_sum0_21 < 0.0) / (1.0 + silu_e21);
    let silu_e22 = exp(-abs(v_sum0_22));
    let silu_s22 = select(1.0, silu_e22, v_sum0_22 < 0.0) / (1.0 + silu_e22);
    let silu_e23 = exp(-abs(v_sum0_23));
    let silu_s23 = select(1.0, silu_e23, v_sum0_23 < 0.0) / (1.0 + silu_e23);
    let silu_e24 = exp(-abs(v_sum0_24));
    let silu_s24 = select(1.0, silu_e24, v_sum0_24 < 0.0) / (1.0 + silu_e24);
    let silu_e25 = exp(-abs(v_sum0_25));
    let silu_s25 = select(1.0, silu_e25, v_sum0_25 < 0.0) / (1.0 + silu_e25);
    let silu_e26 = exp(-abs(v_sum0_26));
    let silu_s26 = select(1.0, silu_e26, v_sum0_26 < 0.0) / (1.0 + silu_e26);
    let silu_e27 = exp(-abs(v_sum0_27));
    let silu_s27 = select(1.0, silu_e27, v_sum0_27 < 0.0) / (1.0 + silu_e27);
    let silu_e28 = exp(-abs(v_sum0_28));
    let silu_s28 = select(1.0, silu_e28, v_sum0_28 < 0.0) / (1.0 + silu_e28);
    let silu_e29 = exp(-abs(v_sum0_29));
    let silu_s29 = select(1.0, silu_e29, v_sum0_29 < 0.0) / (1.0 + silu_e29);
    let silu_e30 = exp(-abs(v_sum0_30));
    let silu_s30 = select(1.0, silu_e30, v_sum0_30 < 0.0) / (1.0 + silu_e30);
    let silu_e31 = exp(-abs(v_sum0_31));
    let silu_s31 = select(1.0, silu_e31, v_sum0_31 < 0.0) / (1.0 + silu_e31);
    let t_in = min(t, params.T - 1u);
    let t_in1 = min(t + 16u, params.T - 1u);
    let t_in2 = min(t + 32u, params.T - 1u);
    let t_in3 = min(t + 48u, params.T - 1u);
    let t_in4 = min(t + 64u, params.T - 1u);
    let t_in5 = min(t + 80u, params.T - 1u);
    let t_in6 = min(t + 96u, params.T - 1u);
    let t_in7 = min(t + 112u, params.T - 1u);
    if t < params.T {
        y[t_in * 4864u + i] = v_sum0 * silu_s * v_sum1;
        y[t_in * 4864u + i + 16u] = v_sum0_1 * silu_s1 * v_sum1_1;
        y[t_in * 4864u + i + 32u] = v_sum0_2 * silu_s2 * v_sum1_2;
        y[t_in * 4864u + i + 48u] = v_sum0_3 * silu_s3 * v_sum1_3;
    }
    if t + 16u < params.T {
        y[t_in1 * 4864u + i] = v_sum0_4 * silu_s4 * v_sum1_4;
        y[t_in1 * 4864u + i + 16u] = v_sum0_5 * silu_s5 * v_sum1_5;
        y[t_in1 * 4864u + i + 32u] = v_sum0_6 * silu_s6 * v_sum1_6;
        y[t_in1 * 4864u + i + 48u] = v_sum0_7 * silu_s7 * v_sum1_7;
    }
    if t + 32u < params.T {
        y[t_in2 * 4864u + i] = v_sum0_8 * silu_s8 * v_sum1_8;
        y[t_in2 * 4864u + i + 16u] = v_sum0_9 * silu_s9 * v_sum1_9;
        y[t_in2 * 4864u + i + 32u] = v_sum0_10 * silu_s10 * v_sum1_10;
        y[t_in2 * 4864u + i + 48u] = v_sum0_11 * silu_s11 * v_sum1_11;
    }
    if t + 48u < params.T {
        y[t_in3 * 4864u + i] = v_sum0_12 * silu_s12 * v_sum1_12;
        y[t_in3 * 4864u + i + 16u] = v_sum0_13 * silu_s13 * v_sum1_13;
        y[t_in3 * 4864u + i + 32u] = v_sum0_14 * silu_s14 * v_sum1_14;
        y[t_in3 * 4864u + i + 48u] = v_sum0_15 * silu_s15 * v_sum1_15;
    }
    if t + 64u < params.T {
        y[t_in4 * 4864u + i] = v_sum0_16 * silu_s16 * v_sum1_16;
        y[t_in4 * 4864u + i + 16u] = v_sum0_17 * silu_s17 * v_sum1_17;
        y[t_in4 * 4864u + i + 32u] = v_sum0_18 * silu_s18 * v_sum1_18;
        y[t_in4 * 4864u + i + 48u] = v_sum0_19 * silu_s19 * v_sum1_19;
    }
    if t + 80u < params.T {
        y[t_in5 * 4864u + i] = v_sum0_20 * silu_s20 * v_sum1_20;
        y[t_in5 * 4864u + i + 16u] = v_sum0_21 * silu_s21 * v_sum1_21;
        y[t_in5 * 4864u + i + 32u] = v_sum0_22 * silu_s22 * v_sum1_22;
        y[t_in5 * 4864u + i + 48u] = v_sum0_23 * silu_s23 * v_sum1_23;
    }
    if t + 96u < params.T {
        y[t_in6 * 4864u + i] = v_sum0_24 * silu_s24 * v_sum1_24;
        y[t_in6 * 4864u + i + 16u] = v_sum0_25 * silu_s25 * v_sum1_25;
        y[t_in6 * 4864u + i + 32u] = v_sum0_26 * silu_s26 * v_sum1_26;
        y[t_in6 * 4864u + i + 48u] = v_sum0_27 * silu_s27 * v_sum1_27;
    }
    if t + 112u < params.T {
        y[t_in7 * 4864u + i] = v_sum0_28 * silu_s28 * v_sum1_28;
        y[t_in7 * 4864u + i + 16u] = v_sum0_29 * silu_s29 * v_sum1_29;
        y[t_in7 * 4864u + i + 32u] = v_sum0_30 * silu_s30 * v_sum1_30;
        y[t_in7 * 4864u + i + 48u] = v_sum0_31 * silu_s31 * v_sum1_31;
    }
}
