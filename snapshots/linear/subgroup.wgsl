// kernel linear, shape K = 896, R = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 4
//     barriers: 1
//     loads an invocation: 40
//     bytes loaded an invocation: 640
//     stores an invocation: 4
//     flop an invocation: 296
//     flop a byte: 0.45
//     rounds of all loops: 12
enable subgroups;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn linear(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let r_group = group.x % 112u;
    let t_group = group.x / 112u;
    let r = r_group * 8u + lane / 32u * 4u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
        let w4 = w[r * 224u + k / 4u];
        let x4 = x[t_group * 224u + k / 4u];
        let w4_1 = w[(r + 1u) * 224u + k / 4u];
        let w4_2 = w[(r + 2u) * 224u + k / 4u];
        let w4_3 = w[(r + 3u) * 224u + k / 4u];
        let w4_4 = w[r * 224u + k / 4u + 1u];
        let x4_1 = x[t_group * 224u + k / 4u + 1u];
        let w4_5 = w[(r + 1u) * 224u + k / 4u + 1u];
        let w4_6 = w[(r + 2u) * 224u + k / 4u + 1u];
        let w4_7 = w[(r + 3u) * 224u + k / 4u + 1u];
        sum = fma(w4.x, x4.x, sum);
        sum1 = fma(w4_1.x, x4.x, sum1);
        sum2 = fma(w4_2.x, x4.x, sum2);
        sum3 = fma(w4_3.x, x4.x, sum3);
        sum = fma(w4.y, x4.y, sum);
        sum1 = fma(w4_1.y, x4.y, sum1);
        sum2 = fma(w4_2.y, x4.y, sum2);
        sum3 = fma(w4_3.y, x4.y, sum3);
        sum = fma(w4.z, x4.z, sum);
        sum1 = fma(w4_1.z, x4.z, sum1);
        sum2 = fma(w4_2.z, x4.z, sum2);
        sum3 = fma(w4_3.z, x4.z, sum3);
        sum = fma(w4.w, x4.w, sum);
        sum1 = fma(w4_1.w, x4.w, sum1);
        sum2 = fma(w4_2.w, x4.w, sum2);
        sum3 = fma(w4_3.w, x4.w, sum3);
        sum = fma(w4_4.x, x4_1.x, sum);
        sum1 = fma(w4_5.x, x4_1.x, sum1);
        sum2 = fma(w4_6.x, x4_1.x, sum2);
        sum3 = fma(w4_7.x, x4_1.x, sum3);
        sum = fma(w4_4.y, x4_1.y, sum);
        sum1 = fma(w4_5.y, x4_1.y, sum1);
        sum2 = fma(w4_6.y, x4_1.y, sum2);
        sum3 = fma(w4_7.y, x4_1.y, sum3);
        sum = fma(w4_4.z, x4_1.z, sum);
        sum1 = fma(w4_5.z, x4_1.z, sum1);
        sum2 = fma(w4_6.z, x4_1.z, sum2);
        sum3 = fma(w4_7.z, x4_1.z, sum3);
        sum = fma(w4_4.w, x4_1.w, sum);
        sum1 = fma(w4_5.w, x4_1.w, sum1);
        sum2 = fma(w4_6.w, x4_1.w, sum2);
        sum3 = fma(w4_7.w, x4_1.w, sum3);
    }
    let near = min(subgroup_size, 32u);
    let sum_near = subgroupShuffleXor(sum, 1u);
    sum = sum + sum_near;
    let sum_near1 = subgroupShuffleXor(sum1, 1u);
    sum1 = sum1 + sum_near1;
    let sum_near2 = subgroupShuffleXor(sum2, 1u);
    sum2 = sum2 + sum_near2;
    let sum_near3 = subgroupShuffleXor(sum3, 1u);
    sum3 = sum3 + sum_near3;
    let sum_near4 = subgroupShuffleXor(sum, 2u);
    sum = sum + sum_near4;
    let sum_near5 = subgroupShuffleXor(sum1, 2u);
    sum1 = sum1 + sum_near5;
    let sum_near6 = subgroupShuffleXor(sum2, 2u);
    sum2 = sum2 + sum_near6;
    let sum_near7 = subgroupShuffleXor(sum3, 2u);
    sum3 = sum3 + sum_near7;
    if 4u < near {
        let sum_near8 = subgroupShuffleXor(sum, 4u);
        sum = sum + sum_near8;
        let sum_near9 = subgroupShuffleXor(sum1, 4u);
        sum1 = sum1 + sum_near9;
        let sum_near10 = subgroupShuffleXor(sum2, 4u);
        sum2 = sum2 + sum_near10;
        let sum_near11 = subgroupShuffleXor(sum3, 4u);
        sum3 = sum3 + sum_near11;
    }
    if 8u < near {
        let sum_near8 = subgroupShuffleXor(sum, 8u);
        sum = sum + sum_near8;
        let sum_near9 = subgroupShuffleXor(sum1, 8u);
        sum1 = sum1 + sum_near9;
        let sum_near10 = subgroupShuffleXor(sum2, 8u);
        sum2 = sum2 + sum_near10;
        let sum_near11 = subgroupShuffleXor(sum3, 8u);
        sum3 = sum3 + sum_near11;
    }
    if 16u < near {
        let sum_near8 = subgroupShuffleXor(sum, 16u);
        sum = sum + sum_near8;
        let sum_near9 = subgroupShuffleXor(sum1, 16u);
        sum1 = sum1 + sum_near9;
        let sum_near10 = subgroupShuffleXor(sum2, 16u);
        sum2 = sum2 + sum_near10;
        let sum_near11 = subgroupShuffleXor(sum3, 16u);
        sum3 = sum3 + sum_near11;
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = sum;
        fold[near_group + 16u] = sum1;
        fold[near_group + 32u] = sum2;
        fold[near_group + 48u] = sum3;
    }
    workgroupBarrier();
    let near_groups = 32u / near;
    let first = lane / 32u * near_groups;
    sum = 0.0;
    sum1 = 0.0;
    sum2 = 0.0;
    sum3 = 0.0;
    for (var other = 0u; other < near_groups; other++) {
        sum = sum + fold[first + other];
        sum1 = sum1 + fold[first + other + 16u];
        sum2 = sum2 + fold[first + other + 32u];
        sum3 = sum3 + fold[first + other + 48u];
    }
    if lane % 32u == 0u {
        y[t_group * 896u + r] = sum;
        y[t_group * 896u + r + 1u] = sum1;
        y[t_group * 896u + r + 2u] = sum2;
        y[t_group * 896u + r + 3u] = sum3;
    }
}
