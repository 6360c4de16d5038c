// kernel softmax, shape C = 512, R <= 64, schedule wide, target webgpu-subgroups
// schedule wide for softmax {
//     r: grid;
//     i: serial, lanes(64), vector(4);
//     j: serial, lanes(64), vector(4);
//     c: serial, lanes(64), vector(4);
// }
// dispatch R workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 2
//     barriers: 15
//     loads an invocation: 6
//     bytes loaded an invocation: 96
//     stores an invocation: 8
//     flop an invocation: 68
//     flop a byte: 0.53
//     rounds of all loops: 6

struct Params {
    R: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn softmax(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var m = -0x1.fffffep+127f;
    for (var i = lane * 4u; i < 512u; i += 256u) {
        let x4 = x[group.x * 128u + i / 4u];
        m = max(m, x4.x);
        m = max(m, x4.y);
        m = max(m, x4.z);
        m = max(m, x4.w);
    }
    fold[lane] = m;
    workgroupBarrier();
    if lane < 32u {
        let max_new = fold[lane + 32u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 16u {
        let max_new = fold[lane + 16u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 8u {
        let max_new = fold[lane + 8u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 4u {
        let max_new = fold[lane + 4u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 2u {
        let max_new = fold[lane + 2u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 1u {
        let max_new = fold[lane + 1u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    m = fold[0];
    var s = 0.0;
    for (var j = lane * 4u; j < 512u; j += 256u) {
        let x4 = x[group.x * 128u + j / 4u];
        s = s + exp(x4.x - m);
        s = s + exp(x4.y - m);
        s = s + exp(x4.z - m);
        s = s + exp(x4.w - m);
    }
    workgroupBarrier();
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
    for (var c = lane * 4u; c < 512u; c += 256u) {
        let x4 = x[group.x * 128u + c / 4u];
        y[group.x * 512u + c] = exp(x4.x - m) / s;
        y[group.x * 512u + c + 1u] = exp(x4.y - m) / s;
        y[group.x * 512u + c + 2u] = exp(x4.z - m) / s;
        y[group.x * 512u + c + 3u] = exp(x4.w - m) / s;
    }
}
