// kernel attention_values, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_values {
//     t: grid;
//     h: grid;
//     c: grid, lanes(32);
// }
// dispatch T * 14 * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: 130 * j + 1
//     bytes loaded an invocation: 520 * j + 4
//     stores an invocation: 1
//     flop an invocation: 196 * j + 1
//     flop a byte: 0.38
//     rounds of all loops: (pos + T) * 65
//     rounds of j: pos + T

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> top: array<f32>;
@group(0) @binding(4) var<storage, read> total: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(32)
fn attention_values(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let c_group = group.x % 2u;
    let h_group = group.x / 2u % 14u;
    let t_group = group.x / 2u / 14u;
    let g = h_group / 7u;
    let c = c_group * 32u + lane;
    var mixed = 0.0;
    let j_end = params.pos + t_group + 1u;
    for (var j = 0u; j < j_end; j++) {
        var score = 0.0;
        for (var d = 0u; d < 64u; d++) {
            let q_at = q[(t_group * 14u + h_group) * 64u + d];
            let k_at = k[(j * 2u + g) * 64u + d];
            score = fma(q_at * params.scale, k_at, score);
        }
        let top_at = top[t_group * 16u + h_group];
        let v_at = v[(j * 2u + g) * 64u + c];
        mixed = fma(exp(score - top_at), v_at, mixed);
    }
    let total_at = total[t_group * 16u + h_group];
    y[(t_group * 14u + h_group) * 64u + c] = mixed / total_at;
}
