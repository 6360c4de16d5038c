// kernel residual, shape D = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for residual {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 2
//     bytes loaded an invocation: 8
//     stores an invocation: 1
//     flop an invocation: 1
//     flop a byte: 0.08
//     rounds of all loops: 0

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> h: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn residual(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 14u;
    let t_group = group.x / 14u;
    let i = i_group * 64u + lane;
    let h_at = h[t_group * 896u + i];
    let x_at = x[t_group * 896u + i];
    h[t_group * 896u + i] = h_at + x_at;
}
