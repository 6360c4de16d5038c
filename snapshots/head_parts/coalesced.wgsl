// kernel head_parts, shape K = 896, T <= 64, V = 32768, v.Parts = 512, schedule coalesced, target webgpu-subgroups
// schedule coalesced for head_parts {
//     workgroup 64;
//     t: grid;
//     v.part: grid;
//     v: serial, unroll(4), lanes(2);
//     head.k: serial, lanes(32), vector(8);
//     head.norm.j: serial, lanes(64), vector(4);
// }
// dispatch T * 512 workgroups of 64 invocations
// cost
//     workgroup memory: 1536 bytes
//     accumulator registers: 7
//     barriers: 65
//     loads an invocation: 388
//     bytes loaded an invocation: 6208
//     stores an invocation: 2
//     flop an invocation: 2761
//     flop a byte: 0.44
//     rounds of all loops: 44

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
var<workgroup> fold1: array<f32, 256>;
var<workgroup> fold_index: array<u32, 64>;

@compute @workgroup_size(64)
fn head_parts(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let v_part_group = group.x % 512u;
    let t_group = group.x / 512u;
    var s = 0.0;
    for (var j = lane * 4u; j < 896u; j += 256u) {
        let head_norm_x4 = head_norm_x[t_group * 224u + j / 4u];
        s = fma(head_norm_x4.x, head_norm_x4.x, s);
        s = fma(head_norm_x4.y, head_norm_x4.y, s);
        s = fma(head_norm_x4.z, head_norm_x4.z, s);
        s = fma(head_norm_x4.w, head_norm_x4.w, s);
    }
    fold[lane] = s;
    workgroupBarrier();
    if lane < 32u {
        s = s + fold[lane + 32u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 16u {
        s = s + fold[lane + 16u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 8u {
        s = s + fold[lane + 8u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 4u {
        s = s + fold[lane + 4u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 2u {
        s = s + fold[lane + 2u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 1u {
        s = s + fold[lane + 1u];
        fold[lane] = s;
    }
    workgroupBarrier();
    s = fold[0];
    let head_norm_scale = inverseSqrt(s / 896.0 + params.head_norm_eps);
    var argmax_max = -0x1.fffffep+127f;
    var argmax_index = 0xfffffffeu;
    let v = v_part_group * 64u;
    let v_end = min(max(min(params.limit, 32768u), v) - v, 64u);
    let v_step_count = (v_end + 7u) / 8u;
    for (var v_step = 0u; v_step < v_step_count; v_step++) {
        let v1 = v_step * 8u + lane / 32u;
        var sum = 0.0;
        var sum1 = 0.0;
        var sum2 = 0.0;
        var sum3 = 0.0;
        for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
            let v_in = min(v1, v_end - 1u);
            let v2 = v + v_in;
            let head_w4 = head_w[v2 * 224u + k / 4u];
            let head_norm_x4 = head_norm_x[t_group * 224u + k / 4u];
            let v3 = head_norm_x4.x * head_norm_scale;
            let head_norm_w4 = head_norm_w[k / 4u];
            let v4 = v3 * head_norm_w4.x;
            let v_in1 = min(v1 + 2u, v_end - 1u);
            let v5 = v + v_in1;
            let head_w4_1 = head_w[v5 * 224u + k / 4u];
            let v_in2 = min(v1 + 4u, v_end - 1u);
            let v6 = v + v_in2;
            let head_w4_2 = head_w[v6 * 224u + k / 4u];
            let v_in3 = min(v1 + 6u, v_end - 1u);
            let v7 = v + v_in3;
            let head_w4_3 = head_w[v7 * 224u + k / 4u];
            let v8 = head_norm_x4.y * head_norm_scale;
            let v9 = v8 * head_norm_w4.y;
            let v10 = head_norm_x4.z * head_norm_scale;
            let v11 = v10 * head_norm_w4.z;
            let v12 = head_norm_x4.w * head_norm_scale;
            let v13 = v12 * head_norm_w4.w;
            let head_w4_4 = head_w[v2 * 224u + k / 4u + 1u];
            let head_norm_x4_1 = head_norm_x[t_group * 224u + k / 4u + 1u];
            let v14 = head_norm_x4_1.x * head_norm_scale;
            let head_norm_w4_1 = head_norm_w[k / 4u + 1u];
            let v15 = v14 * head_norm_w4_1.x;
            let head_w4_5 = head_w[v5 * 224u + k / 4u + 1u];
            let head_w4_6 = head_w[v6 * 224u + k / 4u + 1u];
            let head_w4_7 = head_w[v7 * 224u + k / 4u + 1u];
            let v16 = head_norm_x4_1.y * head_norm_scale;
            let v17 = v16 * head_norm_w4_1.y;
            let v18 = head_norm_x4_1.z * head_norm_scale;
            let v19 = v18 * head_norm_w4_1.z;
            let v20 = head_norm_x4_1.w * head_norm_scale;
            let v21 = v20 * head_norm_w4_1.w;
            sum = fma(head_w4.x, v4, sum);
            sum1 = fma(head_w4_1.x, v4, sum1);
            sum2 = fma(head_w4_2.x, v4, sum2);
            sum3 = fma(head_w4_3.x, v4, sum3);
            sum = fma(head_w4.y, v9, sum);
            sum1 = fma(head_w4_1.y, v9, sum1);
            sum2 = fma(head_w4_2.y, v9, sum2);
            sum3 = fma(head_w4_3.y, v9, sum3);
            sum = fma(head_w4.z, v11, sum);
            sum1 = fma(head_w4_1.z, v11, sum1);
            sum2 = fma(head_w4_2.z, v11, sum2);
            sum3 = fma(head_w4_3.z, v11, sum3);
            sum = fma(head_w4.w, v13, sum);
            sum1 = fma(head_w4_1.w, v13, sum1);
            sum2 = fma(head_w4_2.w, v13, sum2);
            sum3 = fma(head_w4_3.w, v13, sum3);
            sum = fma(head_w4_4.x, v15, sum);
            sum1 = fma(head_w4_5.x, v15, sum1);
            sum2 = fma(head_w4_6.x, v15, sum2);
            sum3 = fma(head_w4_7.x, v15, sum3);
            sum = fma(head_w4_4.y, v17, sum);
            sum1 = fma(head_w4_5.y, v17, sum1);
            sum2 = fma(head_w4_6.y, v17, sum2);
            sum3 = fma(head_w4_7.y, v17, sum3);
            sum = fma(head_w4_4.z, v19, sum);
            sum1 = fma(head_w4_5.z, v19, sum1);
            sum2 = fma(head_w4_6.z, v19, sum2);
            sum3 = fma(head_w4_7.z, v19, sum3);
            sum = fma(head_w4_4.w, v21, sum);
            sum1 = fma(head_w4_5.w, v21, sum1);
            sum2 = fma(head_w4_6.w, v21, sum2);
            sum3 = fma(head_w4_7.w, v21, sum3);
        }
        workgroupBarrier();
        let fold_lane = lane % 32u;
        fold1[lane] = sum;
        fold1[lane + 64u] = sum1;
        fold1[lane + 128u] = sum2;
        fold1[lane + 192u] = sum3;
        workgroupBarrier();
        if fold_lane < 16u {
            sum = sum + fold1[lane + 16u];
            sum1 = sum1 + fold1[lane + 80u];
            sum2 = sum2 + fold1[lane + 144u];
            sum3 = sum3 + fold1[lane + 208u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        workgroupBarrier();
        if fold_lane < 8u {
            sum = sum + fold1[lane + 8u];
            sum1 = sum1 + fold1[lane + 72u];
            sum2 = sum2 + fold1[lane + 136u];
            sum3 = sum3 + fold1[lane + 200u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        workgroupBarrier();
        if fold_lane < 4u {
            sum = sum + fold1[lane + 4u];
            sum1 = sum1 + fold1[lane + 68u];
            sum2 = sum2 + fold1[lane + 132u];
            sum3 = sum3 + fold1[lane + 196u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        workgroupBarrier();
        if fold_lane < 2u {
            sum = sum + fold1[lane + 2u];
            sum1 = sum1 + fold1[lane + 66u];
            sum2 = sum2 + fold1[lane + 130u];
            sum3 = sum3 + fold1[lane + 194u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        workgroupBarrier();
        if fold_lane < 1u {
            sum = sum + fold1[lane + 1u];
            sum1 = sum1 + fold1[lane + 65u];
            sum2 = sum2 + fold1[lane + 129u];
            sum3 = sum3 + fold1[lane + 193u];
            fold1[lane] = sum;
            fold1[lane + 64u] = sum1;
            fold1[lane + 128u] = sum2;
            fold1[lane + 192u] = sum3;
        }
        workgroupBarrier();
        sum = fold1[lane - lane % 32u];
        sum1 = fold1[lane - lane % 32u + 64u];
        sum2 = fold1[lane - lane % 32u + 128u];
        sum3 = fold1[lane - lane % 32u + 192u];
        let v2 = (bitcast<u32>(sum) & 0x7f800000u) == 0x7f800000u;
        let v_in = min(v1, v_end - 1u);
        let v3 = v + v_in;
        let v4 = (bitcast<u32>(sum1) & 0x7f800000u) == 0x7f800000u;
        let v_in1 = min(v1 + 2u, v_end - 1u);
        let v5 = v + v_in1;
        let v6 = (bitcast<u32>(sum2) & 0x7f800000u) == 0x7f800000u;
        let v_in2 = min(v1 + 4u, v_end - 1u);
        let v7 = v + v_in2;
        let v8 = (bitcast<u32>(sum3) & 0x7f800000u) == 0x7f800000u;
        let v_in3 = min(v1 + 6u, v_end - 1u);
        let v9 = v + v_in3;
        if v1 < v_end {
            let max_new = select(sum, 0x1.fffffep+127f, v2);
            let index_new = select(v3, 0xffffffffu, v2);
            let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            let max_ = select(max_new, argmax_max, m);
            let index = select(index_new, argmax_index, m);
            argmax_max = max_;
            argmax_index = index;
        }
        if v1 + 2u < v_end {
            let max_new = select(sum1, 0x1.fffffep+127f, v4);
            let index_new = select(v5, 0xffffffffu, v4);
            let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            let max_ = select(max_new, argmax_max, m);
            let index = select(index_new, argmax_index, m);
            argmax_max = max_;
            argmax_index = index;
        }
        if v1 + 4u < v_end {
            let max_new = select(sum2, 0x1.fffffep+127f, v6);
            let index_new = select(v7, 0xffffffffu, v6);
            let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            let max_ = select(max_new, argmax_max, m);
            let index = select(index_new, argmax_index, m);
            argmax_max = max_;
            argmax_index = index;
        }
        if v1 + 6u < v_end {
            let max_new = select(sum3, 0x1.fffffep+127f, v8);
            let index_new = select(v9, 0xffffffffu, v8);
            let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
            let max_ = select(max_new, argmax_max, m);
            let index = select(index_new, argmax_index, m);
            argmax_max = max_;
            argmax_index = index;
        }
    }
    workgroupBarrier();
    let fold_lane = lane / 32u;
    fold[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    workgroupBarrier();
    if fold_lane < 1u {
        let max_new = fold[lane + 32u];
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
