// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule row, target webgpu-subgroups
// schedule row for norm_linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(4);
//     norm.j: serial, lanes(64), vector(4);
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 2
//     barriers: 14
//     loads an invocation: 16
//     bytes loaded an invocation: 256
//     stores an invocation: 1
//     flop an invocation: 111
//     flop a byte: 0.43
//     rounds of all loops: 8

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

@compute @workgroup_size(64)
fn norm_linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
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
    workgroupBarrier();
    fold[lane] = sum;
    workgroupBarrier();
    if lane < 32u {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 16u {
        sum = sum + fold[lane + 16u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 8u {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 4u {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 2u {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 1u {
        sum = sum + fold[lane + 1u];
    }
    if lane == 0u {
        y[t_group * 896u + r_group] = sum;
    }
}
