// kernel attention_mix, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for attention_mix {
//     t: grid;
//     h: grid;
//     c: grid, lanes(32);
// }
// dispatch T * 14 * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: 2 * j
//     bytes loaded an invocation: 8 * j
//     stores an invocation: 1
//     flop an invocation: 2 * j
//     flop a byte: 0.25
//     rounds of all loops: pos + T
//     rounds of j: pos + T

struct Params {
    R: u32,
    C: u32,
    T: u32,
    pos: u32,
}

@group(0) @binding(0) var<storage, read> weights: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(32)
fn attention_mix(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let c_group = group.x % 2u;
    let h_group = group.x / 2u % 14u;
    let t_group = group.x / 2u / 14u;
    let g = h_group / 7u;
    let c = c_group * 32u + lane;
    var sum = 0.0;
    let j_end = params.pos + t_group + 1u;
    for (var j = 0u; j < j_end; j++) {
        let weights_at = weights[(t_group * 14u + h_group) * 2048u + j];
        let v_at = v[(j * 2u + g) * 64u + c];
        sum = fma(weights_at, v_at, sum);
    }
    y[(t_group * 14u + h_group) * 64u + c] = sum;
}
