// kernel linear_bias, shape K = 896, R = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for linear_bias {
//     t: grid;
//     r: grid, lanes(64);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 1793
//     bytes loaded an invocation: 7172
//     stores an invocation: 1
//     flop an invocation: 1793
//     flop a byte: 0.25
//     rounds of all loops: 896

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read> linear_w: array<f32>;
@group(0) @binding(2) var<storage, read> linear_x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn linear_bias(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r_group = group.x % 14u;
    let t_group = group.x / 14u;
    let r = r_group * 64u + lane;
    var sum = 0.0;
    for (var k = 0u; k < 896u; k++) {
        let linear_w_at = linear_w[r * 896u + k];
        let linear_x_at = linear_x[t_group * 896u + k];
        sum = fma(linear_w_at, linear_x_at, sum);
    }
    let b_at = b[r];
    y[t_group * 896u + r] = sum + b_at;
}
