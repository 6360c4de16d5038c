// kernel attention_mix, shape C <= 2048, D = 64, G = 2, H = 14, P = 2048, R <= 896, T <= 64, schedule shared, target webgpu-subgroups
// schedule shared for attention_mix {
//     t: grid;
//     h: grid;
//     j: serial, lanes(16);
//     c: grid, lanes(16);
// }
// dispatch T * 14 * 4 workgroups of 256 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 1
//     barriers: 4
//     loads an invocation: 2 * j
//     bytes loaded an invocation: 8 * j
//     stores an invocation: 1
//     flop an invocation: 2 * j + 4
//     flop a byte: 0.25
//     rounds of all loops: ceil((pos + T) / 16)
//     rounds of j: ceil((pos + T) / 16)

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
var<workgroup> fold: array<f32, 256>;

@compute @workgroup_size(256)
fn attention_mix(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let c_group = group.x % 4u;
    let h_group = group.x / 4u % 14u;
    let t_group = group.x / 4u / 14u;
    let g = h_group / 7u;
    let c = c_group * 16u + lane % 16u;
    var sum = 0.0;
    let j_end = params.pos + t_group + 1u;
    for (var j = lane / 16u; j < j_end; j += 16u) {
        let weights_at = weights[(t_group * 14u + h_group) * 2048u + j];
        let v_at = v[(j * 2u + g) * 64u + c];
        sum = fma(weights_at, v_at, sum);
    }
    let fold_lane = lane / 16u;
    fold[lane] = sum;
    workgroupBarrier();
    if fold_lane < 8u {
        sum = sum + fold[lane + 128u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane < 4u {
        sum = sum + fold[lane + 64u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        sum = sum + fold[lane + 16u];
    }
    if lane < 16u {
        y[(t_group * 14u + h_group) * 64u + c] = sum;
    }
}
