// kernel attention_merged, shape D = 64, G = 2, H = 14, T <= 64, j.Parts = 16, schedule merged_naive, target webgpu-subgroups
// schedule merged_naive for attention_merged {
//     t: grid;
//     h: grid, lanes(4);
// }
// dispatch T * 4 workgroups of 4 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 66
//     barriers: 0
//     loads an invocation: 1056
//     bytes loaded an invocation: 4224
//     stores an invocation: 64
//     flop an invocation: 3264
//     flop a byte: 0.73
//     rounds of all loops: 1104

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> j_max: array<f32>;
@group(0) @binding(1) var<storage, read> j_weight: array<f32>;
@group(0) @binding(2) var<storage, read> j_value: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(4)
fn attention_merged(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 4u;
    let t_group = group.x / 4u;
    let h = h_group * 4u + lane;
    if h < 14u {
        var s_max = -0x1.fffffep+127f;
        var s_weight = 0.0;
        var s_value: array<f32, 64>;
        for (var part = 0u; part < 16u; part++) {
            let j_max_at = j_max[(t_group * 14u + h) * 16u + part];
            let j_weight_at = j_weight[(t_group * 14u + h) * 16u + part];
            let m = max(s_max, j_max_at);
            let m1 = exp(s_max - m);
            let m2 = exp(j_max_at - m);
            let weight = fma(s_weight, m1, j_weight_at * m2);
            for (var c = 0u; c < 64u; c++) {
                let j_value_at = j_value[((t_group * 14u + h) * 16u + part) * 64u + c];
                s_value[c] = fma(s_value[c], m1, j_value_at * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        for (var c = 0u; c < 64u; c++) {
            y[(t_group * 14u + h) * 64u + c] = s_value[c] / s_weight;
        }
    }
}
