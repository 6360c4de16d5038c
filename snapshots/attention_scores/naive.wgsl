// kernel attention_scores, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_scores {
//     t: grid;
//     h: grid;
//     j: grid, lanes(64);
// }
// dispatch T * 14 * ceil(C / 64) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 128
//     bytes loaded an invocation: 512
//     stores an invocation: 1
//     flop an invocation: 192
//     flop a byte: 0.37
//     rounds of all loops: 64

struct Params {
    T: u32,
    R: u32,
    C: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read_write> scores: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn attention_scores(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let j_group = group.x % ((params.C + 63u) / 64u);
    let h_group = group.x / ((params.C + 63u) / 64u) % 14u;
    let t_group = group.x / ((params.C + 63u) / 64u) / 14u;
    let g = h_group / 7u;
    let j = j_group * 64u + lane;
    if j < params.C {
        var score = 0.0;
        for (var d = 0u; d < 64u; d++) {
            let q_at = q[(t_group * 14u + h_group) * 64u + d];
            let k_at = k[(j * 2u + g) * 64u + d];
            score = fma(q_at * params.scale, k_at, score);
        }
        scores[(t_group * 14u + h_group) * 2048u + j] = select(-0x1.fffffep+127f, score, j <= params.pos + t_group);
    }
}
