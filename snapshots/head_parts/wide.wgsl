// kernel head_parts, shape K = 896, T <= 64, V = 32768, v.Parts = 512, schedule wide, target webgpu-subgroups
// schedule wide for head_parts {
//     workgroup 256;
//     t: grid;
//     v.part: grid;
//     v: serial, unroll(2), lanes(8);
//     head.k: serial, lanes(32), vector(8);
//     head.norm.j: serial, lanes(256), vector(4);
//     fold head.k: subgroup;
//     fold head.norm.j: subgroup;
// }
// dispatch T * 512 workgroups of 256 invocations
// cost
//     workgroup memory: 2816 bytes
//     accumulator registers: 5
//     barriers: 12
//     loads an invocation: 129
//     bytes loaded an invocation: 2064
//     stores an invocation: 2
//     flop an invocation: 925
//     flop a byte: 0.45
//     rounds of all loops: 116
enable subgroups;

struct Params {
    T: u32,
    limit: u32,
    head_norm_eps: f32,
}

@group(0) @binding(0) var<storage, read> head_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> head_norm_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> head_norm_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> v_max: array<f32>;
@group(0) @binding(4) var<storage, read_write> v_index: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;
var<workgroup> fold1: array<f32, 128>;
var<workgroup> fold_max: array<f32, 256>;
var<workgroup> fold_index: array<u32, 256>;

