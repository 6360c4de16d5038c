// kernel rmsnorm, shape D = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for rmsnorm {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 898
//     bytes loaded an invocation: 3592
//     stores an invocation: 1
//     flop an invocation: 1797
//     flop a byte: 0.50
//     rounds of all loops: 896

struct Params {
    T: u32,
    eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn rmsnorm(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 14u;
    let t_group = group.x / 14u;
    var s = 0.0;
    for (var j = 0u; j < 896u; j++) {
        let x_at = x[t_group * 896u + j];
        s = fma(x_at, x_at, s);
    }
    let scale = inverseSqrt(s / 896.0 + params.eps);
    let i = i_group * 64u + lane;
    let x_at = x[t_group * 896u + i];
    let w_at = w[i];
    y[t_group * 896u + i] = x_at * scale * w_at;
}
