// kernel rmsnorm, shape D = 896, T <= 64, schedule wide, target webgpu-subgroups
// schedule wide for rmsnorm {
//     t: grid;
//     j: serial, lanes(256);
//     i: serial, lanes(256);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 1
//     barriers: 9
//     loads an invocation: 12
//     bytes loaded an invocation: 48
//     stores an invocation: 4
//     flop an invocation: 27
//     flop a byte: 0.42
//     rounds of all loops: 8

struct Params {
    T: u32,
    eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 256>;

@compute @workgroup_size(256)
fn rmsnorm(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var s = 0.0;
    for (var j = lane; j < 896u; j += 256u) {
        let x_at = x[group.x * 896u + j];
        s = fma(x_at, x_at, s);
    }
    fold[lane] = s;
    workgroupBarrier();
    if lane < 128u {
        s = s + fold[lane + 128u];
        fold[lane] = s;
    }
    workgroupBarrier();
    if lane < 64u {
        s = s + fold[lane + 64u];
        fold[lane] = s;
    }
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
    for (var i = lane; i < 896u; i += 256u) {
        let x_at = x[group.x * 896u + i];
        let w_at = w[i];
        y[group.x * 896u + i] = x_at * scale * w_at;
    }
}
