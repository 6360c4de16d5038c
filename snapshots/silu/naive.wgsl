// kernel silu, shape D = 4864, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for silu {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 76 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 1
//     bytes loaded an invocation: 4
//     stores an invocation: 1
//     flop an invocation: 4
//     flop a byte: 0.50
//     rounds of all loops: 0

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn silu(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 76u;
    let t_group = group.x / 76u;
    let i = i_group * 64u + lane;
    let x_at = x[t_group * 4864u + i];
    let e = exp(-abs(x_at));
    let s = select(1.0, e, x_at < 0.0) / (1.0 + e);
    y[t_group * 4864u + i] = x_at * s;
}
