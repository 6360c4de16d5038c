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
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> w_tile: array<f32, 1088>;
var<workgroup> x_tile: array<f32, 272>;

@compute @workgroup_size(128)
fn linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r_group = group.x % 14u;
    let t_group = group.x / 14u;
    let t = t_group * 16u + lane / 16u;
    let r = r_group * 64u + lane % 16u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    var sum4 = 0.0;
    var sum5 = 0.0;
    var sum6 = 0.0;
    var sum7 = 0.0;
    for (var ko = 0u; ko < 56u; ko++) {
        workgroupBarrier();
        let w4 = w[(r_group * 64u + lane / 4u) * 224u + ko * 4u + lane % 4u];
        let w4_1 = w[(r_group * 64u + lane / 4u + 32u) * 224u + ko * 4u + lane % 4u];
        w_tile[lane / 4u * 17u + lane % 4u * 4u] = w4.x;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = w4.y;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = w4.z;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = w4.w;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u] = w4_1.x;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u + 1u] = w4_1.y;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u + 2u] = w4_1.z;
        w_tile[(lane / 4u + 32u) * 17u + lane % 4u * 4u + 3u] = w4_1.w;
        if lane < 64u {
            let x4 = x[min(t_group * 16u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u];
            x_tile[lane / 4u * 17u + lane % 4u * 4u] = x4.x;
            x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x4.y;
            x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x4.z;
            x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x4.w;
        }
        workgroupBarrier();
        for (var k_step = 0u; k_step < 16u; k_step++) {
            let held = w_tile[lane % 16u * 17u + k_step];
            let held1 = x_tile[lane / 16u * 17u + k_step];
            let held2 = w_tile[(lane % 16u + 16u) * 17u + k_step];
            let held3 = w_tile[(lane % 16u + 32u) * 17u + k_step];
            let held4 = w_tile[(lane % 16u + 48u) * 17u + k_step];
            let held5 = x_tile[(lane / 16u + 8u) * 17u + k_step];
            sum = fma(held, held1, sum);
            sum1 = fma(held2, held1, sum1);
            sum2 = fma(held3, held1, sum2);
            sum3 = fma(held4, held1, sum3);
            sum4 = fma(held, held5, sum4);
            sum5 = fma(held2, held5, sum5);
            sum6 = fma(held3, held5, sum6);
            sum7 = fma(held4, held5, sum7);
        }
    }
    let t_in = min(t, params.T - 1u);
    let t_in1 = min(t + 8u, params.T - 1u);
    if t < params.T {
        y[t_in * 896u + r] = sum;
        y[t_in * 896u + r + 16u] = sum1;
        y[t_in * 896u + r + 32u] = sum2;
        y[t_in * 896u + r + 48u] = sum3;
    }
    if t + 8u < params.T {
        y[t_in1 * 896u + r] = sum4;
        y[t_in1 * 896u + r + 16u] = sum5;
        y[t_in1 * 896u + r + 32u] = sum6;
        y[t_in1 * 896u + r + 48u] = sum7;
    }
}
