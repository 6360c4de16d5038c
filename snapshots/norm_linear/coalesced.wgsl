// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule coalesced, target webgpu-subgroups
// schedule coalesced for norm_linear {
//     workgroup 64;
//     t: grid;
//     r: grid, lanes(2), unroll(4);
//     k: serial, lanes(32), vector(4);
//     norm.j: serial, lanes(64), vector(4);
// }
// dispatch T * 112 workgroups of 64 invocations
// cost
//     workgroup memory: 1280 bytes
//     accumulator registers: 5
//     barriers: 12
//     loads an invocation: 46
//     bytes loaded an invocation: 736
//     stores an invocation: 4
//     flop an invocation: 341
//     flop a byte: 0.45
//     rounds of all loops: 11

struct Params {
    T: u32,
    norm_eps: f32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> norm_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> norm_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;
var<workgroup> fold1: array<f32, 256>;

@compute @workgroup_size(64)
fn norm_linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
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
    fold[lane] = s;
    workgroupBarrier();
    if lane < 32u {
        s = s + fold[lane + 32u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 16u {
        s = s + fold[lane + 16u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 8u {
        s = s + fold[lane + 8u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 4u {
        s = s + fold[lane + 4u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 2u {
        s = s + fold[lane + 2u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 1u {
        s = s + fold[lane + 1u];
        fold[lane] = s;
    }
    workgroupBarrier();
    s = fold[0];
    let norm_scale = inverseSqrt(s / 896.0 + params.norm_eps);
    let r = r_group * 8u + lane / 32u * 4u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    for (var k = lane % 32u * 4u; k < 896u; k += 128u) {
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
    }
    let fold_lane = lane % 32u;
    fold1[lane] = sum;
    fold1[lane + 64u] = sum1;
    fold1[lane + 128u] = sum2;
    fold1[lane + 192u] = sum3;
    workgroupBarrier();
    if fold_lane < 16u {
        sum = sum + fold1[lane + 16u];
        sum1 = sum1 + fold1[lane + 80u];
        sum2 = sum2 + fold1[lane + 144u];
        sum3 = sum3 + fold1[lane + 208u];
        fold1[lane] = sum;
        fold1[lane + 64u] = sum1;
        fold1[lane + 128u] = sum2;
        fold1[lane + 192u] = sum3;
    }
    workgroupBarrier();
    if fold_lane < 8u {
        sum = sum + fold1[lane + 8u];
        sum1 = sum1 + fold1[lane + 72u];
        sum2 = sum2 + fold1[lane + 136u];
        sum3 = sum3 + fold1[lane + 200u];
        fold1[lane] = sum;
        fold1[lane + 64u] = sum1;
        fold1[lane + 128u] = sum2;
        fold1[lane + 192u] = sum3;
    }
    workgroupBarrier();
    if fold_lane < 4u {
        sum = sum + fold1[lane + 4u];
        sum1 = sum1 + fold1[lane + 68u];
        sum2 = sum2 + fold1[lane + 132u];
        sum3 = sum3 + fold1[lane + 196u];
        fold1[lane] = sum;
        fold1[lane + 64u] = sum1;
        fold1[lane + 128u] = sum2;
        fold1[lane + 192u] = sum3;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        sum = sum + fold1[lane + 2u];
        sum1 = sum1 + fold1[lane + 66u];
        sum2 = sum2 + fold1[lane + 130u];
        sum3 = sum3 + fold1[lane + 194u];
        fold1[lane] = sum;
        fold1[lane + 64u] = sum1;
        fold1[lane + 128u] = sum2;
        fold1[lane + 192u] = sum3;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        sum = sum + fold1[lane + 1u];
        sum1 = sum1 + fold1[lane + 65u];
        sum2 = sum2 + fold1[lane + 129u];
        sum3 = sum3 + fold1[lane + 193u];
    }
    if lane % 32u == 0u {
        y[t_group * 896u + r] = sum;
        y[t_group * 896u + r + 1u] = sum1;
        y[t_group * 896u + r + 2u] = sum2;
        y[t_group * 896u + r + 3u] = sum3;
    }
}
