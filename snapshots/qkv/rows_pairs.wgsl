// kernel qkv, shape D = 64, K = 896, P = 2048, R = 1152, T <= 64, k.C = 2048, k.H = 2, q.C = 64, q.H = 14, v.G = 2, schedule rows_pairs, target webgpu-subgroups
// schedule rows_pairs for qkv {
//     t: grid;
//     q.h: grid;
//     q.p: grid, lanes(4);
//     k.h: grid;
//     k.p: grid, lanes(4), unroll(2);
//     v.g: grid;
//     v.d: grid, lanes(4), unroll(2);
//     q.i: serial, lanes(32), vector(8);
//     k.i: serial, lanes(32), vector(8);
//     v.i: serial, lanes(32), vector(8);
// }
// dispatch T * 14 * 8 + T * 2 * 4 + T * 2 * 8 workgroups of 128 invocations
// cost
//     workgroup memory: 4608 bytes
//     accumulator registers: 6
//     barriers: 5
//     loads an invocation: 56
//     bytes loaded an invocation: 800
//     stores an invocation: 4
//     flop an invocation: 440
//     flop a byte: 0.54
//     rounds of all loops: 4

struct Params {
    T: u32,
    pos: u32,
    q_from: u32,
    q_at: u32,
    in_norm_eps: f32,
    k_from: u32,
    k_at: u32,
    v_from: u32,
}

@group(0) @binding(0) var<storage, read> angles: array<f32>;
@group(0) @binding(1) var<storage, read> in_b: array<f32>;
@group(0) @binding(2) var<storage, read> in_linear_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_norm_x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_norm_w: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> q_y: array<f32>;
@group(0) @binding(6) var<storage, read_write> k_y: array<f32>;
@group(0) @binding(7) var<storage, read_write> v_cache: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;
var<workgroup> fold_sum0: array<f32, 128>;
var<workgroup> fold_sum1: array<f32, 128>;
var<workgroup> fold_sum2: array<f32, 128>;
var<workgroup> fold_sum0_1: array<f32, 256>;
var<workgroup> fold_sum1_1: array<f32, 256>;
var<workgroup> fold_sum2_1: array<f32, 256>;

