// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for attention {
//     t: grid;
//     h: grid;
//     j: serial, lanes(8);
//     softmax.c: lanes(16), unroll(4);
//     c: lanes(16), unroll(4);
//     d: lanes(16), vector(4);
//     fold d: subgroup;
// }
// dispatch T * 14 workgroups of 128 invocations
// cost
//     workgroup memory: 3200 bytes
//     accumulator registers: 7
//     barriers: 2 * j_step + 3
//     loads an invocation: 6 * j_step
//     bytes loaded an invocation: 48 * j_step
//     stores an invocation: 4
//     flop an invocation: 37 * j_step + 64
//     flop a byte: 0.77
//     rounds of all loops: ceil((pos + T) / 8) * 5
//     rounds of j_step: ceil((pos + T) / 8)
enable subgroups;

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<f32, 32>;
var<workgroup> fold_max: array<f32, 128>;
var<workgroup> fold_weight: array<f32, 128>;
var<workgroup> fold_value: array<f32, 512>;

@compute @workgroup_size(128)
fn attention(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let h_group = group.x % 14u;
    let t_group = group.x / 14u;
    var s_max = -0x1.fffffep+127f;
    var s_weight = 0.0;
    var s_value = 0.0;
    var s_value1 = 0.0;
    var s_value2 = 0.0;
    var s_value3 = 0.0;
    let j_end = params.pos + t_group + 1u;
    let j_step_count = (j_end + 7u) / 8u;
    for (var j_step = 0u; j_step < j_step_count; j_step++) {
        let j = j_step * 8u + lane / 16u;
        let c = lane % 16u * 4u;
        let j_in = min(j, j_end - 1u);
        let g = h_group / 7u;
        let v_at = v[(j_in * 2u + g) * 64u + c];
        let v_at1 = v[(j_in * 2u + g) * 64u + c + 1u];
        let v_at2 = v[(j_in * 2u + g) * 64u + c + 2u];
        let v_at3 = v[(j_in * 2u + g) * 64u + c + 3u];
        var score = 0.0;
        let d = lane % 16u * 4u;
        let q4 = q[(t_group * 14u + h_group) * 16u + d / 4u];
        let k4 = k[(j_in * 2u + g) * 16u + d / 4u];
        score = fma(q4.x * params.scale, k4.x, score);
        score = fma(q4.y * params.scale, k4.y, score);
        score = fma(q4.z * params.scale, k4.z, score);
        score = fma(q4.w * params.scale, k4.w, score);
        let near = min(subgroup_size, 16u);
        let sum_near = subgroupShuffleXor(score, 1u);
        score = score + sum_near;
        let sum_near1 = subgroupShuffleXor(score, 2u);
        score = score + sum_near1;
        if 4u < near {
            let sum_near2 = subgroupShuffleXor(score, 4u);
            score = score + sum_near2;
        }
        if 8u < near {
            let sum_near2 = subgroupShuffleXor(score, 8u);
            score = score + sum_near2;
        }
        workgroupBarrier();
        let near_group = lane / near;
        if lane % near == 0u {
            fold[near_group] = score;
        }
        workgroupBarrier();
        let near_groups = 16u / near;
        let first = lane / 16u * near_groups;
        score = 0.0;
        for (var other = 0u; other < near_groups; other++) {
            score = score + fold[first + other];
        }
        if j < j_end {
            let m = max(s_max, score);
            let m1 = exp(s_max - m);
            let m2 = exp(score - m);
            let weight = fma(s_weight, m1, m2);
            s_value = fma(s_value, m1, v_at * m2);
            s_value1 = fma(s_value1, m1, v_at1 * m2);
            s_value2 = fma(s_value2, m1, v_at2 * m2);
            s_value3 = fma(s_value3, m1, v_at3 * m2);
            s_max = m;
            s_weight = weight;
        }
    }
    let fold_lane = lane / 16u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 128u] = s_value1;
    fold_value[lane + 256u] = s_value2;
    fold_value[lane + 384u] = s_value3;
    workgroupBarrier();
    if fold_lane < 4u {
        let max_new = fold_max[lane + 64u];
        let weight_new = fold_weight[lane + 64u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 64u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 192u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 320u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 448u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 128u] = s_value1;
        fold_value[lane + 256u] = s_value2;
        fold_value[lane + 384u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        let max_new = fold_max[lane + 32u];
        let weight_new = fold_weight[lane + 32u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 32u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 160u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 288u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 416u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 128u] = s_value1;
        fold_value[lane + 256u] = s_value2;
        fold_value[lane + 384u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        let max_new = fold_max[lane + 16u];
        let weight_new = fold_weight[lane + 16u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 16u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 144u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 272u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 400u] * m2);
        s_max = m;
        s_weight = weight;
    }
    let c = lane % 16u * 4u;
    if lane < 16u {
        y[(t_group * 14u + h_group) * 64u + c] = s_value / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 1u] = s_value1 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 2u] = s_value2 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 3u] = s_value3 / s_weight;
    }
}
