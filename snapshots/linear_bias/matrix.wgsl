// kernel linear_bias, shape K = 896, R = 896, T <= 64, schedule matrix, target matrix
// schedule matrix for linear_bias {
//     workgroup 128;
//     t: grid, lanes(2), unroll(2), matrix(16);
//     r: grid, lanes(2), unroll(2), matrix(16);
//     linear.k: serial as ko, serial(4), matrix(16);
//     stage linear.w at ko: workgroup f16 ahead;
//     stage linear.x at ko: workgroup f16 ahead;
// }
// dispatch ceil(T / 64) * 14 workgroups of 128 invocations
// cost
//     workgroup memory: 22528 bytes
//     accumulator registers: 96
//     barriers: 35
//     loads an invocation: 272
//     bytes loaded an invocation: 3968
//     stores an invocation: 32
//     flop an invocation: 57376
//     flop a byte: 14.01
//     rounds of all loops: 102
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read> linear_w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> linear_x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> linear_w_tile: array<vec4<f16>, 1152>;
var<workgroup> linear_x_tile: array<vec4<f16>, 1152>;
var<workgroup> sums: array<f32, 1024>;

@compute @workgroup_size(128)
fn linear_bias(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r_group = group.x % 14u;
    let t_group = group.x / 14u;
    let t = t_group * 64u + lane / 64u * 32u;
    let r = r_group * 64u + lane / 32u % 2u * 32u;
    var sum: coop_mat16x16<f32, C>;
    var sum1: coop_mat16x16<f32, C>;
    var sum2: coop_mat16x16<f32, C>;
    var sum3: coop_mat16x16<f32, C>;
    var linear_w_next = linear_w[(r_group * 64u + lane / 16u) * 224u + lane % 16u];
    var linear_w_next1 = linear_w[(r_group * 64u + lane / 16u + 8u) * 224u + lane % 16u];
    var linear_w_next2 = linear_w[(r_group * 64u + lane / 16u + 16u) * 224u + lane % 16u];
    var linear_w_next3 = linear_w[(r_group * 64u + lane / 16u + 24u) * 224u + lane % 16u];
    var linear_w_next4 = linear_w[(r_group * 64u + lane / 16u + 32u) * 224u + lane % 16u];
    var linear_w_next5 = linear_w[(r_group * 64u + lane / 16u + 40u) * 224u + lane % 16u];
    var linear_w_next6 = linear_w[(r_group * 64u + lane / 16u + 48u) * 224u + lane % 16u];
    var linear_w_next7 = linear_w[(r_group * 64u + lane / 16u + 56u) * 224u + lane % 16u];
    var linear_x_next = linear_x[min(t_group * 64u + lane / 16u, 63u) * 224u + lane % 16u];
    var linear_x_next1 = linear_x[min(t_group * 64u + lane / 16u + 8u, 63u) * 224u + lane % 16u];
    var linear_x_next2 = linear_x[min(t_group * 64u + lane / 16u + 16u, 63u) * 224u + lane % 16u];
    var linear_x_next3 = linear_x[min(t_group * 64u + lane / 16u + 24u, 63u) * 224u + lane % 16u];
    var linear_x_next4 = linear_x[min(t_group * 64u + lane / 16u + 32u, 63u) * 224u + lane % 16u];
    var linear_x_next5 = linear_x[min(t_group * 64u + lane / 16u + 40u, 63u) * 224u + lane % 16u];
    var linear_x_next6 = linear_x[min(t_group * 64u + lane / 16u + 48u, 63u) * 224u + lane % 16u];
    var linear_x_next7 = linear_x[min(t_group * 64u + lane / 16u + 56u, 63u) * 224u + lane % 16u];
    for (var ko = 0u; ko < 14u; ko++) {
        workgroupBarrier();
        let at = lane / 16u * 18u + lane % 16u;
        linear_w_tile[at] = vec4<f16>(vec4<f32>(linear_w_next.x, linear_w_next.y, linear_w_next.z, linear_w_next.w));
        let at1 = (lane / 16u + 8u) * 18u + lane % 16u;
        linear_w_tile[at1] = vec4<f16>(vec4<f32>(linear_w_next1.x, linear_w_next1.y, linear_w_next1.z, linear_w_next1.w));
        let at2 = (lane / 16u + 16u) * 18u + lane % 16u;
        linear_w_tile[at2] = vec4<f16>(vec4<f32>(linear_w_next2.x, linear_w_next2.y, linear_w_next2.z, linear_w_next2.w));
        let at3 = (lane / 16u + 24u) * 18u + lane % 16u;
        linear_w_tile[at3] = vec4<f16>(vec4<f32>(linear_w_next3.x, linear_w_next3.y, linear_w_next3.z, linear_w_next3.w));
        let at4 = (lane / 16u + 32u) * 18u + lane % 16u;
        linear_w_tile[at4] = vec4<f16>(vec4<f32>(linear_w_next4.x, linear_w_next4.y, linear_w_next4.z, linear_w_next4.w));
        let at5 = (lane / 16u + 40u) * 18u + lane % 16u;
        linear_w_tile[at5] = vec4<f16>(vec4<f32>(linear_w_next5.x, linear_w_next5.y, linear_w_next5.z, linear_w_next5.w));
        let at6 = (lane / 16u + 48u) * 18u + lane % 16u;
        linear_w_tile[at6] = vec4<f16>(vec4<f32>(linear_w_next6.x, linear_w_next6.y, linear_w_next6.z, linear_w_next6.w));
        let at7 = (lane / 16u + 56u) * 18u + lane % 16u;
        linear_w_tile[at7] = vec4<f16>(vec4<f32>(linear_w_next7.x, linear_w_next7.y, linear_w_next7.z, linear_w_next7.w));
        let at8 = lane / 16u * 18u + lane % 16u;
        linear_x_tile[at8] = vec4<f16>(vec4<f32>(linear_x_next.x, linear_x_next.y, linear_x_next.z, linear_x_next.w));
        let at9 = (lane / 16u + 8u) * 18u + lane % 16u;
        linear_x_tile[at9] = vec4<f16>(vec4<f32>(linear_x_next1.x, linear_x_next1.y, linear_x_next1.z, linear_x_next1.w));
        let at10 = (lane / 16u + 16u) * 18u + lane % 16u;
        linear_x_tile[at10] = vec4<f16>(vec4<f32>(linear_x_next2.x, linear_x_next2.y, linear_x_next2.z, linear_x_next2.w));
        let at11 = (lane / 16u + 24u) * 18u + lane % 16u;
        linear_x_tile[at11] = vec4<f16>(vec4<f32>(linear_x_next3.x, linear_x_next3.y, linear_x_next3.z, linear_x_next3.w));
        let at12 = (lane / 16u + 32u) * 18u + lane % 16u;
        linear_x_tile[at12] = vec4<f16>(vec4<f32>(linear_x_next4.x, linear_x_next4.y, linear_x_next4.z, linear_x_next4.w));
        let at13 = (lane / 16u + 40u) * 18u + lane % 16u;
        linear_x_tile[at13] = vec4<f16>(vec4<f32>(linear_x_next5.x, linear_x_next5.y, linear_x_next5.z, linear_x_next5.w));
        let at14 = (lane / 16u + 48u) * 18u + lane % 16u;
        linear_x_tile[at14] = vec4<f16>(vec4<f32>(linear_x_next6.x, linear_x_next6.y, linear_x_next6.z, linear_x_next6.w));
        let at15 = (lane / 16u + 56u) * 18u + lane % 16u;
        linear_x_tile[at15] = vec4<f16>(vec4<f32>(linear_x_next7.x, linear_x_next7.y, linear_x_next7.z, linear_x_next7.w));
        workgroupBarrier();
        if ko + 1u < 14u {
            linear_w_next = linear_w[(r_group * 64u + lane / 16u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next1 = linear_w[(r_group * 64u + lane / 16u + 8u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next2 = linear_w[(r_group * 64u + lane / 16u + 16u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next3 = linear_w[(r_group * 64u + lane / 16u + 24u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next4 = linear_w[(r_group * 64u + lane / 16u + 32u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next5 = linear_w[(r_group * 64u + lane / 16u + 40u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next6 = linear_w[(r_group * 64u + lane / 16u + 48u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next7 = linear_w[(r_group * 64u + lane / 16u + 56u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next = linear_x[min(t_group * 64u + lane / 16u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next1 = linear_x[min(t_group * 64u + lane / 16u + 8u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next2 = linear_x[min(t_group * 64u + lane / 16u + 16u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next3 = linear_x[min(t_group * 64u + lane / 16u + 24u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next4 = linear_x[min(t_group * 64u + lane / 16u + 32u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next5 = linear_x[min(t_group * 64u + lane / 16u + 40u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next6 = linear_x[min(t_group * 64u + lane / 16u + 48u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next7 = linear_x[min(t_group * 64u + lane / 16u + 56u, 63u) * 224u + (ko + 1u) * 16u + lane % 16u];
        }
        for (var k_step = 0u; k_step < 4u; k_step++) {
            let x_part = coopLoadT<coop_mat16x16<f16, A>>(&linear_x_tile[lane / 64u * 576u + k_step * 4u], 18u);
            let w_part = coopLoad<coop_mat16x16<f16, B>>(&linear_w_tile[lane / 32u % 2u * 576u + k_step * 4u], 18u);
            sum = coopMultiplyAdd(x_part, w_part, sum);
            let w_part1 = coopLoad<coop_mat16x16<f16, B>>(&linear_w_tile[(lane / 32u % 2u * 32u + 16u) * 18u + k_step * 4u], 18u);
            sum1 = coopMultiplyAdd(x_part, w_part1, sum1);
            let x_part1 = coopLoadT<coop_mat16x16<f16, A>>(&linear_x_tile[(lane / 64u * 32u + 16u) * 18u + k_step * 4u], 18u);
            sum2 = coopMultiplyAdd(x_part1, w_part, sum2);
            sum3 = coopMultiplyAdd(x_part1, w_part1, sum3);
        }
    }
    let own = lane / 32u * 256u;
    coopStoreT(sum, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 < params.T {
            let total = sums[own + element];
            let b_at = b[r1];
            y[t1 * 896u + r1] = total + b_at;
        }
    }
    workgroupBarrier();
    coopStoreT(sum1, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 < params.T {
            let total = sums[own + element];
            let b_at = b[r1 + 16u];
            y[t1 * 896u + r1 + 16u] = total + b_at;
        }
    }
    workgroupBarrier();
    coopStoreT(sum2, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            let b_at = b[r1];
            y[(t1 + 16u) * 896u + r1] = total + b_at;
        }
    }
    workgroupBarrier();
    coopStoreT(sum3, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            let b_at = b[r1 + 16u];
            y[(t1 + 16u) * 896u + r1 + 16u] = total + b_at;
        }
    }
}
