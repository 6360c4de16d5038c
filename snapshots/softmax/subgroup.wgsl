// kernel softmax, shape C = 512, R <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for softmax {
//     r: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, lanes(64);
//     fold i: subgroup;
//     fold j: subgroup;
// }
// dispatch R workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 2
//     barriers: 3
//     loads an invocation: 24
//     bytes loaded an invocation: 96
//     stores an invocation: 8
//     flop an invocation: 92
//     flop a byte: 0.72
//     rounds of all loops: 56
enable subgroups;

struct Params {
    R: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
var<workgroup> fold: array<f32, 16>;

@compute @workgroup_size(64)
fn softmax(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    var m = -0x1.fffffep+127f;
    for (var i = lane; i < 512u; i += 64u) {
        let x_at = x[group.x * 512u + i];
        m = max(m, x_at);
    }
    let near = min(subgroup_size, 64u);
    let max_near = subgroupShuffleXor(m, 1u);
    m = max(m, max_near);
    let max_near1 = subgroupShuffleXor(m, 2u);
    m = max(m, max_near1);
    if 4u < near {
        let max_near2 = subgroupShuffleXor(m, 4u);
        m = max(m, max_near2);
    }
    if 8u < near {
        let max_near2 = subgroupShuffleXor(m, 8u);
        m = max(m, max_near2);
    }
    if 16u < near {
        let max_near2 = subgroupShuffleXor(m, 16u);
        m = max(m, max_near2);
    }
    if 32u < near {
        let max_near2 = subgroupShuffleXor(m, 32u);
        m = max(m, max_near2);
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = m;
    }
    workgroupBarrier();
    let near_groups = 64u / near;
    m = -0x1.fffffep+127f;
    for (var other = 0u; other < near_groups; other++) {
        let max_new = fold[other];
        m = max(m, max_new);
    }
    var s = 0.0;
    for (var j = lane; j < 512u; j += 64u) {
        let x_at = x[group.x * 512u + j];
        s = s + exp(x_at - m);
    }
    let near1 = min(subgroup_size, 64u);
    let sum_near = subgroupShuffleXor(s, 1u);
    s = s + sum_near;
    let sum_near1 = subgroupShuffleXor(s, 2u);
    s = s + sum_near1;
    if 4u < near1 {
        let sum_near2 = subgroupShuffleXor(s, 4u);
        s = s + sum_near2;
    }
    if 8u < near1 {
        let sum_near2 = subgroupShuffleXor(s, 8u);
        s = s + sum_near2;
    }
    if 16u < near1 {
        let sum_near2 = subgroupShuffleXor(s, 16u);
        s = s + sum_near2;
    }
    if 32u < near1 {
        let sum_near2 = subgroupShuffleXor(s, 32u);
        s = s + sum_near2;
    }
    workgroupBarrier();
    let near_group1 = lane / near1;
    if lane % near1 == 0u {
        fold[near_group1] = s;
    }
    workgroupBarrier();
    let near_groups1 = 64u / near1;
    s = 0.0;
    for (var other = 0u; other < near_groups1; other++) {
        s = s + fold[other];
    }
    for (var c = lane; c < 512u; c += 64u) {
        let x_at = x[group.x * 512u + c];
        y[group.x * 512u + c] = exp(x_at - m) / s;
    }
}
