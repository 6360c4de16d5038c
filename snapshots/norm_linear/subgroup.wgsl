// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for norm_linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     norm.j: serial, lanes(64), vector(4);
//     fold k: subgroup;
//     fold norm.j: subgroup;
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 320 bytes
//     accumulator registers: 5
//     barriers: 2
//     loads an invocation: 52
//     bytes loaded an invocation: 832
//     stores an invocation: 4
//     flop an invocation: 413
//     flop a byte: 0.49
//     rounds of all loops: 32
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
var<workgroup> fold1: array<f32, 64>;

@compute @workgroup_size(64)
fn norm_linear(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let r_group = group.x % 112u;
    let t_group = group.x / 112u;
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
    let r = r_group * 8u + lane / 32u * 4u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
        let w4 = w[r * 224u + k / 4u];
        let norm_x4 = norm_x[t_group * 224u + k / 4u];
        let v = norm_x4.x * norm_scale;
        let norm_w4 = norm_w[k / 4u];
        let v1 = v * norm_w4.x;
        let w4_1 = w[(r + 1u) * 224u + k / 4u];
        let w4_2 = w[(r + 2u) * 224u + k / 4u];
        let w4_3 = w[(r + 3u) * 224u + k / 4u];
        let v2 = norm_x4.y * norm_scale;
        let v3 = v2 * norm_w4.y;
        let v4 = norm_x4.z * norm_scale;
        let v5 = v4 * norm_w4.z;
        let v6 = norm_x4.w * norm_scale;
        let v7 = v6 * norm_w4.w;
        let w4_4 = w[r * 224u + k / 4u + 1u];
        let norm_x4_1 = norm_x[t_group * 224u + k / 4u + 1u];
        let v8 = norm_x4_1.x * norm_scale;
        let norm_w4_1 = norm_w[k / 4u + 1u];
        let v9 = v8 * norm_w4_1.x;
        let w4_5 = w[(r + 1u) * 224u + k / 4u + 1u];
        let w4_6 = w[(r + 2u) * 224u + k / 4u + 1u];
        let w4_7 = w[(r + 3u) * 224u + k / 4u + 1u];
        let v10 = norm_x4_1.y * norm_scale;
        let v11 = v10 * norm_w4_1.y;
        let v12 = norm_x4_1.z * norm_scale;
        let v13 = v12 * norm_w4_1.z;
        let v14 = norm_x4_1.w * norm_scale;
        let v15 = v14 * norm_w4_1.w;
        sum = fma(w4.x, v1, sum);
        sum1 = fma(w4_1.x, v1, sum1);
        sum2 = fma(w4_2.x, v1, sum2);
        sum3 = fma(w4_3.x, v1, sum3);
        sum = fma(w4.y, v3, sum);
        sum1 = fma(w4_1.y, v3, sum1);
        sum2 = fma(w4_2.y, v3, sum2);
        sum3 = fma(w4_3.y, v3, sum3);
        sum = fma(w4.z, v5, sum);
        sum1 = fma(w4_1.z, v5, sum1);
        sum2 = fma(w4_2.z, v5, sum2);
        sum3 = fma(w4_3.z, v5, sum3);
        sum = fma(w4.w, v7, sum);
        sum1 = fma(w4_1.w, v7, sum1);
        sum2 = fma(w4_2.w, v7, sum2);
        sum3 = fma(w4_3.w, v7, sum3);
        sum = fma(w4_4.x, v9, sum);
        sum1 = fma(w4_5.x, v9, sum1);
        sum2 = fma(w4_6.x, v9, sum2);
        sum3 = fma(w4_7.x, v9, sum3);
        sum = fma(w4_4.y, v11, sum);
        sum1 = fma(w4_5.y, v11, sum1);
        sum2 = fma(w4_6.y, v11, sum2);
        sum3 = fma(w4_7.y, v11, sum3);
        sum = fma(w4_4.z, v13, sum);
        sum1 = fma(w4_5.z, v13, sum1);
        sum2 = fma(w4_6.z, v13, sum2);
        sum3 = fma(w4_7.z, v13, sum3);
        sum = fma(w4_4.w, v15, sum);
        sum1 = fma(w4_5.w, v15, sum1);
        sum2 = fma(w4_6.w, v15, sum2);
        sum3 = fma(w4_7.w, v15, sum3);
    }
    let near1 = min(subgroup_size, 32u);
    let sum_near2 = subgroupShuffleXor(sum, 1u);
    sum = sum + sum_near2;
    let sum_near3 = subgroupShuffleXor(sum1, 1u);
    sum1 = sum1 + sum_near3;
    let sum_near4 = subgroupShuffleXor(sum2, 1u);
    sum2 = sum2 + sum_near4;
    let sum_near5 = subgroupShuffleXor(sum3, 1u);
    sum3 = sum3 + sum_near5;
    let sum_near6 = subgroupShuffleXor(sum, 2u);
    sum = sum + sum_near6;
    let sum_near7 = subgroupShuffleXor(sum1, 2u);
    sum1 = sum1 + sum_near7;
    let sum_near8 = subgroupShuffleXor(sum2, 2u);
    sum2 = sum2 + sum_near8;
    let sum_near9 = subgroupShuffleXor(sum3, 2u);
    sum3 = sum3 + sum_near9;
    if 4u < near1 {
        let sum_near10 = subgroupShuffleXor(sum, 4u);
        sum = sum + sum_near10;
        let sum_near11 = subgroupShuffleXor(sum1, 4u);
        sum1 = sum1 + sum_near11;
        let sum_near12 = subgroupShuffleXor(sum2, 4u);
        sum2 = sum2 + sum_near12;
        let sum_near13 = subgroupShuffleXor(sum3, 4u);
        sum3 = sum3 + sum_near13;
    }
    if 8u < near1 {
        let sum_near10 = subgroupShuffleXor(sum, 8u);
        sum = sum + sum_near10;
        let sum_near11 = subgroupShuffleXor(sum1, 8u);
        sum1 = sum1 + sum_near11;
        let sum_near12 = subgroupShuffleXor(sum2, 8u);
        sum2 = sum2 + sum_near12;
        let sum_near13 = subgroupShuffleXor(sum3, 8u);
        sum3 = sum3 + sum_near13;
    }
    if 16u < near1 {
        let sum_near10 = subgroupShuffleXor(sum, 16u);
        sum = sum + sum_near10;
        let sum_near11 = subgroupShuffleXor(sum1, 16u);
        sum1 = sum1 + sum_near11;
        let sum_near12 = subgroupShuffleXor(sum2, 16u);
        sum2 = sum2 + sum_near12;
        let sum_near13 = subgroupShuffleXor(sum3, 16u);
        sum3 = sum3 + sum_near13;
    }
    let near_group1 = lane / near1;
    if lane % near1 == 0u {
        fold1[near_group1] = sum;
        fold1[near_group1 + 16u] = sum1;
        fold1[near_group1 + 32u] = sum2;
        fold1[near_group1 + 48u] = sum3;
    }
    workgroupBarrier();
    let near_groups1 = 32u / near1;
    let first = lane / 32u * near_groups1;
    sum = 0.0;
    sum1 = 0.0;
    sum2 = 0.0;
    sum3 = 0.0;
    for (var other = 0u; other < near_groups1; other++) {
        sum = sum + fold1[first + other];
        sum1 = sum1 + fold1[first + other + 16u];
        sum2 = sum2 + fold1[first + other + 32u];
        sum3 = sum3 + fold1[first + other + 48u];
    }
    if lane % 32u == 0u {
        y[t_group * 896u + r] = sum;
        y[t_group * 896u + r + 1u] = sum1;
        y[t_group * 896u + r + 2u] = sum2;
        y[t_group * 896u + r + 3u] = sum3;
    }
}
