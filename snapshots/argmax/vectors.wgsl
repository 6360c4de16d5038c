// kernel argmax, shape T <= 64, V = 151936, schedule vectors, target webgpu-subgroups
// schedule vectors for argmax {
//     t: grid;
//     v: serial, lanes(256), unroll(4), vector(4);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 2
//     barriers: 8
//     loads an invocation: 4 * v
//     bytes loaded an invocation: 64 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: ceil(min(limit, 151936) / 4096)
//     rounds of v: ceil(min(limit, 151936) / 4096)

struct Params {
    T: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
var<workgroup> fold_max: array<f32, 256>;
var<workgroup> fold_index: array<u32, 256>;

@compute @workgroup_size(256)
fn argmax(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var argmax_max = -0x1.fffffep+127f;
    var argmax_index = 0xfffffffeu;
    let v_end = min(params.limit, 151936u);
    for (var v = lane * 16u; v < v_end; v += 4096u) {
        let x4 = x[group.x * 37984u + v / 4u];
        let v1 = (bitcast<u32>(x4.x) & 0x7f800000u) == 0x7f800000u;
        let v2 = (bitcast<u32>(x4.y) & 0x7f800000u) == 0x7f800000u;
        let v_in = min(v + 1u, v_end - 1u);
        let v3 = (bitcast<u32>(x4.z) & 0x7f800000u) == 0x7f800000u;
        let v_in1 = min(v + 2u, v_end - 1u);
        let v4 = (bitcast<u32>(x4.w) & 0x7f800000u) == 0x7f800000u;
        let v_in2 = min(v + 3u, v_end - 1u);
        let max_new = select(x4.x, 0x1.fffffep+127f, v1);
        let index_new = select(v, 0xffffffffu, v1);
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        if v + 1u < v_end {
            let max_new1 = select(x4.y, 0x1.fffffep+127f, v2);
            let index_new1 = select(v_in, 0xffffffffu, v2);
            let m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            let max_1 = select(max_new1, argmax_max, m1);
            let index1 = select(index_new1, argmax_index, m1);
            argmax_max = max_1;
            argmax_index = index1;
        }
        if v + 2u < v_end {
            let max_new1 = select(x4.z, 0x1.fffffep+127f, v3);
            let index_new1 = select(v_in1, 0xffffffffu, v3);
            let m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            let max_1 = select(max_new1, argmax_max, m1);
            let index1 = select(index_new1, argmax_index, m1);
            argmax_max = max_1;
            argmax_index = index1;
        }
        if v + 3u < v_end {
            let max_new1 = select(x4.w, 0x1.fffffep+127f, v4);
            let index_new1 = select(v_in2, 0xffffffffu, v4);
            let m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            let max_1 = select(max_new1, argmax_max, m1);
            let index1 = select(index_new1, argmax_index, m1);
            argmax_max = max_1;
            argmax_index = index1;
        }
        if v + 4u < v_end {
            let x4_1 = x[group.x * 37984u + v / 4u + 1u];
            let v5 = (bitcast<u32>(x4_1.x) & 0x7f800000u) == 0x7f800000u;
            let v6 = (bitcast<u32>(x4_1.y) & 0x7f800000u) == 0x7f800000u;
            let v_in3 = min(v + 5u, v_end - 1u);
            let v7 = (bitcast<u32>(x4_1.z) & 0x7f800000u) == 0x7f800000u;
            let v_in4 = min(v + 6u, v_end - 1u);
            let v8 = (bitcast<u32>(x4_1.w) & 0x7f800000u) == 0x7f800000u;
            let v_in5 = min(v + 7u, v_end - 1u);
            let max_new1 = select(x4_1.x, 0x1.fffffep+127f, v5);
            let index_new1 = select(v + 4u, 0xffffffffu, v5);
            let m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            let max_1 = select(max_new1, argmax_max, m1);
            let index1 = select(index_new1, argmax_index, m1);
            argmax_max = max_1;
            argmax_index = index1;
            if v + 5u < v_end {
                let max_new2 = select(x4_1.y, 0x1.fffffep+127f, v6);
                let index_new2 = select(v_in3, 0xffffffffu, v6);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
            if v + 6u < v_end {
                let max_new2 = select(x4_1.z, 0x1.fffffep+127f, v7);
                let index_new2 = select(v_in4, 0xffffffffu, v7);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
            if v + 7u < v_end {
                let max_new2 = select(x4_1.w, 0x1.fffffep+127f, v8);
                let index_new2 = select(v_in5, 0xffffffffu, v8);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
        }
        if v + 8u < v_end {
            let x4_1 = x[group.x * 37984u + v / 4u + 2u];
            let v5 = (bitcast<u32>(x4_1.x) & 0x7f800000u) == 0x7f800000u;
            let v6 = (bitcast<u32>(x4_1.y) & 0x7f800000u) == 0x7f800000u;
            let v_in3 = min(v + 9u, v_end - 1u);
            let v7 = (bitcast<u32>(x4_1.z) & 0x7f800000u) == 0x7f800000u;
            let v_in4 = min(v + 10u, v_end - 1u);
            let v8 = (bitcast<u32>(x4_1.w) & 0x7f800000u) == 0x7f800000u;
            let v_in5 = min(v + 11u, v_end - 1u);
            let max_new1 = select(x4_1.x, 0x1.fffffep+127f, v5);
            let index_new1 = select(v + 8u, 0xffffffffu, v5);
            let m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            let max_1 = select(max_new1, argmax_max, m1);
            let index1 = select(index_new1, argmax_index, m1);
            argmax_max = max_1;
            argmax_index = index1;
            if v + 9u < v_end {
                let max_new2 = select(x4_1.y, 0x1.fffffep+127f, v6);
                let index_new2 = select(v_in3, 0xffffffffu, v6);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
            if v + 10u < v_end {
                let max_new2 = select(x4_1.z, 0x1.fffffep+127f, v7);
                let index_new2 = select(v_in4, 0xffffffffu, v7);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
            if v + 11u < v_end {
                let max_new2 = select(x4_1.w, 0x1.fffffep+127f, v8);
                let index_new2 = select(v_in5, 0xffffffffu, v8);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
        }
        if v + 12u < v_end {
            let x4_1 = x[group.x * 37984u + v / 4u + 3u];
            let v5 = (bitcast<u32>(x4_1.x) & 0x7f800000u) == 0x7f800000u;
            let v6 = (bitcast<u32>(x4_1.y) & 0x7f800000u) == 0x7f800000u;
            let v_in3 = min(v + 13u, v_end - 1u);
            let v7 = (bitcast<u32>(x4_1.z) & 0x7f800000u) == 0x7f800000u;
            let v_in4 = min(v + 14u, v_end - 1u);
            let v8 = (bitcast<u32>(x4_1.w) & 0x7f800000u) == 0x7f800000u;
            let v_in5 = min(v + 15u, v_end - 1u);
            let max_new1 = select(x4_1.x, 0x1.fffffep+127f, v5);
            let index_new1 = select(v + 12u, 0xffffffffu, v5);
            let m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            let max_1 = select(max_new1, argmax_max, m1);
            let index1 = select(index_new1, argmax_index, m1);
            argmax_max = max_1;
            argmax_index = index1;
            if v + 13u < v_end {
                let max_new2 = select(x4_1.y, 0x1.fffffep+127f, v6);
                let index_new2 = select(v_in3, 0xffffffffu, v6);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
            if v + 14u < v_end {
                let max_new2 = select(x4_1.z, 0x1.fffffep+127f, v7);
                let index_new2 = select(v_in4, 0xffffffffu, v7);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
            if v + 15u < v_end {
                let max_new2 = select(x4_1.w, 0x1.fffffep+127f, v8);
                let index_new2 = select(v_in5, 0xffffffffu, v8);
                let m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                let max_2 = select(max_new2, argmax_max, m2);
                let index2 = select(index_new2, argmax_index, m2);
                argmax_max = max_2;
                argmax_index = index2;
            }
        }
    }
    fold_max[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    workgroupBarrier();
    if lane < 128u {
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
    if lane < 64u {
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
    if lane < 32u {
        let max_new = fold_max[lane + 32u];
        let index_new = fold_index[lane + 32u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if lane < 16u {
        let max_new = fold_max[lane + 16u];
        let index_new = fold_index[lane + 16u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if lane < 8u {
        let max_new = fold_max[lane + 8u];
        let index_new = fold_index[lane + 8u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if lane < 4u {
        let max_new = fold_max[lane + 4u];
        let index_new = fold_index[lane + 4u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if lane < 2u {
        let max_new = fold_max[lane + 2u];
        let index_new = fold_index[lane + 2u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if lane < 1u {
        let max_new = fold_max[lane + 1u];
        let index_new = fold_index[lane + 1u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
    }
    if lane == 0u {
        y[group.x] = argmax_index;
    }
}
