// kernel softmax, shape C = 512, R <= 64, schedule naive, target webgpu-subgroups
// schedule naive for softmax {
//     r: grid, lanes(64);
// }
// dispatch ceil(R / 64) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: 1536
//     bytes loaded an invocation: 6144
//     stores an invocation: 512
//     flop an invocation: 3584
//     flop a byte: 0.44
//     rounds of all loops: 1536

struct Params {
    R: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn softmax(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r = group.x * 64u + lane;
    if r < params.R {
        var m = -0x1.fffffep+127f;
        for (var i = 0u; i < 512u; i++) {
            let x_at = x[r * 512u + i];
            m = max(m, x_at);
        }
        var s = 0.0;
        for (var j = 0u; j < 512u; j++) {
            let x_at = x[r * 512u + j];
            s = s + exp(x_at - m);
        }
        for (var c = 0u; c < 512u; c++) {
            let x_at = x[r * 512u + c];
            y[r * 512u + c] = exp(x_at - m) / s;
        }
    }
}
