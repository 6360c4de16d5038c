// kernel argmax, shape T <= 64, V = 151936, schedule tree, target webgpu-subgroups
// schedule tree for argmax {
//     t: grid;
//     v: serial, lanes(256);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 2
//     barriers: 8
//     loads an invocation: v
//     bytes loaded an invocation: 4 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: ceil(min(limit, 151936) / 256)
//     rounds of v: ceil(min(limit, 151936) / 256)

struct Params {
    T: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
var<workgroup> fold_max: array<f32, 256>;
var<workgroup> fold_index: array<u32, 256>;

@compute @workgroup_size(256)
fn argmax(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var argmax_max = -0x1.fffffep+127f;
    var argmax_index = 0xfffffffeu;
    let v_end = min(params.limit, 151936u);
    for (var v = lane; v < v_end; v += 256u) {
        let x_at = x[group.x * 151936u + v];
        let v1 = (bitcast<u32>(x_at) & 0x7f800000u) == 0x7f800000u;
        let max_new = select(x_at, 0x1.fffffep+127f, v1);
        let index_new = select(v, 0xffffffffu, v1);
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
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
