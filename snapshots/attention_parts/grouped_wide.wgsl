// kernel attention_parts, shape D = 64, G = 2, H = 14, P = 4096, T <= 64, j.Parts = 16, schedule grouped_wide, target webgpu-subgroups
// schedule grouped_wide for attention_parts {
//     workgroup 256;
//     t: grid;
//     j.part: grid;
//     h: grid;
//     j: serial as jo, serial(32), lanes(8);
//     softmax.c: lanes(32), vector(4);
//     c: lanes(32), vector(4);
//     d: serial, vector(4);
//     compute score at jo: workgroup;
// }
// dispatch T * 16 * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 7168 bytes
//     accumulator registers: 7
//     barriers: 5
//     loads an invocation: 64
//     bytes loaded an invocation: 1024
//     stores an invocation: 6
//     flop an invocation: 860
//     flop a byte: 0.82
//     rounds of all loops: 49

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> j_max: array<f32>;
@group(0) @binding(4) var<storage, read_write> j_weight: array<f32>;
@group(0) @binding(5) var<storage, read_write> j_value: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;
var<workgroup> score_tile: array<f32, 256>;
var<workgroup> fold_max: array<f32, 256>;
var<workgroup> fold_weight: array<f32, 256>;
var<workgroup> fold_value: array<f32, 1024>;

@compute @workgroup_size(256)
fn attention_parts(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 14u;
    let j_part_group = group.x / 14u % 16u;
    let t_group = group.x / 14u / 16u;
    let g = h_group / 7u;
    var s_max = -0x1.fffffep+127f;
    var s_weight = 0.0;
    var s_value = 0.0;
    var s_value1 = 0.0;
    var s_value2 = 0.0;
    var s_value3 = 0.0;
    let v1 = j_part_group * 256u;
    let j_end = min(max(params.pos + t_group + 1u, v1) - v1, 256u);
    let jo_count = (j_end + 255u) / 256u;
    for (var jo = 0u; jo < jo_count; jo++) {
        workgroupBarrier();
        let j = min(jo * 256u + lane, j_end - 1u);
        var score = 0.0;
        for (var d = 0u; d < 64u; d += 4u) {
            let q4 = q[(t_group * 14u + h_group) * 16u + d / 4u];
            let v2 = v1 + j;
            let k4 = k[(v2 * 2u + g) * 16u + d / 4u];
            score = fma(q4.x * params.scale, k4.x, score);
            score = fma(q4.y * params.scale, k4.y, score);
            score = fma(q4.z * params.scale, k4.z, score);
            score = fma(q4.w * params.scale, k4.w, score);
        }
        score_tile[lane] = score;
        workgroupBarrier();
        for (var j_step = 0u; j_step < 32u; j_step++) {
            let j1 = jo * 256u + j_step * 8u + lane / 32u;
            let held = score_tile[j_step * 8u + lane / 32u];
            if j1 < j_end {
                let m = max(s_max, held);
                let m1 = exp(s_max - m);
                let m2 = exp(held - m);
                let weight = fma(s_weight, m1, m2);
                let c = lane % 32u * 4u;
                if c < 64u {
                    let v2 = v1 + j1;
                    let v4 = v[(v2 * 2u + g) * 16u + c / 4u];
                    s_value = fma(s_value, m1, v4.x * m2);
                    s_value1 = fma(s_value1, m1, v4.y * m2);
                    s_value2 = fma(s_value2, m1, v4.z * m2);
                    s_value3 = fma(s_value3, m1, v4.w * m2);
                }
                s_max = m;
                s_weight = weight;
            }
        }
    }
    let fold_lane = lane / 32u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 256u] = s_value1;
    fold_value[lane + 512u] = s_value2;
    fold_value[lane + 768u] = s_value3;
    workgroupBarrier();
    if fold_lane < 4u {
        let max_new = fold_max[lane + 128u];
        let weight_new = fold_weight[lane + 128u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 128u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 384u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 640u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 896u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        let max_new = fold_max[lane + 64u];
        let weight_new = fold_weight[lane + 64u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 64u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 320u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 576u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 832u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        let max_new = fold_max[lane + 32u];
        let weight_new = fold_weight[lane + 32u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 32u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 288u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 544u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 800u] * m2);
        s_max = m;
        s_weight = weight;
    }
    if lane == 0u {
        j_max[(t_group * 14u + h_group) * 16u + j_part_group] = s_max;
        j_weight[(t_group * 14u + h_group) * 16u + j_part_group] = s_weight;
    }
    let c = lane % 32u * 4u;
    if c < 64u {
        if lane < 32u {
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c] = s_value;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 1u] = s_value1;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 2u] = s_value2;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 3u] = s_value3;
        }
    }
}
