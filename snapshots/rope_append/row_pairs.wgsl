// kernel rope_append, shape D = 64, P = 2048, S = 18, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule row_pairs, target webgpu-subgroups
// schedule row_pairs for rope_append {
//     workgroup 256;
//     t: grid;
//     q.h: serial, lanes(8);
//     q.p: serial, lanes(32);
//     k.h: serial, lanes(16);
//     k.p: serial, lanes(16), unroll(2);
//     v.g: serial, lanes(8);
//     v.d: serial, lanes(32), unroll(2);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 18
//     bytes loaded an invocation: 72
//     stores an invocation: 10
//     flop an invocation: 24
//     flop a byte: 0.21
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
    let h = lane / 16u;
    if h < 2u {
        let p = lane % 16u * 2u;
        let v = params.k_from + h;
        let x_at = x[(group.x * 18u + v) * 64u + p];
        let v1 = params.pos + group.x;
        let angles_at = angles[v1 * 64u + p];
        let v2 = p + 32u;
        let x_at1 = x[(group.x * 18u + v) * 64u + v2];
        let angles_at1 = angles[v1 * 64u + v2];
        let v3 = params.k_at + group.x;
        let x_at2 = x[(group.x * 18u + v) * 64u + p + 1u];
        let angles_at2 = angles[v1 * 64u + p + 1u];
        let v4 = p + 33u;
        let x_at3 = x[(group.x * 18u + v) * 64u + v4];
        let angles_at3 = angles[v1 * 64u + v4];
        k_y[(v3 * 2u + h) * 64u + p] = fma(x_at, angles_at, -(x_at1 * angles_at1));
        k_y[(v3 * 2u + h) * 64u + v2] = fma(x_at1, angles_at, x_at * angles_at1);
        k_y[(v3 * 2u + h) * 64u + p + 1u] = fma(x_at2, angles_at2, -(x_at3 * angles_at3));
        k_y[(v3 * 2u + h) * 64u + v4] = fma(x_at3, angles_at2, x_at2 * angles_at3);
    }
    let g = lane / 32u;
    if g < 2u {
        let d = lane % 32u * 2u;
        let v = params.v_from + g;
        let x_at = x[(group.x * 18u + v) * 64u + d];
        let v1 = params.pos + group.x;
        let x_at1 = x[(group.x * 18u + v) * 64u + d + 1u];
        v_cache[(v1 * 2u + g) * 64u + d] = x_at;
        v_cache[(v1 * 2u + g) * 64u + d + 1u] = x_at1;
    }
}
