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
    T: u32,
}

@group(0) @binding(0) var<storage, read> gate_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> up_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> gate_w_tile: array<f32, 1088>;
var<workgroup> up_w_tile: array<f32, 1088>;
var<workgroup> x_tile: array<f32, 1088>;

@compute @workgroup_size(256)
fn gated(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 76u;
    let t_group = group.x / 76u;
    let t = t_group * 64u + lane / 16u;
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
        let x4 = x[min(t_group * 64u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u];
        x_tile[lane / 4u * 17u + lane % 4u * 4u] = x4.x;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x4.y;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x4.z;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x4.w;
        workgroupBarrier();
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
    let t_in = min(t, params.T - 1u);
    let t_in1 = min(t + 16u, params.T - 1u);
    let t_in2 = min(t + 32u, params.T - 1u);
    let t_in3 = min(t + 48u, params.T - 1u);
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
}
