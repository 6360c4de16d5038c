// kernel attention_parts, shape D = 64, G = 2, H = 14, P = 4096, T <= 64, j.Parts = 16, schedule pairs_wide, target wide
// schedule pairs_wide for attention_parts {
//     workgroup 512;
//     t: grid;
//     j.part: grid;
//     h: grid;
//     j: serial, unroll(2), lanes(32);
//     softmax.c: lanes(16), vector(8);
//     c: lanes(16), vector(8);
//     d: lanes(16), vector(8);
//     fold d: subgroup;
// }
// dispatch T * 16 * 14 workgroups of 512 invocations
// cost
//     workgroup memory: 21504 bytes
//     accumulator registers: 12
//     barriers: 13
//     loads an invocation: 40
//     bytes loaded an invocation: 640
//     stores an invocation: 10
//     flop an invocation: 616
//     flop a byte: 0.91
//     rounds of all loops: 20
enable subgroups;

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
var<workgroup> fold: array<f32, 256>;
var<workgroup> fold_max: array<f32, 512>;
var<workgroup> fold_weight: array<f32, 512>;
var<workgroup> fold_value: array<f32, 4096>;

@compute @workgroup_size(512)
fn attention_parts(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
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
    var s_value4 = 0.0;
    var s_value5 = 0.0;
    var s_value6 = 0.0;
    var s_value7 = 0.0;
    let v1 = j_part_group * 256u;
    let j_end = min(max(params.pos + t_group + 1u, v1) - v1, 256u);
    let j_step_count = (j_end + 63u) / 64u;
    for (var j_step = 0u; j_step < j_step_count; j_step++) {
        let j = j_step * 64u + lane / 16u;
        var score = 0.0;
        var score1 = 0.0;
        let d = lane % 16u * 8u;
        if d < 64u {
            let q4 = q[(t_group * 14u + h_group) * 16u + d / 4u];
            let v2 = q4.x * params.scale;
            let j_in = min(j, j_end - 1u);
            let v3 = v1 + j_in;
            let k4 = k[(v3 * 2u + g) * 16u + d / 4u];
            let j_in1 = min(j + 32u, j_end - 1u);
            let v4 = v1 + j_in1;
            let k4_1 = k[(v4 * 2u + g) * 16u + d / 4u];
            let v5 = q4.y * params.scale;
            let v6 = q4.z * params.scale;
            let v7 = q4.w * params.scale;
            let q4_1 = q[(t_group * 14u + h_group) * 16u + d / 4u + 1u];
            let v8 = q4_1.x * params.scale;
            let k4_2 = k[(v3 * 2u + g) * 16u + d / 4u + 1u];
            let k4_3 = k[(v4 * 2u + g) * 16u + d / 4u + 1u];
            let v9 = q4_1.y * params.scale;
            let v10 = q4_1.z * params.scale;
            let v11 = q4_1.w * params.scale;
            score = fma(v2, k4.x, score);
            score1 = fma(v2, k4_1.x, score1);
            score = fma(v5, k4.y, score);
            score1 = fma(v5, k4_1.y, score1);
            score = fma(v6, k4.z, score);
            score1 = fma(v6, k4_1.z, score1);
            score = fma(v7, k4.w, score);
            score1 = fma(v7, k4_1.w, score1);
            score = fma(v8, k4_2.x, score);
            score1 = fma(v8, k4_3.x, score1);
            score = fma(v9, k4_2.y, score);
            score1 = fma(v9, k4_3.y, score1);
            score = fma(v10, k4_2.z, score);
            score1 = fma(v10, k4_3.z, score1);
            score = fma(v11, k4_2.w, score);
            score1 = fma(v11, k4_3.w, score1);
        }
        let near = min(subgroup_size, 16u);
        let sum_near = subgroupShuffleXor(score, 1u);
        score = score + sum_near;
        let sum_near1 = subgroupShuffleXor(score1, 1u);
        score1 = score1 + sum_near1;
        let sum_near2 = subgroupShuffleXor(score, 2u);
        score = score + sum_near2;
        let sum_near3 = subgroupShuffleXor(score1, 2u);
        score1 = score1 + sum_near3;
        if 4u < near {
            let sum_near4 = subgroupShuffleXor(score, 4u);
            score = score + sum_near4;
            let sum_near5 = subgroupShuffleXor(score1, 4u);
            score1 = score1 + sum_near5;
        }
        if 8u < near {
            let sum_near4 = subgroupShuffleXor(score, 8u);
            score = score + sum_near4;
            let sum_near5 = subgroupShuffleXor(score1, 8u);
            score1 = score1 + sum_near5;
        }
        workgroupBarrier();
        let near_group = lane / near;
        if lane % near == 0u {
            fold[near_group] = score;
            fold[near_group + 128u] = score1;
        }
        workgroupBarrier();
        let near_groups = 16u / near;
        let first = lane / 16u * near_groups;
        score = 0.0;
        score1 = 0.0;
        for (var other = 0u; other < near_groups; other++) {
            score = score + fold[first + other];
            score1 = score1 + fold[first + other + 128u];
        }
        if j < j_end {
            let m = max(s_max, score);
            let m1 = exp(s_max - m);
            let m2 = exp(score - m);
            let weight = fma(s_weight, m1, m2);
            let c = lane % 16u * 8u;
            if c < 64u {
                let v2 = v1 + j;
                let v4 = v[(v2 * 2u + g) * 16u + c / 4u];
                s_value = fma(s_value, m1, v4.x * m2);
                s_value1 = fma(s_value1, m1, v4.y * m2);
                s_value2 = fma(s_value2, m1, v4.z * m2);
                s_value3 = fma(s_value3, m1, v4.w * m2);
                let v4_1 = v[(v2 * 2u + g) * 16u + c / 4u + 1u];
                s_value4 = fma(s_value4, m1, v4_1.x * m2);
                s_value5 = fma(s_value5, m1, v4_1.y * m2);
                s_value6 = fma(s_value6, m1, v4_1.z * m2);
                s_value7 = fma(s_value7, m1, v4_1.w * m2);
            }
            s_max = m;
            s_weight = weight;
        }
        if j + 32u < j_end {
            let m = max(s_max, score1);
            let m1 = exp(s_max - m);
            let m2 = exp(score1 - m);
            let weight = fma(s_weight, m1, m2);
            let c = lane % 16u * 8u;
            if c < 64u {
                let j_in = j + 32u;
                let v2 = v1 + j_in;
                let v4 = v[(v2 * 2u + g) * 16u + c / 4u];
                s_value = fma(s_value, m1, v4.x * m2);
                s_value1 = fma(s_value1, m1, v4.y * m2);
                s_value2 = fma(s_value2, m1, v4.z * m2);
                s_value3 = fma(s_value3, m1, v4.w * m2);
                let v4_1 = v[(v2 * 2u + g) * 16u + c / 4u + 1u];
                s_value4 = fma(s_value4, m1, v4_1.x * m2);
                s_value5 = fma(s_value5, m1, v4_1.y * m2);
                s_value6 = fma(s_value6, m1, v4_1.z * m2);
                s_value7 = fma(s_value7, m1, v4_1.w * m2);
            }
            s_max = m;
            s_weight = weight;
        }
    }
    let fold_lane = lane / 16u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 512u] = s_value1;
    fold_value[lane + 1024u] = s_value2;
    fold_value[lane + 1536u] = s_value3;
    fold_value[lane + 2048u] = s_value4;
    fold_value[lane + 2560u] = s_value5;
    fold_value[lane + 3072u] = s_value6;
    fold_value[lane + 3584u] = s_value7;
    workgroupBarrier();
    if fold_lane < 16u {
        let max_new = fold_max[lane + 256u];
        let weight_new = fold_weight[lane + 256u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 256u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 768u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 1280u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 1792u] * m2);
        s_value4 = fma(s_value4, m1, fold_value[lane + 2304u] * m2);
        s_value5 = fma(s_value5, m1, fold_value[lane + 2816u] * m2);
        s_value6 = fma(s_value6, m1, fold_value[lane + 3328u] * m2);
        s_value7 = fma(s_value7, m1, fold_value[lane + 3840u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
    }
    workgroupBarrier();
    if fold_lane < 8u {
        let max_new = fold_max[lane + 128u];
        let weight_new = fold_weight[lane + 128u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 128u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 640u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 1152u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 1664u] * m2);
        s_value4 = fma(s_value4, m1, fold_value[lane + 2176u] * m2);
        s_value5 = fma(s_value5, m1, fold_value[lane + 2688u] * m2);
        s_value6 = fma(s_value6, m1, fold_value[lane + 3200u] * m2);
        s_value7 = fma(s_value7, m1, fold_value[lane + 3712u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
    }
    workgroupBarrier();
    if fold_lane < 4u {
        let max_new = fold_max[lane + 64u];
        let weight_new = fold_weight[lane + 64u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 64u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 576u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 1088u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 1600u] * m2);
        s_value4 = fma(s_value4, m1, fold_value[lane + 2112u] * m2);
        s_value5 = fma(s_value5, m1, fold_value[lane + 2624u] * m2);
        s_value6 = fma(s_value6, m1, fold_value[lane + 3136u] * m2);
        s_value7 = fma(s_value7, m1, fold_value[lane + 3648u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
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
        s_value1 = fma(s_value1, m1, fold_value[lane + 544u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 1056u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 1568u] * m2);
        s_value4 = fma(s_value4, m1, fold_value[lane + 2080u] * m2);
        s_value5 = fma(s_value5, m1, fold_value[lane + 2592u] * m2);
        s_value6 = fma(s_value6, m1, fold_value[lane + 3104u] * m2);
        s_value7 = fma(s_value7, m1, fold_value[lane + 3616u] * m2);
        s_max = m;
        s_weight = weight;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 512u] = s_value1;
        fold_value[lane + 1024u] = s_value2;
        fold_value[lane + 1536u] = s_value3;
        fold_value[lane + 2048u] = s_value4;
        fold_value[lane + 2560u] = s_value5;
        fold_value[lane + 3072u] = s_value6;
        fold_value[lane + 3584u] = s_value7;
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
        s_value1 = fma(s_value1, m1, fold_value[lane + 528u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 1040u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 1552u] * m2);
        s_value4 = fma(s_value4, m1, fold_value[lane + 2064u] * m2);
        s_value5 = fma(s_value5, m1, fold_value[lane + 2576u] * m2);
        s_value6 = fma(s_value6, m1, fold_value[lane + 3088u] * m2);
        s_value7 = fma(s_value7, m1, fold_value[lane + 3600u] * m2);
        s_max = m;
        s_weight = weight;
    }
    if lane == 0u {
        j_max[(t_group * 14u + h_group) * 16u + j_part_group] = s_max;
        j_weight[(t_group * 14u + h_group) * 16u + j_part_group] = s_weight;
    }
    let c = lane % 16u * 8u;
    if c < 64u {
        if lane < 16u {
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c] = s_value;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 1u] = s_value1;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 2u] = s_value2;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 3u] = s_value3;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 4u] = s_value4;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 5u] = s_value5;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 6u] = s_value6;
            j_value[((t_group * 14u + h_group) * 16u + j_part_group) * 64u + c + 7u] = s_value7;
        }
    }
}