@compute @workgroup_size(256)
fn head_parts(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let v_part_group = group.x % 512u;
    let t_group = group.x / 512u;
    var s = 0.0;
    let j = lane * 4u;
    if j < 896u {
        let head_norm_x4 = head_norm_x[t_group * 224u + j / 4u];
        s = fma(head_norm_x4.x, head_norm_x4.x, s);
        s = fma(head_norm_x4.y, head_norm_x4.y, s);
        s = fma(head_norm_x4.z, head_norm_x4.z, s);
        s = fma(head_norm_x4.w, head_norm_x4.w, s);
    }
    let near = subgroup_size;
    let sum_near = subgroupShuffleXor(s, 1u);
    s = s + sum_near;
    let sum_near1 = subgroupShuffleXor(s, 2u);
    s = s + sum_near1;
    if 4u < near {
        let sum_near2 = subgroupShuffleXor(s, 4u);
        s = s + sum_near2;
    }
    if 8u < near {
        let sum_near2 = subgroupShuffleXor(s, 8u);
        s = s + sum_near2;
    }
    if 16u < near {
        let sum_near2 = subgroupShuffleXor(s, 16u);
        s = s + sum_near2;
    }
    if 32u < near {
        let sum_near2 = subgroupShuffleXor(s, 32u);
        s = s + sum_near2;
    }
    if 64u < near {
        let sum_near2 = subgroupShuffleXor(s, 64u);
        s = s + sum_near2;
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = s;
    }
    workgroupBarrier();
    let near_groups = 256u / near;
    s = 0.0;
    for (var other = 0u; other < near_groups; other++) {
        s = s + fold[other];
    }
    let head_norm_scale = inverseSqrt(s / 896.0 + params.head_norm_eps);
    var argmax_max = -0x1.fffffep+127f;
    var argmax_index = 0xfffffffeu;
    let v = v_part_group * 64u;
    let v_end = min(max(min(params.limit, 32768u), v) - v, 64u);
    let v_step_count = (v_end + 15u) / 16u;
    for (var v_step = 0u; v_step < v_step_count; v_step++) {
        let v1 = v_step * 16u + lane / 32u;
        var sum = 0.0;
        var sum1 = 0.0;
        for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
            let v_in = min(v1, v_end - 1u);
            let v2 = v + v_in;
            let head_w4 = head_w[v2 * 224u + k / 4u];
            let head_norm_x4 = head_norm_x[t_group * 224u + k / 4u];
            let v3 = head_norm_x4.x * head_norm_scale;
            let head_norm_w4 = head_norm_w[k / 4u];
            let v4 = v3 * head_norm_w4.x;
            let v_in1 = min(v1 + 8u, v_end - 1u);
            let v5 = v + v_in1;
            let head_w4_1 = head_w[v5 * 224u + k / 4u];
            let v6 = head_norm_x4.y * head_norm_scale;
            let v7 = v6 * head_norm_w4.y;
            let v8 = head_norm_x4.z * head_norm_scale;
            let v9 = v8 * head_norm_w4.z;
            let v10 = head_norm_x4.w * head_norm_scale;
            let v11 = v10 * head_norm_w4.w;
            let head_w4_2 = head_w[v2 * 224u + k / 4u + 1u];
            let head_norm_x4_1 = head_norm_x[t_group * 224u + k / 4u + 1u];
            let v12 = head_norm_x4_1.x * head_norm_scale;
            let head_norm_w4_1 = head_norm_w[k / 4u + 1u];
            let v13 = v12 * head_norm_w4_1.x;
            let head_w4_3 = head_w[v5 * 224u + k / 4u + 1u];
            let v14 = head_norm_x4_1.y * head_norm_scale;
            let v15 = v14 * head_norm_w4_1.y;
            let v16 = head_norm_x4_1.z * head_norm_scale;
            let v17 = v16 * head_norm_w4_1.z;
            let v18 = head_norm_x4_1.w * head_norm_scale;
            let v19 = v18 * head_norm_w4_1.w;
            sum = fma(head_w4.x, v4, sum);
            sum1 = fma(head_w4_1.x, v4, sum1);
            sum = fma(head_w4.y, v7, sum);
            sum1 = fma(head_w4_1.y, v7, sum1);
            sum = fma(head_w4.z, v9, sum);
            sum1 = fma(head_w4_1.z, v9, sum1);
            sum = fma(head_w4.w, v11, sum);
            sum1 = fma(head_w4_1.w, v11, sum1);
            sum = fma(head_w4_2.x, v13, sum);
            sum1 = fma(head_w4_3.x, v13, sum1);
            sum = fma(head_w4_2.y, v15, sum);
            sum1 = fma(head_w4_3.y, v15, sum1);
            sum = fma(head_w4_2.z, v17, sum);
            sum1 = fma(head_w4_3.z, v17, sum1);
            sum = fma(head_w4_2.w, v19, sum);
            sum1 = fma(head_w4_3.w, v19, sum1);
        }
        let near1 = min(subgroup_size, 32u);
        let sum_near2 = subgroupShuffleXor(sum, 1u);
        sum = sum + sum_near2;
        let sum_near3 = subgroupShuffleXor(sum1, 1u);
        sum1 = sum1 + sum_near3;
        let sum_near4 = subgroupShuffleXor(sum, 2u);
        sum = sum + sum_near4;
        let sum_near5 = subgroupShuffleXor(sum1, 2u);
        sum1 = sum1 + sum_near5;
        if 4u < near1 {
            let sum_near6 = subgroupShuffleXor(sum, 4u);
            sum = sum + sum_near6;
            let sum_near7 = subgroupShuffleXor(sum1, 4u);
            sum1 = sum1 + sum_near7;
        }
        if 8u < near1 {
            let sum_near6 = subgroupShuffleXor(sum, 8u);
            sum = sum + sum_near6;
            let sum_near7 = subgroupShuffleXor(sum1, 8u);
            sum1 = sum1 + sum_near7;
        }
        if 16u < near1 {
            let sum_near6 = subgroupShuffleXor(sum, 16u);
            sum = sum + sum_near6;
            let sum_near7 = subgroupShuffleXor(sum1, 16u);
            sum1 = sum1 + sum_near7;
        }
        workgroupBarrier();
        let near_group1 = lane / near1;
        if lane % near1 == 0u {
            fold1[near_group1] = sum;
            fold1[near_group1 + 64u] = sum1;
        }
        workgroupBarrier();
        let near_groups1 = 32u / near1;
        let first = lane / 32u * near_groups1;
        sum = 0.0;
        sum1 = 0.0;
        for (var other = 0u; other < near_groups1; other++) {
            sum = sum + fold1[first + other];
            sum1 = sum1 + fold1[first + other + 64u];
        }
        let v2 = (bitcast<u32>(sum) & 0x7f800000u) == 0x7f800000u;
        let v_in = min(v1, v_end - 1u);
        let v3 = v + v_in;
        let v4 = (bitcast<u32>(sum1) & 0x7f800000u) == 0x7f800000u;
        let v_in1 = min(v1 + 8u, v_end - 1u);
        let v5 = v + v_in1;
        if v1 < v_end {
            let max_new = select(sum, 0x1.fffffep+127f, v2);
            let index_new = select(v3, 0xffffffffu, v2);
            let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            let max_ = select(max_new, argmax_max, m);
            let index = select(index_new, argmax_index, m);
            argmax_max = max_;
            argmax_index = index;
        }
        if v1 + 8u < v_end {
            let max_new = select(sum1, 0x1.fffffep+127f, v4);
            let index_new = select(v5, 0xffffffffu, v4);
            let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            let max_ = select(max_new, argmax_max, m);
            let index = select(index_new, argmax_index, m);
            argmax_max = max_;
            argmax_index = index;
        }
    }
    let fold_lane = lane / 32u;
    fold_max[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    workgroupBarrier();
    if fold_lane < 4u {
        let max_new = fold_max[lane + 128u];
        let index_new = fold_index[lane + 128u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        let max_new = fold_max[lane + 64u];
        let index_new = fold_index[lane + 64u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        let max_new = fold_max[lane + 32u];
        let index_new = fold_index[lane + 32u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
    }
    if lane == 0u {
        v_max[t_group * 512u + v_part_group] = argmax_max;
        v_index[t_group * 512u + v_part_group] = argmax_index;
    }
}
