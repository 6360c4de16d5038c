// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule fours, target wide
// schedule fours for attention {
//     workgroup 512;
//     t: grid;
//     h: grid;
//     j: serial, unroll(4), lanes(64);
//     softmax.c: lanes(8), vector(8);
//     c: lanes(8), vector(8);
//     d: lanes(8), vector(8);
//     fold d: subgroup;
// }
// dispatch T * 14 workgroups of 512 invocations
// cost
//     workgroup memory: 20480 bytes
//     accumulator registers: 14
//     barriers: 2 * j_step + 7
//     loads an invocation: 18 * j_step
//     bytes loaded an invocation: 288 * j_step
//     stores an invocation: 8
//     flop an invocation: 212 * j_step + 200
//     flop a byte: 0.74
//     rounds of all loops: ceil((pos + T) / 256) * 3
//     rounds of j_step: ceil((pos + T) / 256)
enable subgroups;

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<f32, 512>;
var<workgroup> fold_weight: array<f32, 512>;
var<workgroup> fold_value: array<f32, 4096>;

@compute @workgroup_size(512)
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
    var s_value4 = 0.0;
    var s_value5 = 0.0;
    var s_value6 = 0.0;
    var s_value7 = 0.0;
    let j_end = params.pos + t_group + 1u;
    let j_step_count = (j_end + 255u) / 256u;
    for (var j_step = 0u; j_step < j_step_count; j_step++) {
        let j = j_step * 256u + lane / 8u;
        let c = lane % 8u * 8u;
        let j_in = min(j, j_end - 1u);
        let g = h_group / 7u;
        let v4 = v[(j_in * 2u + g) * 16u + c / 4u];
        let v4_1 = v[(j_in * 2u + g) * 16u + c / 4u + 1u];
        let j_in1 = min(j + 64u, j_end - 1u);
        let v4_2 = v[(j_in1 * 2u + g) * 16u + c / 4u];
        let v4_3 = v[(j_in1 * 2u + g) * 16u + c / 4u + 1u];
        let j_in2 = min(j + 128u, j_end - 1u);
        let v4_4 = v[(j_in2 * 2u + g) * 16u + c / 4u];
        let v4_5 = v[(j_in2 * 2u + g) * 16u + c / 4u + 1u];
        let j_in3 = min(j + 192u, j_end - 1u);
        let v4_6 = v[(j_in3 * 2u + g) * 16u + c / 4u];
        let v4_7 = v[(j_in3 * 2u + g) * 16u + c / 4u + 1u];
        var score = 0.0;
        var score1 = 0.0;
        var score2 = 0.0;
        var score3 = 0.0;
        let d = lane % 8u * 8u;
        let q4 = q[(t_group * 14u + h_group) * 16u + d / 4u];
        let v1 = q4.x * params.scale;
        let k4 = k[(j_in * 2u + g) * 16u + d / 4u];
        let k4_1 = k[(j_in1 * 2u + g) * 16u + d / 4u];
        let k4_2 = k[(j_in2 * 2u + g) * 16u + d / 4u];
        let k4_3 = k[(j_in3 * 2u + g) * 16u + d / 4u];
        let v2 = q4.y * params.scale;
        let v3 = q4.z * params.scale;
        let v5 = q4.w * params.scale;
        let q4_1 = q[(t_group * 14u + h_group) * 16u + d / 4u + 1u];
        let v6 = q4_1.x * params.scale;
        let k4_4 = k[(j_in * 2u + g) * 16u + d / 4u + 1u];
        let k4_5 = k[(j_in1 * 2u + g) * 16u + d / 4u + 1u];
        let k4_6 = k[(j_in2 * 2u + g) * 16u + d / 4u + 1u];
        let k4_7 = k[(j_in3 * 2u + g) * 16u + d / 4u + 1u];
        let v7 = q4_1.y * params.scale;
        let v8 = q4_1.z * params.scale;
        let v9 = q4_1.w * params.scale;
        score = fma(v1, k4.x, score);
        score1 = fma(v1, k4_1.x, score1);
        score2 = fma(v1, k4_2.x, score2);
        score3 = fma(v1, k4_3.x, score3);
        score = fma(v2, k4.y, score);
        score1 = fma(v2, k4_1.y, score1);
        score2 = fma(v2, k4_2.y, score2);
        score3 = fma(v2, k4_3.y, score3);
        score = fma(v3, k4.z, score);
        score1 = fma(v3, k4_1.z, score1);
        score2 = fma(v3, k4_2.z, score2);
        score3 = fma(v3, k4_3.z, score3);
        score = fma(v5, k4.w, score);
        score1 = fma(v5, k4_1.w, score1);
        score2 = fma(v5, k4_2.w, score2);
        score3 = fma(v5, k4_3.w, score3);
        score = fma(v6, k4_4.x, score);
        score1 = fma(v6, k4_5.x, score1);
        score2 = fma(v6, k4_6.x, score2);
        score3 = fma(v6, k4_7.x, score3);
        score = fma(v7, k4_4.y, score);
        score1 = fma(v7, k4_5.y, score1);
        score2 = fma(v7, k4_6.y, score2);
        score3 = fma(v7, k4_7.y, score3);
        score = fma(v8, k4_4.z, score);
        score1 = fma(v8, k4_5.z, score1);
        score2 = fma(v8, k4_6.z, score2);
        score3 = fma(v8, k4_7.z, score3);
        score = fma(v9, k4_4.w, score);
        score1 = fma(v9, k4_5.w, score1);
        score2 = fma(v9, k4_6.w, score2);
        score3 = fma(v9, k4_7.w, score3);
        let near = min(subgroup_size, 8u);
        let sum_near = subgroupShuffleXor(score, 1u);
        score = score + sum_near;
        let sum_near1 = subgroupShuffleXor(score1, 1u);
        score1 = score1 + sum_near1;
        let sum_near2 = subgroupShuffleXor(score2, 1u);
        score2 = score2 + sum_near2;
        let sum_near3 = subgroupShuffleXor(score3, 1u);
        score3 = score3 + sum_near3;
        let sum_near4 = subgroupShuffleXor(score, 2u);
        score = score + sum_near4;
        let sum_near5 = subgroupShuffleXor(score1, 2u);
        score1 = score1 + sum_near5;
        let sum_near6 = subgroupShuffleXor(score2, 2u);
        score2 = score2 + sum_near6;
        let sum_near7 = subgroupShuffleXor(score3, 2u);
        score3 = score3 + sum_near7;
        if 4u < near {
            let sum_near8 = subgroupShuffleXor(score, 4u);
            score = score + sum_near8;
            let sum_near9 = subgroupShuffleXor(score1, 4u);
            score1 = score1 + sum_near9;
            let sum_near10 = subgroupShuffleXor(score2, 4u);
            score2 = score2 + sum_near10;
            let sum_near11 = subgroupShuffleXor(score3, 4u);
            score3 = score3 + sum_near11;
        }
        workgroupBarrier();
        let near_group = lane / near;
        if lane % near == 0u {
            fold[near_group] = score;
            fold[near_group + 128u] = score1;
            fold[near_group + 256u] = score2;
            fold[near_group + 384u] = score3;
        }
        workgroupBarrier();
        let near_groups = 8u / near;
        let first = lane / 8u * near_groups;
        score = 0.0;
        score1 = 0.0;
        score2 = 0.0;
        score3 = 0.0;
        for (var other = 0u; other < near_groups; other++) {
            score = score + fold[first + other];
            score1 = score1 + fold[first + other + 128u];
            score2 = score2 + fold[first + other + 256u];
            score3 = score3 + fold[first + other + 384u];
        }
        if j < j_end {
            let m = max(s_max, score);
            let m1 = exp(s_max - m);
            let m2 = exp(score - m);
            let weight = fma(s_weight, m1, m2);
            s_value = fma(s_value, m1, v4.x * m2);
            s_value1 = fma(s_value1, m1, v4.y * m2);
            s_value2 = fma(s_value2, m1, v4.z * m2);
            s_value3 = fma(s_value3, m1, v4.w * m2);
            s_value4 = fma(s_value4, m1, v4_1.x * m2);
            s_value5 = fma(s_value5, m1, v4_1.y * m2);
            s_value6 = fma(s_value6, m1, v4_1.z * m2);
            s_value7 = fma(s_value7, m1, v4_1.w * m2);
            s_max = m;
            s_weight = weight;
        }
        if j + 64u < j_end {
            let m = max(s_max, score1);
            let m1 = exp(s_max - m);
            let m2 = exp(score1 - m);
            let weight = fma(s_weight, m1, m2);
            s_value = fma(s_value, m1, v4_2.x * m2);
            s_value1 = fma(s_value1, m1, v4_2.y * m2);
            s_value2 = fma(s_value2, m1, v4_2.z * m2);
            s_value3 = fma(s_value3, m1, v4_2.w * m2);
            s_value4 = fma(s_value4, m1, v4_3.x * m2);
            s_value5 = fma(s_value5, m1, v4_3.y * m2);
            s_value6 = fma(s_value6, m1, v4_3.z * m2);
            s_value7 = fma(s_value7, m1, v4_3.w * m2);
            s_max = m;
            s_weight = weight;
        }
        if j + 128u < j_end {
            let m = max(s_max, score2);
            let m1 = exp(s_max - m);
            let m2 = exp(score2 - m);
            let weight = fma(s_weight, m1, m2);
            s_value = fma(s_value, m1, v4_4.x * m2);
            s_value1 = fma(s_value1, m1, v4_4.y * m2);
            s_value2 = fma(s_value2, m1, v4_4.z * m2);
            s_value3 = fma(s_value3, m1, v4_4.w * m2);
            s_value4 = fma(s_value4, m1, v4_5.x * m2);
            s_value5 = fma(s_value5, m1, v4_5.y * m2);
            s_value6 = fma(s_value6, m1, v4_5.z * m2);
            s_value7 = fma(s_value7, m1, v4_5.w * m2);
            s_max = m;
            s_weight = weight;
        }
        if j + 192u < j_end {
            let m = max(s_max, score3);
            let m1 = exp(s_max - m);
            let m2 = exp(score3 - m);
            let weight = fma(s_weight, m1, m2);
            s_value = fma(s_value, m1, v4_6.x * m2);
            s_value1 = fma(s_value1, m1, v4_6.y * m2);
            s_value2 = fma(s_value2, m1, v4_6.z * m2);
            s_value3 = fma(s_value3, m1, v4_6.w * m2);
            s_value4 = fma(s_value4, m1, v4_7.x * m2);
            s_value5 = fma(s_value5, m1, v4_7.y * m2);
            s_value6 = fma(s_value6, m1, v4_7.z * m2);
            s_value7 = fma(s_value7, m1, v4_7.w * m2);
            s_max = m;
            s_weight = weight;
        }
    }
    workgroupBarrier();
    let fold_lane = lane / 8u;
    fold[lane] = s_max;
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
    if fold_lane < 32u {
        let max_new = fold[lane + 256u];
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
        fold[lane] = s_max;
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
    if fold_lane < 16u {
        let max_new = fold[lane + 128u];
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
        fold[lane] = s_max;
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
        let max_new = fold[lane + 64u];
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
        fold[lane] = s_max;
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
        let max_new = fold[lane + 32u];
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
        fold[lane] = s_max;
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
        let max_new = fold[lane + 16u];
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
        fold[lane] = s_max;
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
        let max_new = fold[lane + 8u];
        let weight_new = fold_weight[lane + 8u];
        let m = max(s_max, max_new);
        let m1 = exp(s_max - m);
        let m2 = exp(max_new - m);
        let weight = fma(s_weight, m1, weight_new * m2);
        s_value = fma(s_value, m1, fold_value[lane + 8u] * m2);
        s_value1 = fma(s_value1, m1, fold_value[lane + 520u] * m2);
        s_value2 = fma(s_value2, m1, fold_value[lane + 1032u] * m2);
        s_value3 = fma(s_value3, m1, fold_value[lane + 1544u] * m2);
        s_value4 = fma(s_value4, m1, fold_value[lane + 2056u] * m2);
        s_value5 = fma(s_value5, m1, fold_value[lane + 2568u] * m2);
        s_value6 = fma(s_value6, m1, fold_value[lane + 3080u] * m2);
        s_value7 = fma(s_value7, m1, fold_value[lane + 3592u] * m2);
        s_max = m;
        s_weight = weight;
    }
    let c = lane % 8u * 8u;
    if lane < 8u {
        y[(t_group * 14u + h_group) * 64u + c] = s_value / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 1u] = s_value1 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 2u] = s_value2 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 3u] = s_value3 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 4u] = s_value4 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 5u] = s_value5 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 6u] = s_value6 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c + 7u] = s_value7 / s_weight;
    }
}
