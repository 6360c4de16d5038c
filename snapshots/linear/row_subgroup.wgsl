// kernel linear, shape K = 896, R = 896, T <= 64, schedule row_subgroup, target webgpu-subgroups
// schedule row_subgroup for linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(8);
//     fold k: subgroup;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 1
//     barriers: 1
//     loads an invocation: 8
//     bytes loaded an invocation: 128
//     stores an invocation: 1
//     flop an invocation: 50
//     flop a byte: 0.38
//     rounds of all loops: 18
enable subgroups;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 16>;

@compute @workgroup_size(64)
fn linear(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let r_group = group.x % 896u;
    let t_group = group.x / 896u;
    var sum = 0.0;
    for (var k = lane * 8u; k < 896u; k += 512u) {
        let w4 = w[r_group * 224u + k / 4u];
        let x4 = x[t_group * 224u + k / 4u];
        let w4_1 = w[r_group * 224u + k / 4u + 1u];
        let x4_1 = x[t_group * 224u + k / 4u + 1u];
        sum = fma(w4.x, x4.x, sum);
        sum = fma(w4.y, x4.y, sum);
        sum = fma(w4.z, x4.z, sum);
        sum = fma(w4.w, x4.w, sum);
        sum = fma(w4_1.x, x4_1.x, sum);
        sum = fma(w4_1.y, x4_1.y, sum);
        sum = fma(w4_1.z, x4_1.z, sum);
        sum = fma(w4_1.w, x4_1.w, sum);
    }
    let near = min(subgroup_size, 64u);
    let sum_near = subgroupShuffleXor(sum, 1u);
    sum = sum + sum_near;
    let sum_near1 = subgroupShuffleXor(sum, 2u);
    sum = sum + sum_near1;
    if 4u < near {
        let sum_near2 = subgroupShuffleXor(sum, 4u);
        sum = sum + sum_near2;
    }
    if 8u < near {
        let sum_near2 = subgroupShuffleXor(sum, 8u);
        sum = sum + sum_near2;
    }
    if 16u < near {
        let sum_near2 = subgroupShuffleXor(sum, 16u);
        sum = sum + sum_near2;
    }
    if 32u < near {
        let sum_near2 = subgroupShuffleXor(sum, 32u);
        sum = sum + sum_near2;
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = sum;
    }
    workgroupBarrier();
    let near_groups = 64u / near;
    sum = 0.0;
    for (var other = 0u; other < near_groups; other++) {
        sum = sum + fold[other];
    }
    if lane == 0u {
        y[t_group * 896u + r_group] = sum;
    }
}
