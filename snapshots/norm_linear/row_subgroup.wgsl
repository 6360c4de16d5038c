// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule row_subgroup, target webgpu-subgroups
// schedule row_subgroup for norm_linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(4);
//     norm.j: serial, lanes(64), vector(4);
//     fold k: subgroup;
//     fold norm.j: subgroup;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 2
//     barriers: 3
//     loads an invocation: 16
//     bytes loaded an invocation: 256
//     stores an invocation: 1
//     flop an invocation: 135
//     flop a byte: 0.52
//     rounds of all loops: 40
enable subgroups;

struct Params {
    T: u32,
    norm_eps: f32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> norm_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> norm_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<f32, 16>;

@compute @workgroup_size(64)
fn norm_linear(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let r_group = group.x % 896u;
    let t_group = group.x / 896u;
    var s = 0.0;
    for (var j = lane * 4u; j < 896u; j += 256u) {
        let norm_x4 = norm_x[t_group * 224u + j / 4u];
        s = fma(norm_x4.x, norm_x4.x, s);
        s = fma(norm_x4.y, norm_x4.y, s);
        s = fma(norm_x4.z, norm_x4.z, s);
        s = fma(norm_x4.w, norm_x4.w, s);
    }
    let near = min(subgroup_size, 64u);
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
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = s;
    }
    workgroupBarrier();
    let near_groups = 64u / near;
    s = 0.0;
    for (var other = 0u; other < near_groups; other++) {
        s = s + fold[other];
    }
    let norm_scale = inverseSqrt(s / 896.0 + params.norm_eps);
    var sum = 0.0;
    for (var k = lane * 4u; k < 896u; k += 256u) {
        let w4 = w[r_group * 224u + k / 4u];
        let norm_x4 = norm_x[t_group * 224u + k / 4u];
        let norm_w4 = norm_w[k / 4u];
        sum = fma(w4.x, norm_x4.x * norm_scale * norm_w4.x, sum);
        sum = fma(w4.y, norm_x4.y * norm_scale * norm_w4.y, sum);
        sum = fma(w4.z, norm_x4.z * norm_scale * norm_w4.z, sum);
        sum = fma(w4.w, norm_x4.w * norm_scale * norm_w4.w, sum);
    }
    let near1 = min(subgroup_size, 64u);
    let sum_near2 = subgroupShuffleXor(sum, 1u);
    sum = sum + sum_near2;
    let sum_near3 = subgroupShuffleXor(sum, 2u);
    sum = sum + sum_near3;
    if 4u < near1 {
        let sum_near4 = subgroupShuffleXor(sum, 4u);
        sum = sum + sum_near4;
    }
    if 8u < near1 {
        let sum_near4 = subgroupShuffleXor(sum, 8u);
        sum = sum + sum_near4;
    }
    if 16u < near1 {
        let sum_near4 = subgroupShuffleXor(sum, 16u);
        sum = sum + sum_near4;
    }
    if 32u < near1 {
        let sum_near4 = subgroupShuffleXor(sum, 32u);
        sum = sum + sum_near4;
    }
    workgroupBarrier();
    let near_group1 = lane / near1;
    if lane % near1 == 0u {
        fold[near_group1] = sum;
    }
    workgroupBarrier();
    let near_groups1 = 64u / near1;
    sum = 0.0;
    for (var other = 0u; other < near_groups1; other++) {
        sum = sum + fold[other];
    }
    if lane == 0u {
        y[t_group * 896u + r_group] = sum;
    }
}