@compute @workgroup_size(128)
fn qkv(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let end0 = params.T * 112u;
    let end1 = end0 + params.T * 8u;
    let end2 = end1 + params.T * 16u;
    if group.x < end0 {
        let q_p_group = group.x % 8u;
        let q_h_group = group.x / 8u % 14u;
        let t_group = group.x / 8u / 14u;
        let p = q_p_group * 4u + lane / 32u;
        var s_sum0 = 0.0;
        var s_sum1 = 0.0;
        var s_sum2 = 0.0;
        for (var i = lane % 32u * 8u; i < 896u; i += 256u) {
            let v = params.q_from + q_h_group;
            let v1 = v * 64u;
            let v2 = v1 + p;
            let in_linear_w4 = in_linear_w[v2 * 224u + i / 4u];
            let in_norm_x4 = in_norm_x[t_group * 224u + i / 4u];
            let in_norm_w4 = in_norm_w[i / 4u];
            let v3 = in_norm_x4.x * in_norm_w4.x;
            let v4 = p + 32u;
            let v5 = v1 + v4;
            let in_linear_w4_1 = in_linear_w[v5 * 224u + i / 4u];
            let v6 = in_norm_x4.y * in_norm_w4.y;
            let v7 = in_norm_x4.z * in_norm_w4.z;
            let v8 = in_norm_x4.w * in_norm_w4.w;
            let in_linear_w4_2 = in_linear_w[v2 * 224u + i / 4u + 1u];
            let in_norm_x4_1 = in_norm_x[t_group * 224u + i / 4u + 1u];
            let in_norm_w4_1 = in_norm_w[i / 4u + 1u];
            let v9 = in_norm_x4_1.x * in_norm_w4_1.x;
            let in_linear_w4_3 = in_linear_w[v5 * 224u + i / 4u + 1u];
            let v10 = in_norm_x4_1.y * in_norm_w4_1.y;
            let v11 = in_norm_x4_1.z * in_norm_w4_1.z;
            let v12 = in_norm_x4_1.w * in_norm_w4_1.w;
            s_sum0 = fma(in_linear_w4.x, v3, s_sum0);
            s_sum1 = fma(in_linear_w4_1.x, v3, s_sum1);
            s_sum2 = fma(in_norm_x4.x, in_norm_x4.x, s_sum2);
            s_sum0 = fma(in_linear_w4.y, v6, s_sum0);
            s_sum1 = fma(in_linear_w4_1.y, v6, s_sum1);
            s_sum2 = fma(in_norm_x4.y, in_norm_x4.y, s_sum2);
            s_sum0 = fma(in_linear_w4.z, v7, s_sum0);
            s_sum1 = fma(in_linear_w4_1.z, v7, s_sum1);
            s_sum2 = fma(in_norm_x4.z, in_norm_x4.z, s_sum2);
            s_sum0 = fma(in_linear_w4.w, v8, s_sum0);
            s_sum1 = fma(in_linear_w4_1.w, v8, s_sum1);
            s_sum2 = fma(in_norm_x4.w, in_norm_x4.w, s_sum2);
            s_sum0 = fma(in_linear_w4_2.x, v9, s_sum0);
            s_sum1 = fma(in_linear_w4_3.x, v9, s_sum1);
            s_sum2 = fma(in_norm_x4_1.x, in_norm_x4_1.x, s_sum2);
            s_sum0 = fma(in_linear_w4_2.y, v10, s_sum0);
            s_sum1 = fma(in_linear_w4_3.y, v10, s_sum1);
            s_sum2 = fma(in_norm_x4_1.y, in_norm_x4_1.y, s_sum2);
            s_sum0 = fma(in_linear_w4_2.z, v11, s_sum0);
            s_sum1 = fma(in_linear_w4_3.z, v11, s_sum1);
            s_sum2 = fma(in_norm_x4_1.z, in_norm_x4_1.z, s_sum2);
            s_sum0 = fma(in_linear_w4_2.w, v12, s_sum0);
            s_sum1 = fma(in_linear_w4_3.w, v12, s_sum1);
            s_sum2 = fma(in_norm_x4_1.w, in_norm_x4_1.w, s_sum2);
        }
        let fold_lane = lane % 32u;
        fold_sum0[lane] = s_sum0;
        fold_sum1[lane] = s_sum1;
        fold_sum2[lane] = s_sum2;
        workgroupBarrier();
        if fold_lane < 16u {
            s_sum0 = s_sum0 + fold_sum0[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1[lane + 16u];
            s_sum2 = s_sum2 + fold_sum2[lane + 16u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        workgroupBarrier();
        if fold_lane < 8u {
            s_sum0 = s_sum0 + fold_sum0[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1[lane + 8u];
            s_sum2 = s_sum2 + fold_sum2[lane + 8u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        workgroupBarrier();
        if fold_lane < 4u {
            s_sum0 = s_sum0 + fold_sum0[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1[lane + 4u];
            s_sum2 = s_sum2 + fold_sum2[lane + 4u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        workgroupBarrier();
        if fold_lane < 2u {
            s_sum0 = s_sum0 + fold_sum0[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1[lane + 2u];
            s_sum2 = s_sum2 + fold_sum2[lane + 2u];
            fold_sum0[lane] = s_sum0;
            fold_sum1[lane] = s_sum1;
            fold_sum2[lane] = s_sum2;
        }
        workgroupBarrier();
        if fold_lane < 1u {
            s_sum0 = s_sum0 + fold_sum0[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1[lane + 1u];
            s_sum2 = s_sum2 + fold_sum2[lane + 1u];
        }
        let q_in_norm_scale = inverseSqrt(s_sum2 / 896.0 + params.in_norm_eps);
        let v = (params.q_from + q_h_group) * 64u;
        let v1 = v + p;
        let in_b_at = in_b[v1];
        let q_one = fma(s_sum0, q_in_norm_scale, in_b_at);
        let v2 = p + 32u;
        let v3 = v + v2;
        let in_b_at1 = in_b[v3];
        let q_two = fma(s_sum1, q_in_norm_scale, in_b_at1);
        if lane % 32u == 0u {
            let v4 = params.pos + t_group;
            let angles_at = angles[v4 * 64u + p];
            let angles_at1 = angles[v4 * 64u + v2];
            let v5 = params.q_at + t_group;
            q_y[(v5 * 14u + q_h_group) * 64u + p] = fma(q_one, angles_at, -(q_two * angles_at1));
            q_y[(v5 * 14u + q_h_group) * 64u + v2] = fma(q_two, angles_at, q_one * angles_at1);
        }
    } else if group.x < end1 {
        let k_p_group = (group.x - end0) % 4u;
        let k_h_group = (group.x - end0) / 4u % 2u;
        let t_group = (group.x - end0) / 4u / 2u;
        let p = k_p_group * 8u + lane / 32u * 2u;
        var s_sum0 = 0.0;
        var s_sum1 = 0.0;
        var s_sum2 = 0.0;
        var s_sum0_1 = 0.0;
        var s_sum1_1 = 0.0;
        var s_sum2_1 = 0.0;
        for (var i = lane % 32u * 8u; i < 896u; i += 256u) {
            let v = params.k_from + k_h_group;
            let v1 = v * 64u;
            let v2 = v1 + p;
            let in_linear_w4 = in_linear_w[v2 * 224u + i / 4u];
            let in_norm_x4 = in_norm_x[t_group * 224u + i / 4u];
            let in_norm_w4 = in_norm_w[i / 4u];
            let v3 = in_norm_x4.x * in_norm_w4.x;
            let v4 = p + 32u;
            let v5 = v1 + v4;
            let in_linear_w4_1 = in_linear_w[v5 * 224u + i / 4u];
            let v6 = in_norm_x4.x * in_norm_x4.x;
            let v7 = v1 + p + 1u;
            let in_linear_w4_2 = in_linear_w[v7 * 224u + i / 4u];
            let v8 = p + 33u;
            let v9 = v1 + v8;
            let in_linear_w4_3 = in_linear_w[v9 * 224u + i / 4u];
            let v10 = in_norm_x4.y * in_norm_w4.y;
            let v11 = in_norm_x4.y * in_norm_x4.y;
            let v12 = in_norm_x4.z * in_norm_w4.z;
            let v13 = in_norm_x4.z * in_norm_x4.z;
            let v14 = in_norm_x4.w * in_norm_w4.w;
            let v15 = in_norm_x4.w * in_norm_x4.w;
            let in_linear_w4_4 = in_linear_w[v2 * 224u + i / 4u + 1u];
            let in_norm_x4_1 = in_norm_x[t_group * 224u + i / 4u + 1u];
            let in_norm_w4_1 = in_norm_w[i / 4u + 1u];
            let v16 = in_norm_x4_1.x * in_norm_w4_1.x;
            let in_linear_w4_5 = in_linear_w[v5 * 224u + i / 4u + 1u];
            let v17 = in_norm_x4_1.x * in_norm_x4_1.x;
            let in_linear_w4_6 = in_linear_w[v7 * 224u + i / 4u + 1u];
            let in_linear_w4_7 = in_linear_w[v9 * 224u + i / 4u + 1u];
            let v18 = in_norm_x4_1.y * in_norm_w4_1.y;
            let v19 = in_norm_x4_1.y * in_norm_x4_1.y;
            let v20 = in_norm_x4_1.z * in_norm_w4_1.z;
            let v21 = in_norm_x4_1.z * in_norm_x4_1.z;
            let v22 = in_norm_x4_1.w * in_norm_w4_1.w;
            let v23 = in_norm_x4_1.w * in_norm_x4_1.w;
            s_sum0 = fma(in_linear_w4.x, v3, s_sum0);
            s_sum1 = fma(in_linear_w4_1.x, v3, s_sum1);
            s_sum2 = s_sum2 + v6;
            s_sum0_1 = fma(in_linear_w4_2.x, v3, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_3.x, v3, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v6;
            s_sum0 = fma(in_linear_w4.y, v10, s_sum0);
            s_sum1 = fma(in_linear_w4_1.y, v10, s_sum1);
            s_sum2 = s_sum2 + v11;
            s_sum0_1 = fma(in_linear_w4_2.y, v10, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_3.y, v10, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v11;
            s_sum0 = fma(in_linear_w4.z, v12, s_sum0);
            s_sum1 = fma(in_linear_w4_1.z, v12, s_sum1);
            s_sum2 = s_sum2 + v13;
            s_sum0_1 = fma(in_linear_w4_2.z, v12, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_3.z, v12, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v13;
            s_sum0 = fma(in_linear_w4.w, v14, s_sum0);
            s_sum1 = fma(in_linear_w4_1.w, v14, s_sum1);
            s_sum2 = s_sum2 + v15;
            s_sum0_1 = fma(in_linear_w4_2.w, v14, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_3.w, v14, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v15;
            s_sum0 = fma(in_linear_w4_4.x, v16, s_sum0);
            s_sum1 = fma(in_linear_w4_5.x, v16, s_sum1);
            s_sum2 = s_sum2 + v17;
            s_sum0_1 = fma(in_linear_w4_6.x, v16, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_7.x, v16, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v17;
            s_sum0 = fma(in_linear_w4_4.y, v18, s_sum0);
            s_sum1 = fma(in_linear_w4_5.y, v18, s_sum1);
            s_sum2 = s_sum2 + v19;
            s_sum0_1 = fma(in_linear_w4_6.y, v18, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_7.y, v18, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v19;
            s_sum0 = fma(in_linear_w4_4.z, v20, s_sum0);
            s_sum1 = fma(in_linear_w4_5.z, v20, s_sum1);
            s_sum2 = s_sum2 + v21;
            s_sum0_1 = fma(in_linear_w4_6.z, v20, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_7.z, v20, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v21;
            s_sum0 = fma(in_linear_w4_4.w, v22, s_sum0);
            s_sum1 = fma(in_linear_w4_5.w, v22, s_sum1);
            s_sum2 = s_sum2 + v23;
            s_sum0_1 = fma(in_linear_w4_6.w, v22, s_sum0_1);
            s_sum1_1 = fma(in_linear_w4_7.w, v22, s_sum1_1);
            s_sum2_1 = s_sum2_1 + v23;
        }
        let fold_lane = lane % 32u;
        fold_sum0_1[lane] = s_sum0;
        fold_sum1_1[lane] = s_sum1;
        fold_sum2_1[lane] = s_sum2;
        fold_sum0_1[lane + 128u] = s_sum0_1;
        fold_sum1_1[lane + 128u] = s_sum1_1;
        fold_sum2_1[lane + 128u] = s_sum2_1;
        workgroupBarrier();
        if fold_lane < 16u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 16u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 16u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 144u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 144u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 144u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        workgroupBarrier();
        if fold_lane < 8u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 8u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 8u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 136u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 136u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 136u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        workgroupBarrier();
        if fold_lane < 4u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 4u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 4u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 132u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 132u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 132u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        workgroupBarrier();
        if fold_lane < 2u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 2u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 2u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 130u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 130u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 130u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum2_1[lane] = s_sum2;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
            fold_sum2_1[lane + 128u] = s_sum2_1;
        }
        workgroupBarrier();
        if fold_lane < 1u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 1u];
            s_sum2 = s_sum2 + fold_sum2_1[lane + 1u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 129u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 129u];
            s_sum2_1 = s_sum2_1 + fold_sum2_1[lane + 129u];
        }
        let k_in_norm_scale = inverseSqrt(s_sum2 / 896.0 + params.in_norm_eps);
        let v = params.k_from + k_h_group;
        let v1 = v * 64u;
        let v2 = v1 + p;
        let in_b_at = in_b[v2];
        let k_one = fma(s_sum0, k_in_norm_scale, in_b_at);
        let k_in_norm_scale1 = inverseSqrt(s_sum2_1 / 896.0 + params.in_norm_eps);
        let v3 = v1 + p + 1u;
        let in_b_at1 = in_b[v3];
        let k_one1 = fma(s_sum0_1, k_in_norm_scale1, in_b_at1);
        let v4 = p + 32u;
        let v5 = v1 + v4;
        let in_b_at2 = in_b[v5];
        let k_two = fma(s_sum1, k_in_norm_scale, in_b_at2);
        let v6 = p + 33u;
        let v7 = v1 + v6;
        let in_b_at3 = in_b[v7];
        let k_two1 = fma(s_sum1_1, k_in_norm_scale1, in_b_at3);
        if lane % 32u == 0u {
            let v8 = params.pos + t_group;
            let angles_at = angles[v8 * 64u + p];
            let angles_at1 = angles[v8 * 64u + v4];
            let v9 = params.k_at + t_group;
            let angles_at2 = angles[v8 * 64u + p + 1u];
            let angles_at3 = angles[v8 * 64u + v6];
            k_y[(v9 * 2u + k_h_group) * 64u + p] = fma(k_one, angles_at, -(k_two * angles_at1));
            k_y[(v9 * 2u + k_h_group) * 64u + v4] = fma(k_two, angles_at, k_one * angles_at1);
            k_y[(v9 * 2u + k_h_group) * 64u + p + 1u] = fma(k_one1, angles_at2, -(k_two1 * angles_at3));
            k_y[(v9 * 2u + k_h_group) * 64u + v6] = fma(k_two1, angles_at2, k_one1 * angles_at3);
        }
    } else if group.x < end2 {
        let v_d_group = (group.x - end1) % 8u;
        let v_g_group = (group.x - end1) / 8u % 2u;
        let t_group = (group.x - end1) / 8u / 2u;
        let d = v_d_group * 8u + lane / 32u * 2u;
        var s_sum0 = 0.0;
        var s_sum1 = 0.0;
        var s_sum0_1 = 0.0;
        var s_sum1_1 = 0.0;
        for (var i = lane % 32u * 8u; i < 896u; i += 256u) {
            let v = params.v_from + v_g_group;
            let v1 = v * 64u;
            let v2 = v1 + d;
            let in_linear_w4 = in_linear_w[v2 * 224u + i / 4u];
            let in_norm_x4 = in_norm_x[t_group * 224u + i / 4u];
            let in_norm_w4 = in_norm_w[i / 4u];
            let v3 = in_norm_x4.x * in_norm_w4.x;
            let v4 = in_norm_x4.x * in_norm_x4.x;
            let v5 = v1 + d + 1u;
            let in_linear_w4_1 = in_linear_w[v5 * 224u + i / 4u];
            let v6 = in_norm_x4.y * in_norm_w4.y;
            let v7 = in_norm_x4.y * in_norm_x4.y;
            let v8 = in_norm_x4.z * in_norm_w4.z;
            let v9 = in_norm_x4.z * in_norm_x4.z;
            let v10 = in_norm_x4.w * in_norm_w4.w;
            let v11 = in_norm_x4.w * in_norm_x4.w;
            let in_linear_w4_2 = in_linear_w[v2 * 224u + i / 4u + 1u];
            let in_norm_x4_1 = in_norm_x[t_group * 224u + i / 4u + 1u];
            let in_norm_w4_1 = in_norm_w[i / 4u + 1u];
            let v12 = in_norm_x4_1.x * in_norm_w4_1.x;
            let v13 = in_norm_x4_1.x * in_norm_x4_1.x;
            let in_linear_w4_3 = in_linear_w[v5 * 224u + i / 4u + 1u];
            let v14 = in_norm_x4_1.y * in_norm_w4_1.y;
            let v15 = in_norm_x4_1.y * in_norm_x4_1.y;
            let v16 = in_norm_x4_1.z * in_norm_w4_1.z;
            let v17 = in_norm_x4_1.z * in_norm_x4_1.z;
            let v18 = in_norm_x4_1.w * in_norm_w4_1.w;
            let v19 = in_norm_x4_1.w * in_norm_x4_1.w;
            s_sum0 = fma(in_linear_w4.x, v3, s_sum0);
            s_sum1 = s_sum1 + v4;
            s_sum0_1 = fma(in_linear_w4_1.x, v3, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v4;
            s_sum0 = fma(in_linear_w4.y, v6, s_sum0);
            s_sum1 = s_sum1 + v7;
            s_sum0_1 = fma(in_linear_w4_1.y, v6, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v7;
            s_sum0 = fma(in_linear_w4.z, v8, s_sum0);
            s_sum1 = s_sum1 + v9;
            s_sum0_1 = fma(in_linear_w4_1.z, v8, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v9;
            s_sum0 = fma(in_linear_w4.w, v10, s_sum0);
            s_sum1 = s_sum1 + v11;
            s_sum0_1 = fma(in_linear_w4_1.w, v10, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v11;
            s_sum0 = fma(in_linear_w4_2.x, v12, s_sum0);
            s_sum1 = s_sum1 + v13;
            s_sum0_1 = fma(in_linear_w4_3.x, v12, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v13;
            s_sum0 = fma(in_linear_w4_2.y, v14, s_sum0);
            s_sum1 = s_sum1 + v15;
            s_sum0_1 = fma(in_linear_w4_3.y, v14, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v15;
            s_sum0 = fma(in_linear_w4_2.z, v16, s_sum0);
            s_sum1 = s_sum1 + v17;
            s_sum0_1 = fma(in_linear_w4_3.z, v16, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v17;
            s_sum0 = fma(in_linear_w4_2.w, v18, s_sum0);
            s_sum1 = s_sum1 + v19;
            s_sum0_1 = fma(in_linear_w4_3.w, v18, s_sum0_1);
            s_sum1_1 = s_sum1_1 + v19;
        }
        let fold_lane = lane % 32u;
        fold_sum0_1[lane] = s_sum0;
        fold_sum1_1[lane] = s_sum1;
        fold_sum0_1[lane + 128u] = s_sum0_1;
        fold_sum1_1[lane + 128u] = s_sum1_1;
        workgroupBarrier();
        if fold_lane < 16u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 16u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 16u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 144u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 144u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        workgroupBarrier();
        if fold_lane < 8u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 8u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 8u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 136u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 136u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        workgroupBarrier();
        if fold_lane < 4u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 4u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 4u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 132u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 132u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        workgroupBarrier();
        if fold_lane < 2u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 2u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 2u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 130u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 130u];
            fold_sum0_1[lane] = s_sum0;
            fold_sum1_1[lane] = s_sum1;
            fold_sum0_1[lane + 128u] = s_sum0_1;
            fold_sum1_1[lane + 128u] = s_sum1_1;
        }
        workgroupBarrier();
        if fold_lane < 1u {
            s_sum0 = s_sum0 + fold_sum0_1[lane + 1u];
            s_sum1 = s_sum1 + fold_sum1_1[lane + 1u];
            s_sum0_1 = s_sum0_1 + fold_sum0_1[lane + 129u];
            s_sum1_1 = s_sum1_1 + fold_sum1_1[lane + 129u];
        }
        let v_in_norm_scale = inverseSqrt(s_sum1 / 896.0 + params.in_norm_eps);
        let v_in_norm_scale1 = inverseSqrt(s_sum1_1 / 896.0 + params.in_norm_eps);
        if lane % 32u == 0u {
            let v = params.v_from + v_g_group;
            let v1 = v * 64u;
            let v2 = v1 + d;
            let in_b_at = in_b[v2];
            let v3 = params.pos + t_group;
            let v4 = v1 + d + 1u;
            let in_b_at1 = in_b[v4];
            v_cache[(v3 * 2u + v_g_group) * 64u + d] = fma(s_sum0, v_in_norm_scale, in_b_at);
            v_cache[(v3 * 2u + v_g_group) * 64u + d + 1u] = fma(s_sum0_1, v_in_norm_scale1, in_b_at1);
        }
    }
}
