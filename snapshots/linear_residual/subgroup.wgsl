// kernel linear_residual, shape D = 896, K = 4864, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for linear_residual {
//     t: grid;
//     i: grid;
//     linear.k: serial, lanes(64), vector(8);
//     fold linear.k: subgroup;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 1
//     barriers: 1
//     loads an invocation: 41
//     bytes loaded an invocation: 644
//     stores an invocation: 1
//     flop an invocation: 179
//     flop a byte: 0.28
//     rounds of all loops: 26
enable subgroups;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> linear_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> linear_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> h: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 16>;

@compute @workgroup_size(64)
fn linear_residual(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let i_group = group.x % 896u;
    let t_group = group.x / 896u;
    var sum = 0.0;
    for (var k = lane * 8u; k < 4864u; k += 512u) {
        let linear_w4 = linear_w[i_group * 1216u + k / 4u];
        let linear_x4 = linear_x[t_group * 1216u + k / 4u];
        let linear_w4_1 = linear_w[i_group * 1216u + k / 4u + 1u];
        let linear_x4_1 = linear_x[t_group * 1216u + k / 4u + 1u];
        sum = fma(linear_w4.x, linear_x4.x, sum);
        sum = fma(linear_w4.y, linear_x4.y, sum);
        sum = fma(linear_w4.z, linear_x4.z, sum);
        sum = fma(linear_w4.w, linear_x4.w, sum);
        sum = fma(linear_w4_1.x, linear_x4_1.x, sum);
        sum = fma(linear_w4_1.y, linear_x4_1.y, sum);
        sum = fma(linear_w4_1.z, linear_x4_1.z, sum);
        sum = fma(linear_w4_1.w, linear_x4_1.w, sum);
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
        let h_at = h[t_group * 896u + i_group];
        h[t_group * 896u + i_group] = h_at + sum;
    }
}
