// kernel linear, shape K = 896, R = 896, T <= 64, schedule matrix, target matrix
// schedule matrix for linear {
//     workgroup 256;
//     t: grid, lanes(4), unroll(2), matrix(16);
//     r: grid, lanes(2), unroll(4), matrix(16);
//     k: serial as ko, serial(2), matrix(16);
//     stage w at ko: workgroup f16 ahead;
//     stage x at ko: workgroup f16 ahead;
// }
// dispatch ceil(T / 128) * 7 workgroups of 256 invocations
// cost
//     workgroup memory: 28672 bytes
//     accumulator registers: 96
//     barriers: 71
//     loads an invocation: 232
//     bytes loaded an invocation: 3712
//     stores an invocation: 64
//     flop an invocation: 114688
//     flop a byte: 28.90
//     rounds of all loops: 148
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> w_tile: array<vec4<f16>, 1280>;
var<workgroup> x_tile: array<vec4<f16>, 1280>;
var<workgroup> sums: array<f32, 2048>;

@compute @workgroup_size(256)
fn linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r_group = group.x % 7u;
    let t_group = group.x / 7u;
    let t = t_group * 128u + lane / 64u * 32u;
    let r = r_group * 128u + lane / 32u % 2u * 64u;
    var sum: coop_mat16x16<f32, C>;
    var sum1: coop_mat16x16<f32, C>;
    var sum2: coop_mat16x16<f32, C>;
    var sum3: coop_mat16x16<f32, C>;
    var sum4: coop_mat16x16<f32, C>;
    var sum5: coop_mat16x16<f32, C>;
    var sum6: coop_mat16x16<f32, C>;
    var sum7: coop_mat16x16<f32, C>;
    var w_next = w[(r_group * 128u + lane / 8u) * 224u + lane % 8u];
    var w_next1 = w[(r_group * 128u + lane / 8u + 32u) * 224u + lane % 8u];
    var w_next2 = w[(r_group * 128u + lane / 8u + 64u) * 224u + lane % 8u];
    var w_next3 = w[(r_group * 128u + lane / 8u + 96u) * 224u + lane % 8u];
    var x_next = x[min(t_group * 128u + lane / 8u, 63u) * 224u + lane % 8u];
    var x_next1 = x[min(t_group * 128u + lane / 8u + 32u, 63u) * 224u + lane % 8u];
    var x_next2 = x[min(t_group * 128u + lane / 8u + 64u, 63u) * 224u + lane % 8u];
    var x_next3 = x[min(t_group * 128u + lane / 8u + 96u, 63u) * 224u + lane % 8u];
    for (var ko = 0u; ko < 28u; ko++) {
        workgroupBarrier();
        let at = lane / 8u * 10u + lane % 8u;
        w_tile[at] = vec4<f16>(vec4<f32>(w_next.x, w_next.y, w_next.z, w_next.w));
        let at1 = (lane / 8u + 32u) * 10u + lane % 8u;
        w_tile[at1] = vec4<f16>(vec4<f32>(w_next1.x, w_next1.y, w_next1.z, w_next1.w));
        let at2 = (lane / 8u + 64u) * 10u + lane % 8u;
        w_tile[at2] = vec4<f16>(vec4<f32>(w_next2.x, w_next2.y, w_next2.z, w_next2.w));
        let at3 = (lane / 8u + 96u) * 10u + lane % 8u;
        w_tile[at3] = vec4<f16>(vec4<f32>(w_next3.x, w_next3.y, w_next3.z, w_next3.w));
        let at4 = lane / 8u * 10u + lane % 8u;
        x_tile[at4] = vec4<f16>(vec4<f32>(x_next.x, x_next.y, x_next.z, x_next.w));
        let at5 = (lane / 8u + 32u) * 10u + lane % 8u;
        x_tile[at5] = vec4<f16>(vec4<f32>(x_next1.x, x_next1.y, x_next1.z, x_next1.w));
        let at6 = (lane / 8u + 64u) * 10u + lane % 8u;
        x_tile[at6] = vec4<f16>(vec4<f32>(x_next2.x, x_next2.y, x_next2.z, x_next2.w));
        let at7 = (lane / 8u + 96u) * 10u + lane % 8u;
        x_tile[at7] = vec4<f16>(vec4<f32>(x_next3.x, x_next3.y, x_next3.z, x_next3.w));
        workgroupBarrier();
        if ko + 1u < 28u {
            w_next = w[(r_group * 128u + lane / 8u) * 224u + (ko + 1u) * 8u + lane % 8u];
            w_next1 = w[(r_group * 128u + lane / 8u + 32u) * 224u + (ko + 1u) * 8u + lane % 8u];
            w_next2 = w[(r_group * 128u + lane / 8u + 64u) * 224u + (ko + 1u) * 8u + lane % 8u];
            w_next3 = w[(r_group * 128u + lane / 8u + 96u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next = x[min(t_group * 128u + lane / 8u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next1 = x[min(t_group * 128u + lane / 8u + 32u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next2 = x[min(t_group * 128u + lane / 8u + 64u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next3 = x[min(t_group * 128u + lane / 8u + 96u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
        }
        for (var k_step = 0u; k_step < 2u; k_step++) {
            let x_part = coopLoadT<coop_mat16x16<f16, A>>(&x_tile[lane / 64u * 320u + k_step * 4u], 10u);
            let w_part = coopLoad<coop_mat16x16<f16, B>>(&w_tile[lane / 32u % 2u * 640u + k_step * 4u], 10u);
            sum = coopMultiplyAdd(x_part, w_part, sum);
            let w_part1 = coopLoad<coop_mat16x16<f16, B>>(&w_tile[(lane / 32u % 2u * 64u + 16u) * 10u + k_step * 4u], 10u);
            sum1 = coopMultiplyAdd(x_part, w_part1, sum1);
            let w_part2 = coopLoad<coop_mat16x16<f16, B>>(&w_tile[(lane / 32u % 2u * 64u + 32u) * 10u + k_step * 4u], 10u);
            sum2 = coopMultiplyAdd(x_part, w_part2, sum2);
            let w_part3 = coopLoad<coop_mat16x16<f16, B>>(&w_tile[(lane / 32u % 2u * 64u + 48u) * 10u + k_step * 4u], 10u);
            sum3 = coopMultiplyAdd(x_part, w_part3, sum3);
            let x_part1 = coopLoadT<coop_mat16x16<f16, A>>(&x_tile[(lane / 64u * 32u + 16u) * 10u + k_step * 4u], 10u);
            sum4 = coopMultiplyAdd(x_part1, w_part, sum4);
            sum5 = coopMultiplyAdd(x_part1, w_part1, sum5);
            sum6 = coopMultiplyAdd(x_part1, w_part2, sum6);
            sum7 = coopMultiplyAdd(x_part1, w_part3, sum7);
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
            y[t1 * 896u + r1] = total;
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
            y[t1 * 896u + r1 + 16u] = total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum2, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 < params.T {
            let total = sums[own + element];
            y[t1 * 896u + r1 + 32u] = total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum3, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 < params.T {
            let total = sums[own + element];
            y[t1 * 896u + r1 + 48u] = total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum4, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            y[(t1 + 16u) * 896u + r1] = total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum5, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            y[(t1 + 16u) * 896u + r1 + 16u] = total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum6, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            y[(t1 + 16u) * 896u + r1 + 32u] = total;
        }
    }
    workgroupBarrier();
    coopStoreT(sum7, &sums[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let r1 = r + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            y[(t1 + 16u) * 896u + r1 + 48u] = total;
        }
    }
}
