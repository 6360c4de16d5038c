// kernel rope_append, shape D = 64, P = 2048, S = 18, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule heads, target webgpu-subgroups
// schedule heads for rope_append {
//     t: grid;
//     q.h: grid;
//     q.p: grid, lanes(32);
//     k.h: grid;
//     k.p: grid, lanes(32);
//     v.g: grid;
//     v.d: grid, lanes(32);
// }
// dispatch T * 14 + T * 2 + T * 2 * 2 workgroups of 32 invocations
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
    q_from: u32,
    q_at: u32,
    k_from: u32,
    k_at: u32,
    v_from: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> angles: array<f32>;
@group(0) @binding(2) var<storage, read_write> q_y: array<f32>;
@group(0) @binding(3) var<storage, read_write> k_y: array<f32>;
@group(0) @binding(4) var<storage, read_write> v_cache: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(32)
fn rope_append(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let end0 = params.T * 14u;
    let end1 = end0 + params.T * 2u;
    let end2 = end1 + params.T * 4u;
    if group.x < end0 {
        let q_h_group = group.x % 14u;
        let t_group = group.x / 14u;
        let v = params.q_from + q_h_group;
        let x_at = x[(t_group * 18u + v) * 64u + lane];
        let v1 = params.pos + t_group;
        let angles_at = angles[v1 * 64u + lane];
        let v2 = lane + 32u;
        let x_at1 = x[(t_group * 18u + v) * 64u + v2];
        let angles_at1 = angles[v1 * 64u + v2];
        let v3 = params.q_at + t_group;
        q_y[(v3 * 14u + q_h_group) * 64u + lane] = fma(x_at, angles_at, -(x_at1 * angles_at1));
        q_y[(v3 * 14u + q_h_group) * 64u + v2] = fma(x_at1, angles_at, x_at * angles_at1);
    } else if group.x < end1 {
        let k_h_group = (group.x - end0) % 2u;
        let t_group = (group.x - end0) / 2u;
        let v = params.k_from + k_h_group;
        let x_at = x[(t_group * 18u + v) * 64u + lane];
        let v1 = params.pos + t_group;
        let angles_at = angles[v1 * 64u + lane];
        let v2 = lane + 32u;
        let x_at1 = x[(t_group * 18u + v) * 64u + v2];
        let angles_at1 = angles[v1 * 64u + v2];
        let v3 = params.k_at + t_group;
        k_y[(v3 * 2u + k_h_group) * 64u + lane] = fma(x_at, angles_at, -(x_at1 * angles_at1));
        k_y[(v3 * 2u + k_h_group) * 64u + v2] = fma(x_at1, angles_at, x_at * angles_at1);
    } else if group.x < end2 {
        let v_d_group = (group.x - end1) % 2u;
        let v_g_group = (group.x - end1) / 2u % 2u;
        let t_group = (group.x - end1) / 2u / 2u;
        let d = v_d_group * 32u + lane;
        let x_at = x[(t_group * 18u + params.v_from + v_g_group) * 64u + d];
        let v = params.pos + t_group;
        v_cache[(v * 2u + v_g_group) * 64u + d] = x_at;
    }
}
