// kernel rmsnorm, shape D = 896, T <= 64, schedule row, target webgpu-subgroups
// schedule row for rmsnorm {
//     t: grid;
//     j: serial, lanes(64), vector(4);
//     i: serial, lanes(64), vector(4);
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 7
//     loads an invocation: 12
//     bytes loaded an invocation: 192
//     stores an invocation: 16
//     flop an invocation: 73
//     flop a byte: 0.29
//     rounds of all loops: 8

struct Params {
    T: u32,
    eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn rmsnorm(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var s = 0.0;
    for (var j = lane * 4u; j < 896u; j += 256u) {
        let x4 = x[group.x * 224u + j / 4u];
        s = fma(x4.x, x4.x, s);
        s = fma(x4.y, x4.y, s);
        s = fma(x4.z, x4.z, s);
        s = fma(x4.w, x4.w, s);
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
    let scale = inverseSqrt(s / 896.0 + params.eps);
    for (var i = lane * 4u; i < 896u; i += 256u) {
        let x4 = x[group.x * 224u + i / 4u];
        let w4 = w[i / 4u];
        y[group.x * 896u + i] = x4.x * scale * w4.x;
        y[group.x * 896u + i + 1u] = x4.y * scale * w4.y;
        y[group.x * 896u + i + 2u] = x4.z * scale * w4.z;
        y[group.x * 896u + i + 3u] = x4.w * scale * w4.w;
    }
}
