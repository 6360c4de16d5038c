// kernel linear_residual, shape D = 896, K = 4864, T <= 64, schedule rows, target webgpu-subgroups
// schedule rows for linear_residual {
//     t: grid;
//     i: grid;
//     linear.k: serial, lanes(64), vector(8);
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 6
//     loads an invocation: 41
//     bytes loaded an invocation: 644
//     stores an invocation: 1
//     flop an invocation: 167
//     flop a byte: 0.26
//     rounds of all loops: 10

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> linear_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> linear_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> h: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn linear_residual(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 896u;
    let t_group = group.x / 896u;
    var sum = 0.0;
    for (var k = lane * 8u; k < 4864u; k += 512u) {
        let linear_w4 = linear_w[i_group * 1216u + k / 4u];
        let linear_x4 = linear_x[t_group * 1216u + k / 4u];
        let linear_w4_1 = linear_w[i_group * 1216u + k / 4u + 1u];
        let linear_x4_1 = linear_x[t_group * 1216u + k / 4u + 1u];
        sum = fma(linear_w4.x, linear_x4.x, sum);
        sum = fma(linear_w4.y, linear_x4.y, sum);
        sum = fma(linear_w4.z, linear_x4.z, sum);
        sum = fma(linear_w4.w, linear_x4.w, sum);
        sum = fma(linear_w4_1.x, linear_x4_1.x, sum);
        sum = fma(linear_w4_1.y, linear_x4_1.y, sum);
        sum = fma(linear_w4_1.z, linear_x4_1.z, sum);
        sum = fma(linear_w4_1.w, linear_x4_1.w, sum);
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
        let h_at = h[t_group * 896u + i_group];
        h[t_group * 896u + i_group] = h_at + sum;
    }
}
