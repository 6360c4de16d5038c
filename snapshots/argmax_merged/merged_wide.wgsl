// kernel argmax_merged, shape T <= 64, v.Parts = 2374, schedule merged_wide, target wide
// schedule merged_wide for argmax_merged {
//     t: grid;
//     v.part: serial, lanes(1024);
// }
// dispatch T workgroups of 1024 invocations
// cost
//     workgroup memory: 8192 bytes
//     accumulator registers: 2
//     barriers: 10
//     loads an invocation: 6
//     bytes loaded an invocation: 24
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 3

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> v_max: array<f32>;
@group(0) @binding(1) var<storage, read> v_index: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold_max: array<f32, 1024>;
var<workgroup> fold_index: array<u32, 1024>;

@compute @workgroup_size(1024)
fn argmax_merged(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var argmax_max = -0x1.fffffep+127f;
    var argmax_index = 0xfffffffeu;
    for (var part = lane; part < 2374u; part += 1024u) {
        let v_max_at = v_max[group.x * 2376u + part];
        let v_index_at = v_index[group.x * 2376u + part];
        let m = argmax_index == 0xffffffffu || (v_index_at != 0xffffffffu && (argmax_max > v_max_at || (argmax_max == v_max_at && argmax_index <= v_index_at)));
        let max_ = select(v_max_at, argmax_max, m);
        let index = select(v_index_at, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
    }
    fold_max[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    workgroupBarrier();
    if lane < 512u {
        let max_new = fold_max[lane + 512u];
        let index_new = fold_index[lane + 512u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    workgroupBarrier();
    if lane < 256u {
        let max_new = fold_max[lane + 256u];
        let index_new = fold_index[lane + 256u];
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
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
