// kernel linear, shape K = 896, R = 896, T <= 64, schedule subgroup_nf4, target webgpu-subgroups
// schedule subgroup_nf4 for linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
//     store w: nf4(64);
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 2304 bytes
//     accumulator registers: 8
//     barriers: 2
//     loads an invocation: 40
//     bytes loaded an invocation: 256
//     stores an invocation: 4
//     flop an invocation: 312
//     flop a byte: 1.15
//     rounds of all loops: 12
enable subgroups;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> levels: array<f32, 512>;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn linear(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    if lane < 32u {
        levels[lane] = -1.0;
        levels[lane + 32u] = -0.6961928f;
        levels[lane + 64u] = -0.52507305f;
        levels[lane + 96u] = -0.3949175f;
        levels[lane + 128u] = -0.28444138f;
        levels[lane + 160u] = -0.18477343f;
        levels[lane + 192u] = -0.091050036f;
        levels[lane + 224u] = 0.0;
        levels[lane + 256u] = 0.0795803f;
        levels[lane + 288u] = 0.1609302f;
        levels[lane + 320u] = 0.2461123f;
        levels[lane + 352u] = 0.33791524f;
        levels[lane + 384u] = 0.44070983f;
        levels[lane + 416u] = 0.562617f;
        levels[lane + 448u] = 0.72295684f;
        levels[lane + 480u] = 1.0;
    }
    workgroupBarrier();
    let copy = lane % 32u;
    let r_group = group.x % 112u;
    let t_group = group.x / 112u;
    let r = r_group * 8u + lane / 32u * 4u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
        let w_scale = bitcast<f32>(w[r * 128u + k / 64u + 112u]);
        let w_at = w[r * 128u + k / 8u];
        let code = levels[((w_at << 5u) & 480u) | copy];
        let x4 = x[t_group * 224u + k / 4u];
        let w_scale1 = bitcast<f32>(w[(r + 1u) * 128u + k / 64u + 112u]);
        let w_at1 = w[(r + 1u) * 128u + k / 8u];
        let code1 = levels[((w_at1 << 5u) & 480u) | copy];
        let w_scale2 = bitcast<f32>(w[(r + 2u) * 128u + k / 64u + 112u]);
        let w_at2 = w[(r + 2u) * 128u + k / 8u];
        let code2 = levels[((w_at2 << 5u) & 480u) | copy];
        let w_scale3 = bitcast<f32>(w[(r + 3u) * 128u + k / 64u + 112u]);
        let w_at3 = w[(r + 3u) * 128u + k / 8u];
        let code3 = levels[((w_at3 << 5u) & 480u) | copy];
        let code4 = levels[((w_at << 1u) & 480u) | copy];
        let code5 = levels[((w_at1 << 1u) & 480u) | copy];
        let code6 = levels[((w_at2 << 1u) & 480u) | copy];
        let code7 = levels[((w_at3 << 1u) & 480u) | copy];
        let code8 = levels[((w_at >> 3u) & 480u) | copy];
        let code9 = levels[((w_at1 >> 3u) & 480u) | copy];
        let code10 = levels[((w_at2 >> 3u) & 480u) | copy];
        let code11 = levels[((w_at3 >> 3u) & 480u) | copy];
        let code12 = levels[((w_at >> 7u) & 480u) | copy];
        let code13 = levels[((w_at1 >> 7u) & 480u) | copy];
        let code14 = levels[((w_at2 >> 7u) & 480u) | copy];
        let code15 = levels[((w_at3 >> 7u) & 480u) | copy];
        let code16 = levels[((w_at >> 11u) & 480u) | copy];
        let x4_1 = x[t_group * 224u + k / 4u + 1u];
        let code17 = levels[((w_at1 >> 11u) & 480u) | copy];
        let code18 = levels[((w_at2 >> 11u) & 480u) | copy];
        let code19 = levels[((w_at3 >> 11u) & 480u) | copy];
        let code20 = levels[((w_at >> 15u) & 480u) | copy];
        let code21 = levels[((w_at1 >> 15u) & 480u) | copy];
        let code22 = levels[((w_at2 >> 15u) & 480u) | copy];
        let code23 = levels[((w_at3 >> 15u) & 480u) | copy];
        let code24 = levels[((w_at >> 19u) & 480u) | copy];
        let code25 = levels[((w_at1 >> 19u) & 480u) | copy];
        let code26 = levels[((w_at2 >> 19u) & 480u) | copy];
        let code27 = levels[((w_at3 >> 19u) & 480u) | copy];
        let code28 = levels[((w_at >> 23u) & 480u) | copy];
        let code29 = levels[((w_at1 >> 23u) & 480u) | copy];
        let code30 = levels[((w_at2 >> 23u) & 480u) | copy];
        let code31 = levels[((w_at3 >> 23u) & 480u) | copy];
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
