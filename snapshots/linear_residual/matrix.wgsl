// kernel linear_residual, shape D = 896, K = 4864, T <= 64, schedule matrix, target matrix
// schedule matrix for linear_residual {
//     workgroup 256;
//     t: grid, lanes(2), unroll(2), matrix(16);
//     i: grid, lanes(2), unroll(2), matrix(16);
//     linear.k: serial as ko, lanes(2), serial(2), matrix(16);
//     stage linear.w at ko: workgroup f16 ahead;
//     stage linear.x at ko: workgroup f16 ahead;
// }
// dispatch ceil(T / 64) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 26624 bytes
//     accumulator registers: 64
//     barriers: 159
//     loads an invocation: 632
//     bytes loaded an invocation: 9920
//     stores an invocation: 16
//     flop an invocation: 155680
//     flop a byte: 15.59
//     rounds of all loops: 244
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> linear_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> linear_x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> h: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> linear_w_tile: array<vec4<f16>, 1152>;
var<workgroup> linear_x_tile: array<vec4<f16>, 1152>;
var<workgroup> sums: array<f32, 2048>;

@compute @workgroup_size(256)
fn linear_residual(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 14u;
    let t_group = group.x / 14u;
    let t = t_group * 64u + lane / 128u * 32u;
    let i = i_group * 64u + lane / 64u % 2u * 32u;
    var sum: coop_mat16x16<f32, C>;
    var sum1: coop_mat16x16<f32, C>;
    var sum2: coop_mat16x16<f32, C>;
    var sum3: coop_mat16x16<f32, C>;
    var linear_w_next = linear_w[(i_group * 64u + lane / 16u) * 1216u + lane % 16u];
    var linear_w_next1 = linear_w[(i_group * 64u + lane / 16u + 16u) * 1216u + lane % 16u];
    var linear_w_next2 = linear_w[(i_group * 64u + lane / 16u + 32u) * 1216u + lane % 16u];
    var linear_w_next3 = linear_w[(i_group * 64u + lane / 16u + 48u) * 1216u + lane % 16u];
    var linear_x_next = linear_x[min(t_group * 64u + lane / 16u, 63u) * 1216u + lane % 16u];
    var linear_x_next1 = linear_x[min(t_group * 64u + lane / 16u + 16u, 63u) * 1216u + lane % 16u];
    var linear_x_next2 = linear_x[min(t_group * 64u + lane / 16u + 32u, 63u) * 1216u + lane % 16u];
    var linear_x_next3 = linear_x[min(t_group * 64u + lane / 16u + 48u, 63u) * 1216u + lane % 16u];
    for (var ko = 0u; ko < 76u; ko++) {
        workgroupBarrier();
        let at = lane / 16u * 18u + lane % 16u;
        linear_w_tile[at] = vec4<f16>(vec4<f32>(linear_w_next.x, linear_w_next.y, linear_w_next.z, linear_w_next.w));
        let at1 = (lane / 16u + 16u) * 18u + lane % 16u;
        linear_w_tile[at1] = vec4<f16>(vec4<f32>(linear_w_next1.x, linear_w_next1.y, linear_w_next1.z, linear_w_next1.w));
        let at2 = (lane / 16u + 32u) * 18u + lane % 16u;
        linear_w_tile[at2] = vec4<f16>(vec4<f32>(linear_w_next2.x, linear_w_next2.y, linear_w_next2.z, linear_w_next2.w));
        let at3 = (lane / 16u + 48u) * 18u + lane % 16u;
        linear_w_tile[at3] = vec4<f16>(vec4<f32>(linear_w_next3.x, linear_w_next3.y, linear_w_next3.z, linear_w_next3.w));
        let at4 = lane / 16u * 18u + lane % 16u;
        linear_x_tile[at4] = vec4<f16>(vec4<f32>(linear_x_next.x, linear_x_next.y, linear_x_next.z, linear_x_next.w));
        let at5 = (lane / 16u + 16u) * 18u + lane % 16u;
        linear_x_tile[at5] = vec4<f16>(vec4<f32>(linear_x_next1.x, linear_x_next1.y, linear_x_next1.z, linear_x_next1.w));
        let at6 = (lane / 16u + 32u) * 18u + lane % 16u;
        linear_x_tile[at6] = vec4<f16>(vec4<f32>(linear_x_next2.x, linear_x_next2.y, linear_x_next2.z, linear_x_next2.w));
        let at7 = (lane / 16u + 48u) * 18u + lane % 16u;
        linear_x_tile[at7] = vec4<f16>(vec4<f32>(linear_x_next3.x, linear_x_next3.y, linear_x_next3.z, linear_x_next3.w));
        workgroupBarrier();
        if ko + 1u < 76u {
            linear_w_next = linear_w[(i_group * 64u + lane / 16u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next1 = linear_w[(i_group * 64u + lane / 16u + 16u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next2 = linear_w[(i_group * 64u + lane / 16u + 32u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_w_next3 = linear_w[(i_group * 64u + lane / 16u + 48u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next = linear_x[min(t_group * 64u + lane / 16u, 63u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next1 = linear_x[min(t_group * 64u + lane / 16u + 16u, 63u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next2 = linear_x[min(t_group * 64u + lane / 16u + 32u, 63u) * 1216u + (ko + 1u) * 16u + lane % 16u];
            linear_x_next3 = linear_x[min(t_group * 64u + lane / 16u + 48u, 63u) * 1216u + (ko + 1u) * 16u + lane % 16u];
        }
        for (var k_step = 0u; k_step < 2u; k_step++) {
            let x_part = coopLoadT<coop_mat16x16<f16, A>>(&linear_x_tile[lane / 128u * 576u + lane / 32u % 2u * 8u + k_step * 4u], 18u);
            let w_part = coopLoad<coop_mat16x16<f16, B>>(&linear_w_tile[lane / 64u % 2u * 576u + lane / 32u % 2u * 8u + k_step * 4u], 18u);
            sum = coopMultiplyAdd(x_part, w_part, sum);
            let w_part1 = coopLoad<coop_mat16x16<f16, B>>(&linear_w_tile[(lane / 64u % 2u * 32u + 16u) * 18u + lane / 32u % 2u * 8u + k_step * 4u], 18u);
            sum1 = coopMultiplyAdd(x_part, w_part1, sum1);
            let x_part1 = coopLoadT<coop_mat16x16<f16, A>>(&linear_x_tile[(lane / 128u * 32u + 16u) * 18u + lane / 32u % 2u * 8u + k_step * 4u], 18u);
            sum2 = coopMultiplyAdd(x_part1, w_part, sum2);
            sum3 = coopMultiplyAdd(x_part1, w_part1, sum3);
        }
    }
    let own = lane / 32u * 256u;
    let part = lane / 32u % 2u;
    let first = own - part * 256u;
    coopStoreT(sum, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u + part * 32u; element < 256u; element += 64u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 < params.T {
            let total = sums[first + element] + sums[first + element + 256u];
            let h_at = h[t1 * 896u + i1];
            h[t1 * 896u + i1] = h_at + total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum1, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u + part * 32u; element < 256u; element += 64u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 < params.T {
            let total = sums[first + element] + sums[first + element + 256u];
            let h_at = h[t1 * 896u + i1 + 16u];
            h[t1 * 896u + i1 + 16u] = h_at + total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum2, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u + part * 32u; element < 256u; element += 64u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[first + element] + sums[first + element + 256u];
            let h_at = h[(t1 + 16u) * 896u + i1];
            h[(t1 + 16u) * 896u + i1] = h_at + total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum3, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u + part * 32u; element < 256u; element += 64u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[first + element] + sums[first + element + 256u];
            let h_at = h[(t1 + 16u) * 896u + i1 + 16u];
            h[(t1 + 16u) * 896u + i1 + 16u] = h_at + total;
        }
    }
}
