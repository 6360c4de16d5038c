// kernel linear, shape K = 896, R = 151936, T = 1, schedule row_f16_head, target webgpu-subgroups
// schedule row_f16_head for linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(8);
//     store w: f16;
// }
// part 2 of 3: rows 74,752 to 149,503 of w
// dispatch (37376) x (2) workgroups of 64 invocations
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

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let workgroup_ = group.y * 37376u + group.x;
    let r_group = workgroup_ % 74752u;
    let t_group = workgroup_ / 74752u;
    if t_group < 1u {
        let r = r_group + 74752u;
        var sum = 0.0;
        for (var k = lane * 8u; k < 896u; k += 512u) {
            let w4 = w[(r - 74752u) * 112u + k / 8u];
            let pair = unpack2x16float(w4.x);
            let x4 = x[t_group * 224u + k / 4u];
            let pair1 = unpack2x16float(w4.y);
            let pair2 = unpack2x16float(w4.z);
            let x4_1 = x[t_group * 224u + k / 4u + 1u];
            let pair3 = unpack2x16float(w4.w);
            sum = fma(pair.x, x4.x, sum);
            sum = fma(pair.y, x4.y, sum);
            sum = fma(pair1.x, x4.z, sum);
            sum = fma(pair1.y, x4.w, sum);
            sum = fma(pair2.x, x4_1.x, sum);
            sum = fma(pair2.y, x4_1.y, sum);
            sum = fma(pair3.x, x4_1.z, sum);
            sum = fma(pair3.y, x4_1.w, sum);
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
            y[t_group * 151936u + r] = sum;
        }
    }
}
