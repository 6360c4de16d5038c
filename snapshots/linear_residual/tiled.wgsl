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
    T: u32,
}

@group(0) @binding(0) var<storage, read> linear_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> linear_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> h: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> linear_w_tile: array<f32, 1088>;
var<workgroup> linear_x_tile: array<f32, 1088>;

@compute @workgroup_size(256)
fn linear_residual(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 14u;
    let t_group = group.x / 14u;
    let t = t_group * 64u + lane / 16u;
    let i = i_group * 64u + lane % 16u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    var sum4 = 0.0;
    var sum5 = 0.0;
    var sum6 = 0.0;
    var sum7 = 0.0;
    var sum8 = 0.0;
    var sum9 = 0.0;
    var sum10 = 0.0;
    var sum11 = 0.0;
    var sum12 = 0.0;
    var sum13 = 0.0;
    var sum14 = 0.0;
    var sum15 = 0.0;
    for (var ko = 0u; ko < 304u; ko++) {
        workgroupBarrier();
        let linear_w4 = linear_w[(i_group * 64u + lane / 4u) * 1216u + ko * 4u + lane % 4u];
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u] = linear_w4.x;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = linear_w4.y;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = linear_w4.z;
        linear_w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = linear_w4.w;
        let linear_x4 = linear_x[min(t_group * 64u + lane / 4u, 63u) * 1216u + ko * 4u + lane % 4u];
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u] = linear_x4.x;
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = linear_x4.y;
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = linear_x4.z;
        linear_x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = linear_x4.w;
        workgroupBarrier();
        for (var k_step = 0u; k_step < 16u; k_step++) {
            let held = linear_w_tile[lane % 16u * 17u + k_step];
            let held1 = linear_x_tile[lane / 16u * 17u + k_step];
            let held2 = linear_w_tile[(lane % 16u + 16u) * 17u + k_step];
            let held3 = linear_w_tile[(lane % 16u + 32u) * 17u + k_step];
            let held4 = linear_w_tile[(lane % 16u + 48u) * 17u + k_step];
            let held5 = linear_x_tile[(lane / 16u + 16u) * 17u + k_step];
            let held6 = linear_x_tile[(lane / 16u + 32u) * 17u + k_step];
            let held7 = linear_x_tile[(lane / 16u + 48u) * 17u + k_step];
            sum = fma(held, held1, sum);
            sum1 = fma(held2, held1, sum1);
            sum2 = fma(held3, held1, sum2);
            sum3 = fma(held4, held1, sum3);
            sum4 = fma(held, held5, sum4);
            sum5 = fma(held2, held5, sum5);
            sum6 = fma(held3, held5, sum6);
            sum7 = fma(held4, held5, sum7);
            sum8 = fma(held, held6, sum8);
            sum9 = fma(held2, held6, sum9);
            sum10 = fma(held3, held6, sum10);
            sum11 = fma(held4, held6, sum11);
            sum12 = fma(held, held7, sum12);
            sum13 = fma(held2, held7, sum13);
            sum14 = fma(held3, held7, sum14);
            sum15 = fma(held4, held7, sum15);
        }
    }
    if t < params.T {
        let h_at = h[t * 896u + i];
        h[t * 896u + i] = h_at + sum;
        let h_at1 = h[t * 896u + i + 16u];
        h[t * 896u + i + 16u] = h_at1 + sum1;
        let h_at2 = h[t * 896u + i + 32u];
        h[t * 896u + i + 32u] = h_at2 + sum2;
        let h_at3 = h[t * 896u + i + 48u];
        h[t * 896u + i + 48u] = h_at3 + sum3;
    }
    if t + 16u < params.T {
        let t_in = t + 16u;
        let h_at = h[t_in * 896u + i];
        h[t_in * 896u + i] = h_at + sum4;
        let t_in1 = t + 16u;
        let h_at1 = h[t_in1 * 896u + i + 16u];
        h[t_in1 * 896u + i + 16u] = h_at1 + sum5;
        let t_in2 = t + 16u;
        let h_at2 = h[t_in2 * 896u + i + 32u];
        h[t_in2 * 896u + i + 32u] = h_at2 + sum6;
        let t_in3 = t + 16u;
        let h_at3 = h[t_in3 * 896u + i + 48u];
        h[t_in3 * 896u + i + 48u] = h_at3 + sum7;
    }
    if t + 32u < params.T {
        let t_in = t + 32u;
        let h_at = h[t_in * 896u + i];
        h[t_in * 896u + i] = h_at + sum8;
        let t_in1 = t + 32u;
        let h_at1 = h[t_in1 * 896u + i + 16u];
        h[t_in1 * 896u + i + 16u] = h_at1 + sum9;
        let t_in2 = t + 32u;
        let h_at2 = h[t_in2 * 896u + i + 32u];
        h[t_in2 * 896u + i + 32u] = h_at2 + sum10;
        let t_in3 = t + 32u;
        let h_at3 = h[t_in3 * 896u + i + 48u];
        h[t_in3 * 896u + i + 48u] = h_at3 + sum11;
    }
    if t + 48u < params.T {
        let t_in = t + 48u;
        let h_at = h[t_in * 896u + i];
        h[t_in * 896u + i] = h_at + sum12;
        let t_in1 = t + 48u;
        let h_at1 = h[t_in1 * 896u + i + 16u];
        h[t_in1 * 896u + i + 16u] = h_at1 + sum13;
        let t_in2 = t + 48u;
        let h_at2 = h[t_in2 * 896u + i + 32u];
        h[t_in2 * 896u + i + 32u] = h_at2 + sum14;
        let t_in3 = t + 48u;
        let h_at3 = h[t_in3 * 896u + i + 48u];
        h[t_in3 * 896u + i + 48u] = h_at3 + sum15;
    }
}
