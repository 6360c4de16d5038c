// kernel rope_append, shape D = 64, P = 2048, S = 18, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule row, target webgpu-subgroups
// schedule row for rope_append {
//     workgroup 256;
//     t: grid;
//     q.h: serial, lanes(8);
//     q.p: serial, lanes(32);
//     k.h: serial, lanes(8);
//     k.p: serial, lanes(32);
//     v.g: serial, lanes(4);
//     v.d: serial, lanes(64);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 13
//     bytes loaded an invocation: 52
//     stores an invocation: 7
//     flop an invocation: 18
//     flop a byte: 0.23
//     rounds of all loops: 2

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

@compute @workgroup_size(256)
fn rope_append(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    for (var h = lane / 32u; h < 14u; h += 8u) {
        let p = lane % 32u;
        let v = params.q_from + h;
        let x_at = x[(group.x * 18u + v) * 64u + p];
        let v1 = params.pos + group.x;
        let angles_at = angles[v1 * 64u + p];
        let v2 = p + 32u;
        let x_at1 = x[(group.x * 18u + v) * 64u + v2];
        let angles_at1 = angles[v1 * 64u + v2];
        let v3 = params.q_at + group.x;
        q_y[(v3 * 14u + h) * 64u + p] = fma(x_at, angles_at, -(x_at1 * angles_at1));
        q_y[(v3 * 14u + h) * 64u + v2] = fma(x_at1, angles_at, x_at * angles_at1);
    }
    let h = lane / 32u;
    if h < 2u {
        let p = lane % 32u;
        let v = params.k_from + h;
        let x_at = x[(group.x * 18u + v) * 64u + p];
        let v1 = params.pos + group.x;
        let angles_at = angles[v1 * 64u + p];
        let v2 = p + 32u;
        let x_at1 = x[(group.x * 18u + v) * 64u + v2];
        let angles_at1 = angles[v1 * 64u + v2];
        let v3 = params.k_at + group.x;
        k_y[(v3 * 2u + h) * 64u + p] = fma(x_at, angles_at, -(x_at1 * angles_at1));
        k_y[(v3 * 2u + h) * 64u + v2] = fma(x_at1, angles_at, x_at * angles_at1);
    }
    let g = lane / 64u;
    if g < 2u {
        let d = lane % 64u;
        let x_at = x[(group.x * 18u + params.v_from + g) * 64u + d];
        let v = params.pos + group.x;
        v_cache[(v * 2u + g) * 64u + d] = x_at;
    }
}
