// kernel linear, shape K = 896, R = 896, T <= 64, schedule row_bf16, target webgpu-subgroups
// schedule row_bf16 for linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(8);
//     store w: bf16;
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 6
//     loads an invocation: 6
//     bytes loaded an invocation: 96
//     stores an invocation: 1
//     flop an invocation: 38
//     flop a byte: 0.38
//     rounds of all loops: 2

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r_group = group.x % 896u;
    let t_group = group.x / 896u;
    var sum = 0.0;
    for (var k = lane * 8u; k < 896u; k += 512u) {
        let w4 = w[r_group * 112u + k / 8u];
        let x4 = x[t_group * 224u + k / 4u];
        let x4_1 = x[t_group * 224u + k / 4u + 1u];
        sum = fma(bitcast<f32>(w4.x << 16u), x4.x, sum);
        sum = fma(bitcast<f32>(w4.x & 0xffff0000u), x4.y, sum);
        sum = fma(bitcast<f32>(w4.y << 16u), x4.z, sum);
        sum = fma(bitcast<f32>(w4.y & 0xffff0000u), x4.w, sum);
        sum = fma(bitcast<f32>(w4.z << 16u), x4_1.x, sum);
        sum = fma(bitcast<f32>(w4.z & 0xffff0000u), x4_1.y, sum);
        sum = fma(bitcast<f32>(w4.w << 16u), x4_1.z, sum);
        sum = fma(bitcast<f32>(w4.w & 0xffff0000u), x4_1.w, sum);
    }
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
