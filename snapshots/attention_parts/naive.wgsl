// kernel attention_parts, shape D = 64, G = 2, H = 14, P = 4096, T <= 64, j.Parts = 16, schedule naive, target webgpu-subgroups
// schedule naive for attention_parts {
//     t: grid;
//     j.part: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 16 * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 67
//     barriers: 0
//     loads an invocation: 49152
//     bytes loaded an invocation: 196608
//     stores an invocation: 66
//     flop an invocation: 100096
//     flop a byte: 0.51
//     rounds of all loops: 33088

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> j_max: array<f32>;
@group(0) @binding(4) var<storage, read_write> j_weight: array<f32>;
@group(0) @binding(5) var<storage, read_write> j_value: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(4)
fn attention_parts(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 4u;
    let j_part_group = group.x / 4u % 16u;
    let t_group = group.x / 4u / 16u;
    let h = h_group * 4u + lane;
    if h < 14u {
        let g = h / 7u;
        var s_max = -0x1.fffffep+127f;
        var s_weight = 0.0;
        var s_value: array<f32, 64>;
        let v1 = j_part_group * 256u;
        let j_end = min(max(params.pos + t_group + 1u, v1) - v1, 256u);
        for (var j = 0u; j < j_end; j++) {
            var score = 0.0;
            for (var d = 0u; d < 64u; d++) {
                let q_at = q[(t_group * 14u + h) * 64u + d];
                let v2 = v1 + j;
                let k_at = k[(v2 * 2u + g) * 64u + d];
                score = fma(q_at * params.scale, k_at, score);
            }
            let m = max(s_max, score);
            let m1 = exp(s_max - m);
            let m2 = exp(score - m);
            let weight = fma(s_weight, m1, m2);
            for (var c = 0u; c < 64u; c++) {
                let v2 = v1 + j;
                let v_at = v[(v2 * 2u + g) * 64u + c];
                s_value[c] = fma(s_value[c], m1, v_at * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        j_max[(t_group * 14u + h) * 16u + j_part_group] = s_max;
        j_weight[(t_group * 14u + h) * 16u + j_part_group] = s_weight;
        for (var c = 0u; c < 64u; c++) {
            j_value[((t_group * 14u + h) * 16u + j_part_group) * 64u + c] = s_value[c];
        }
    }
}
