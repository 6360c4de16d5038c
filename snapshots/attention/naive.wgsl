// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention {
//     t: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 67
//     barriers: 0
//     loads an invocation: 192 * j
//     bytes loaded an invocation: 768 * j
//     stores an invocation: 64
//     flop an invocation: 391 * j + 64
//     flop a byte: 0.51
//     rounds of all loops: (pos + T) * 129 + 64
//     rounds of j: pos + T

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(4)
fn attention(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 4u;
    let t_group = group.x / 4u;
    let h = h_group * 4u + lane;
    if h < 14u {
        var s_max = -0x1.fffffep+127f;
        var s_weight = 0.0;
        var s_value: array<f32, 64>;
        let j_end = params.pos + t_group + 1u;
        for (var j = 0u; j < j_end; j++) {
            var score = 0.0;
            for (var d = 0u; d < 64u; d++) {
                let q_at = q[(t_group * 14u + h) * 64u + d];
                let g = h / 7u;
                let k_at = k[(j * 2u + g) * 64u + d];
                score = fma(q_at * params.scale, k_at, score);
            }
            let m = max(s_max, score);
            let m1 = exp(s_max - m);
            let m2 = exp(score - m);
            let weight = fma(s_weight, m1, m2);
            for (var c = 0u; c < 64u; c++) {
                let g = h / 7u;
                let v_at = v[(j * 2u + g) * 64u + c];
                s_value[c] = fma(s_value[c], m1, v_at * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        for (var c = 0u; c < 64u; c++) {
            y[(t_group * 14u + h) * 64u + c] = s_value[c] / s_weight;
        }
    }
}
