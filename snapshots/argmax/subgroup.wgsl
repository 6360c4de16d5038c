// kernel argmax, shape T <= 64, V = 151936, schedule subgroup, target webgpu-subgroups
// schedule subgroup for argmax {
//     t: grid;
//     v: serial, lanes(256);
//     fold v: subgroup;
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 2
//     barriers: 1
//     loads an invocation: v
//     bytes loaded an invocation: 4 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: ceil(min(limit, 151936) / 256) + 64
//     rounds of v: ceil(min(limit, 151936) / 256)
enable subgroups;

struct Params {
    T: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
var<workgroup> fold_max: array<f32, 64>;
var<workgroup> fold_index: array<u32, 64>;

@compute @workgroup_size(256)
fn argmax(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
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
    let near = subgroup_size;
    let max_near = subgroupShuffleXor(argmax_max, 1u);
    let index_near = subgroupShuffleXor(argmax_index, 1u);
    let m = argmax_index == 0xffffffffu || (index_near != 0xffffffffu && (argmax_max > max_near || (argmax_max == max_near && argmax_index <= index_near)));
    let max_ = select(max_near, argmax_max, m);
    let index = select(index_near, argmax_index, m);
    argmax_max = max_;
    argmax_index = index;
    let max_near1 = subgroupShuffleXor(argmax_max, 2u);
    let index_near1 = subgroupShuffleXor(argmax_index, 2u);
    let m1 = argmax_index == 0xffffffffu || (index_near1 != 0xffffffffu && (argmax_max > max_near1 || (argmax_max == max_near1 && argmax_index <= index_near1)));
    let max_1 = select(max_near1, argmax_max, m1);
    let index1 = select(index_near1, argmax_index, m1);
    argmax_max = max_1;
    argmax_index = index1;
    if 4u < near {
        let max_near2 = subgroupShuffleXor(argmax_max, 4u);
        let index_near2 = subgroupShuffleXor(argmax_index, 4u);
        let m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        let max_2 = select(max_near2, argmax_max, m2);
        let index2 = select(index_near2, argmax_index, m2);
        argmax_max = max_2;
        argmax_index = index2;
    }
    if 8u < near {
        let max_near2 = subgroupShuffleXor(argmax_max, 8u);
        let index_near2 = subgroupShuffleXor(argmax_index, 8u);
        let m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        let max_2 = select(max_near2, argmax_max, m2);
        let index2 = select(index_near2, argmax_index, m2);
        argmax_max = max_2;
        argmax_index = index2;
    }
    if 16u < near {
        let max_near2 = subgroupShuffleXor(argmax_max, 16u);
        let index_near2 = subgroupShuffleXor(argmax_index, 16u);
        let m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        let max_2 = select(max_near2, argmax_max, m2);
        let index2 = select(index_near2, argmax_index, m2);
        argmax_max = max_2;
        argmax_index = index2;
    }
    if 32u < near {
        let max_near2 = subgroupShuffleXor(argmax_max, 32u);
        let index_near2 = subgroupShuffleXor(argmax_index, 32u);
        let m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        let max_2 = select(max_near2, argmax_max, m2);
        let index2 = select(index_near2, argmax_index, m2);
        argmax_max = max_2;
        argmax_index = index2;
    }
    if 64u < near {
        let max_near2 = subgroupShuffleXor(argmax_max, 64u);
        let index_near2 = subgroupShuffleXor(argmax_index, 64u);
        let m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        let max_2 = select(max_near2, argmax_max, m2);
        let index2 = select(index_near2, argmax_index, m2);
        argmax_max = max_2;
        argmax_index = index2;
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold_max[near_group] = argmax_max;
        fold_index[near_group] = argmax_index;
    }
    workgroupBarrier();
    let near_groups = 256u / near;
    argmax_max = -0x1.fffffep+127f;
    argmax_index = 0xfffffffeu;
    for (var other = 0u; other < near_groups; other++) {
        let max_new = fold_max[other];
        let index_new = fold_index[other];
        let m2 = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_2 = select(max_new, argmax_max, m2);
        let index2 = select(index_new, argmax_index, m2);
        argmax_max = max_2;
        argmax_index = index2;
    }
    if lane == 0u {
        y[group.x] = argmax_index;
    }
}
