// kernel gated, shape D = 4864, K = 896, T <= 64, schedule matrix_small, target matrix
// schedule matrix_small for gated {
//     workgroup 128;
//     t: grid, lanes(2), unroll(2), matrix(16);
//     i: grid, lanes(2), unroll(2), matrix(16);
//     k: serial as ko, serial(2), matrix(16);
//     stage gate.w at ko: workgroup f16 ahead;
//     stage up.w at ko: workgroup f16 ahead;
//     stage x at ko: workgroup f16 ahead;
// }
// dispatch ceil(T / 64) * 76 workgroups of 128 invocations
// cost
//     workgroup memory: 23552 bytes
//     accumulator registers: 112
//     barriers: 63
//     loads an invocation: 348
//     bytes loaded an invocation: 5568
//     stores an invocation: 32
//     flop an invocation: 114848
//     flop a byte: 20.16
//     rounds of all loops: 116
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> gate_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> up_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> gate_w_tile: array<vec4<f16>, 640>;
var<workgroup> up_w_tile: array<vec4<f16>, 640>;
var<workgroup> x_tile: array<vec4<f16>, 640>;
var<workgroup> sums: array<f32, 1024>;
var<workgroup> sums1: array<f32, 1024>;

@compute @workgroup_size(128)
fn gated(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 76u;
    let t_group = group.x / 76u;
    let t = t_group * 64u + lane / 64u * 32u;
    let i = i_group * 64u + lane / 32u % 2u * 32u;
    var sum: coop_mat16x16<f32, C>;
    var sum1: coop_mat16x16<f32, C>;
    var sum2: coop_mat16x16<f32, C>;
    var sum3: coop_mat16x16<f32, C>;
    var sum4: coop_mat16x16<f32, C>;
    var sum5: coop_mat16x16<f32, C>;
    var sum6: coop_mat16x16<f32, C>;
    var sum7: coop_mat16x16<f32, C>;
    var gate_w_next = gate_w[(i_group * 64u + lane / 8u) * 224u + lane % 8u];
    var gate_w_next1 = gate_w[(i_group * 64u + lane / 8u + 16u) * 224u + lane % 8u];
    var gate_w_next2 = gate_w[(i_group * 64u + lane / 8u + 32u) * 224u + lane % 8u];
    var gate_w_next3 = gate_w[(i_group * 64u + lane / 8u + 48u) * 224u + lane % 8u];
    var up_w_next = up_w[(i_group * 64u + lane / 8u) * 224u + lane % 8u];
    var up_w_next1 = up_w[(i_group * 64u + lane / 8u + 16u) * 224u + lane % 8u];
    var up_w_next2 = up_w[(i_group * 64u + lane / 8u + 32u) * 224u + lane % 8u];
    var up_w_next3 = up_w[(i_group * 64u + lane / 8u + 48u) * 224u + lane % 8u];
    var x_next = x[min(t_group * 64u + lane / 8u, 63u) * 224u + lane % 8u];
    var x_next1 = x[min(t_group * 64u + lane / 8u + 16u, 63u) * 224u + lane % 8u];
    var x_next2 = x[min(t_group * 64u + lane / 8u + 32u, 63u) * 224u + lane % 8u];
    var x_next3 = x[min(t_group * 64u + lane / 8u + 48u, 63u) * 224u + lane % 8u];
    for (var ko = 0u; ko < 28u; ko++) {
        workgroupBarrier();
        let at = lane / 8u * 10u + lane % 8u;
        gate_w_tile[at] = vec4<f16>(vec4<f32>(gate_w_next.x, gate_w_next.y, gate_w_next.z, gate_w_next.w));
        let at1 = (lane / 8u + 16u) * 10u + lane % 8u;
        gate_w_tile[at1] = vec4<f16>(vec4<f32>(gate_w_next1.x, gate_w_next1.y, gate_w_next1.z, gate_w_next1.w));
        let at2 = (lane / 8u + 32u) * 10u + lane % 8u;
        gate_w_tile[at2] = vec4<f16>(vec4<f32>(gate_w_next2.x, gate_w_next2.y, gate_w_next2.z, gate_w_next2.w));
        let at3 = (lane / 8u + 48u) * 10u + lane % 8u;
        gate_w_tile[at3] = vec4<f16>(vec4<f32>(gate_w_next3.x, gate_w_next3.y, gate_w_next3.z, gate_w_next3.w));
        let at4 = lane / 8u * 10u + lane % 8u;
        up_w_tile[at4] = vec4<f16>(vec4<f32>(up_w_next.x, up_w_next.y, up_w_next.z, up_w_next.w));
        let at5 = (lane / 8u + 16u) * 10u + lane % 8u;
        up_w_tile[at5] = vec4<f16>(vec4<f32>(up_w_next1.x, up_w_next1.y, up_w_next1.z, up_w_next1.w));
        let at6 = (lane / 8u + 32u) * 10u + lane % 8u;
        up_w_tile[at6] = vec4<f16>(vec4<f32>(up_w_next2.x, up_w_next2.y, up_w_next2.z, up_w_next2.w));
        let at7 = (lane / 8u + 48u) * 10u + lane % 8u;
        up_w_tile[at7] = vec4<f16>(vec4<f32>(up_w_next3.x, up_w_next3.y, up_w_next3.z, up_w_next3.w));
        let at8 = lane / 8u * 10u + lane % 8u;
        x_tile[at8] = vec4<f16>(vec4<f32>(x_next.x, x_next.y, x_next.z, x_next.w));
        let at9 = (lane / 8u + 16u) * 10u + lane % 8u;
        x_tile[at9] = vec4<f16>(vec4<f32>(x_next1.x, x_next1.y, x_next1.z, x_next1.w));
        let at10 = (lane / 8u + 32u) * 10u + lane % 8u;
        x_tile[at10] = vec4<f16>(vec4<f32>(x_next2.x, x_next2.y, x_next2.z, x_next2.w));
        let at11 = (lane / 8u + 48u) * 10u + lane % 8u;
        x_tile[at11] = vec4<f16>(vec4<f32>(x_next3.x, x_next3.y, x_next3.z, x_next3.w));
        workgroupBarrier();
        if ko + 1u < 28u {
            gate_w_next = gate_w[(i_group * 64u + lane / 8u) * 224u + (ko + 1u) * 8u + lane % 8u];
            gate_w_next1 = gate_w[(i_group * 64u + lane / 8u + 16u) * 224u + (ko + 1u) * 8u + lane % 8u];
            gate_w_next2 = gate_w[(i_group * 64u + lane / 8u + 32u) * 224u + (ko + 1u) * 8u + lane % 8u];
            gate_w_next3 = gate_w[(i_group * 64u + lane / 8u + 48u) * 224u + (ko + 1u) * 8u + lane % 8u];
            up_w_next = up_w[(i_group * 64u + lane / 8u) * 224u + (ko + 1u) * 8u + lane % 8u];
            up_w_next1 = up_w[(i_group * 64u + lane / 8u + 16u) * 224u + (ko + 1u) * 8u + lane % 8u];
            up_w_next2 = up_w[(i_group * 64u + lane / 8u + 32u) * 224u + (ko + 1u) * 8u + lane % 8u];
            up_w_next3 = up_w[(i_group * 64u + lane / 8u + 48u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next = x[min(t_group * 64u + lane / 8u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next1 = x[min(t_group * 64u + lane / 8u + 16u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next2 = x[min(t_group * 64u + lane / 8u + 32u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
            x_next3 = x[min(t_group * 64u + lane / 8u + 48u, 63u) * 224u + (ko + 1u) * 8u + lane % 8u];
        }
        for (var k_step = 0u; k_step < 2u; k_step++) {
            let x_part = coopLoadT<coop_mat16x16<f16, A>>(&x_tile[lane / 64u * 320u + k_step * 4u], 10u);
            let w_part = coopLoad<coop_mat16x16<f16, B>>(&gate_w_tile[lane / 32u % 2u * 320u + k_step * 4u], 10u);
            sum = coopMultiplyAdd(x_part, w_part, sum);
            let w_part1 = coopLoad<coop_mat16x16<f16, B>>(&gate_w_tile[(lane / 32u % 2u * 32u + 16u) * 10u + k_step * 4u], 10u);
            sum1 = coopMultiplyAdd(x_part, w_part1, sum1);
            let x_part1 = coopLoadT<coop_mat16x16<f16, A>>(&x_tile[(lane / 64u * 32u + 16u) * 10u + k_step * 4u], 10u);
            sum2 = coopMultiplyAdd(x_part1, w_part, sum2);
            sum3 = coopMultiplyAdd(x_part1, w_part1, sum3);
            let w_part2 = coopLoad<coop_mat16x16<f16, B>>(&up_w_tile[lane / 32u % 2u * 320u + k_step * 4u], 10u);
            sum4 = coopMultiplyAdd(x_part, w_part2, sum4);
            let w_part3 = coopLoad<coop_mat16x16<f16, B>>(&up_w_tile[(lane / 32u % 2u * 32u + 16u) * 10u + k_step * 4u], 10u);
            sum5 = coopMultiplyAdd(x_part, w_part3, sum5);
            sum6 = coopMultiplyAdd(x_part1, w_part2, sum6);
            sum7 = coopMultiplyAdd(x_part1, w_part3, sum7);
        }
    }
    let own = lane / 32u * 256u;
    coopStoreT(sum, &sums[own], 16u);
    coopStoreT(sum4, &sums1[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 < params.T {
            let total = sums[own + element];
            let total1 = sums1[own + element];
            let silu_e = exp(-abs(total));
            let silu_s = select(1.0, silu_e, total < 0.0) / (1.0 + silu_e);
            y[t1 * 4864u + i1] = total * silu_s * total1;
        }
    }
    workgroupBarrier();
    coopStoreT(sum1, &sums[own], 16u);
    coopStoreT(sum5, &sums1[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 < params.T {
            let total = sums[own + element];
            let total1 = sums1[own + element];
            let silu_e = exp(-abs(total));
            let silu_s = select(1.0, silu_e, total < 0.0) / (1.0 + silu_e);
            y[t1 * 4864u + i1 + 16u] = total * silu_s * total1;
        }
    }
    workgroupBarrier();
    coopStoreT(sum2, &sums[own], 16u);
    coopStoreT(sum6, &sums1[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            let total1 = sums1[own + element];
            let silu_e = exp(-abs(total));
            let silu_s = select(1.0, silu_e, total < 0.0) / (1.0 + silu_e);
            y[(t1 + 16u) * 4864u + i1] = total * silu_s * total1;
        }
    }
    workgroupBarrier();
    coopStoreT(sum3, &sums[own], 16u);
    coopStoreT(sum7, &sums1[own], 16u);
    workgroupBarrier();
    for (var element = lane % 32u; element < 256u; element += 32u) {
        let t1 = t + element / 16u;
        let i1 = i + element % 16u;
        if t1 + 16u < params.T {
            let total = sums[own + element];
            let total1 = sums1[own + element];
            let silu_e = exp(-abs(total));
            let silu_s = select(1.0, silu_e, total < 0.0) / (1.0 + silu_e);
            y[(t1 + 16u) * 4864u + i1 + 16u] = total * silu_s * total1;
        }
    }
}
