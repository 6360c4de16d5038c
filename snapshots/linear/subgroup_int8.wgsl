// kernel linear, shape K = 896, R = 896, T <= 64, schedule subgroup_int8, target webgpu-subgroups
// schedule subgroup_int8 for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
//     store w: int8(channel);
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 8
//     barriers: 1
//     loads an invocation: 28
//     bytes loaded an invocation: 272
//     stores an invocation: 4
//     flop an invocation: 440
//     flop a byte: 1.53
//     rounds of all loops: 12
enable subgroups;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec2<u32>>;
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
    let w_scale = bitcast<f32>(w[r * 114u + 112u].x);
    let w_scale1 = bitcast<f32>(w[(r + 1u) * 114u + 112u].x);
    let w_scale2 = bitcast<f32>(w[(r + 2u) * 114u + 112u].x);
    let w_scale3 = bitcast<f32>(w[(r + 3u) * 114u + 112u].x);
    for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
        let w2 = w[r * 114u + k / 8u];
        let code = bitcast<f32>((w2.x & 255u) | 0x4b000000u) - 8388736.0;
        let x4 = x[t_group * 224u + k / 4u];
        let w2_1 = w[(r + 1u) * 114u + k / 8u];
        let code1 = bitcast<f32>((w2_1.x & 255u) | 0x4b000000u) - 8388736.0;
        let w2_2 = w[(r + 2u) * 114u + k / 8u];
        let code2 = bitcast<f32>((w2_2.x & 255u) | 0x4b000000u) - 8388736.0;
        let w2_3 = w[(r + 3u) * 114u + k / 8u];
        let code3 = bitcast<f32>((w2_3.x & 255u) | 0x4b000000u) - 8388736.0;
        let code4 = bitcast<f32>(((w2.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code5 = bitcast<f32>(((w2_1.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code6 = bitcast<f32>(((w2_2.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code7 = bitcast<f32>(((w2_3.x >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code8 = bitcast<f32>(((w2.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code9 = bitcast<f32>(((w2_1.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code10 = bitcast<f32>(((w2_2.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code11 = bitcast<f32>(((w2_3.x >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code12 = bitcast<f32>((w2.x >> 24u) | 0x4b000000u) - 8388736.0;
        let code13 = bitcast<f32>((w2_1.x >> 24u) | 0x4b000000u) - 8388736.0;
        let code14 = bitcast<f32>((w2_2.x >> 24u) | 0x4b000000u) - 8388736.0;
        let code15 = bitcast<f32>((w2_3.x >> 24u) | 0x4b000000u) - 8388736.0;
        let code16 = bitcast<f32>((w2.y & 255u) | 0x4b000000u) - 8388736.0;
        let x4_1 = x[t_group * 224u + k / 4u + 1u];
        let code17 = bitcast<f32>((w2_1.y & 255u) | 0x4b000000u) - 8388736.0;
        let code18 = bitcast<f32>((w2_2.y & 255u) | 0x4b000000u) - 8388736.0;
        let code19 = bitcast<f32>((w2_3.y & 255u) | 0x4b000000u) - 8388736.0;
        let code20 = bitcast<f32>(((w2.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code21 = bitcast<f32>(((w2_1.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code22 = bitcast<f32>(((w2_2.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code23 = bitcast<f32>(((w2_3.y >> 8u) & 255u) | 0x4b000000u) - 8388736.0;
        let code24 = bitcast<f32>(((w2.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code25 = bitcast<f32>(((w2_1.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code26 = bitcast<f32>(((w2_2.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code27 = bitcast<f32>(((w2_3.y >> 16u) & 255u) | 0x4b000000u) - 8388736.0;
        let code28 = bitcast<f32>((w2.y >> 24u) | 0x4b000000u) - 8388736.0;
        let code29 = bitcast<f32>((w2_1.y >> 24u) | 0x4b000000u) - 8388736.0;
        let code30 = bitcast<f32>((w2_2.y >> 24u) | 0x4b000000u) - 8388736.0;
        let code31 = bitcast<f32>((w2_3.y >> 24u) | 0x4b000000u) - 8388736.0;
        var terms = code * x4.x;
        var terms1 = code1 * x4.x;
        var terms2 = code2 * x4.x;
        var terms3 = code3 * x4.x;
        terms = fma(code4, x4.y, terms);
        terms1 = fma(code5, x4.y, terms1);
        terms2 = fma(code6, x4.y, terms2);
        terms3 = fma(code7, x4.y, terms3);
        terms = fma(code8, x4.z, terms);
        terms1 = fma(code9, x4.z, terms1);
        terms2 = fma(code10, x4.z, terms2);
        terms3 = fma(code11, x4.z, terms3);
        terms = fma(code12, x4.w, terms);
        terms1 = fma(code13, x4.w, terms1);
        terms2 = fma(code14, x4.w, terms2);
        terms3 = fma(code15, x4.w, terms3);
        terms = fma(code16, x4_1.x, terms);
        terms1 = fma(code17, x4_1.x, terms1);
        terms2 = fma(code18, x4_1.x, terms2);
        terms3 = fma(code19, x4_1.x, terms3);
        terms = fma(code20, x4_1.y, terms);
        terms1 = fma(code21, x4_1.y, terms1);
        terms2 = fma(code22, x4_1.y, terms2);
        terms3 = fma(code23, x4_1.y, terms3);
        terms = fma(code24, x4_1.z, terms);
        terms1 = fma(code25, x4_1.z, terms1);
        terms2 = fma(code26, x4_1.z, terms2);
        terms3 = fma(code27, x4_1.z, terms3);
        terms = fma(code28, x4_1.w, terms);
        terms1 = fma(code29, x4_1.w, terms1);
        terms2 = fma(code30, x4_1.w, terms2);
        terms3 = fma(code31, x4_1.w, terms3);
        sum = fma(terms, w_scale, sum);
        sum1 = fma(terms1, w_scale1, sum1);
        sum2 = fma(terms2, w_scale2, sum2);
        sum3 = fma(terms3, w_scale3, sum3);
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
