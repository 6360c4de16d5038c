// kernel rope, shape C = 64, D = 64, H = 14, P = 2048, S = 14, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for rope {
//     t: grid;
//     h: grid;
//     p: grid, lanes(32);
// }
// dispatch T * 14 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 4
//     bytes loaded an invocation: 16
//     stores an invocation: 2
//     flop an invocation: 6
//     flop a byte: 0.25
//     rounds of all loops: 0

struct Params {
    T: u32,
    pos: u32,
    from_: u32,
    at: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> angles: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(32)
fn rope(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 14u;
    let t_group = group.x / 14u;
    let v = params.from_ + h_group;
    let x_at = x[(t_group * 14u + v) * 64u + lane];
    let v1 = params.pos + t_group;
    let angles_at = angles[v1 * 64u + lane];
    let v2 = lane + 32u;
    let x_at1 = x[(t_group * 14u + v) * 64u + v2];
    let angles_at1 = angles[v1 * 64u + v2];
    let v3 = params.at + t_group;
    y[(v3 * 14u + h_group) * 64u + lane] = fma(x_at, angles_at, -(x_at1 * angles_at1));
    y[(v3 * 14u + h_group) * 64u + v2] = fma(x_at1, angles_at, x_at * angles_at1);
}
