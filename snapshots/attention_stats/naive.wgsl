// kernel attention_stats, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_stats {
//     t: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 3
//     barriers: 0
//     loads an invocation: 256 * i
//     bytes loaded an invocation: 1024 * i
//     stores an invocation: 2
//     flop an invocation: 388 * i
//     flop a byte: 0.38
//     rounds of all loops: (pos + T) * 65 + (pos + T) * 65
//     rounds of i: pos + T

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read_write> top: array<f32>;
@group(0) @binding(3) var<storage, read_write> total: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(4)
fn attention_stats(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 4u;
    let t_group = group.x / 4u;
    let h = h_group * 4u + lane;
    if h < 14u {
        var m = -0x1.fffffep+127f;
        let v = params.pos + t_group + 1u;
        for (var i = 0u; i < v; i++) {
            var sum = 0.0;
            for (var c = 0u; c < 64u; c++) {
                let q_at = q[(t_group * 14u + h) * 64u + c];
                let g = h / 7u;
                let k_at = k[(i * 2u + g) * 64u + c];
                sum = fma(q_at * params.scale, k_at, sum);
            }
            m = max(m, sum);
        }
        var n = 0.0;
        for (var j = 0u; j < v; j++) {
            var score = 0.0;
            for (var d = 0u; d < 64u; d++) {
                let q_at = q[(t_group * 14u + h) * 64u + d];
                let g = h / 7u;
                let k_at = k[(j * 2u + g) * 64u + d];
                score = fma(q_at * params.scale, k_at, score);
            }
            n = n + exp(score - m);
        }
        top[t_group * 16u + h] = m;
        total[t_group * 16u + h] = n;
    }
}
