// kernel mul, shape D = 4864, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for mul {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 76 workgroups of 64 invocations
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

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn mul(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 76u;
    let t_group = group.x / 76u;
    let i = i_group * 64u + lane;
    let a_at = a[t_group * 4864u + i];
    let b_at = b[t_group * 4864u + i];
    y[t_group * 4864u + i] = a_at * b_at;
}
