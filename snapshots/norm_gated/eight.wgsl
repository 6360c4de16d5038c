// kernel norm_gated, shape D = 4864, K = 896, T <= 64, schedule eight, target webgpu-subgroups
// schedule eight for norm_gated {
//     t: grid;
//     i: grid, lanes(8);
//     k: serial, lanes(32), vector(8);
//     fold k: subgroup;
// }
// dispatch T * 608 workgroups of 256 invocations
// cost
//     workgroup memory: 768 bytes
//     accumulator registers: 3
//     barriers: 1
//     loads an invocation: 32
//     bytes loaded an invocation: 512
//     stores an invocation: 1
//     flop an invocation: 264
//     flop a byte: 0.51
//     rounds of all loops: 12
enable subgroups;

struct Params {
    T: u32,
    norm_eps: f32,
}

@group(0) @binding(0) var<storage, read> gate_w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> up_w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> norm_x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> norm_w: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;
var<workgroup> fold_sum0: array<f32, 64>;
var<workgroup> fold_sum1: array<f32, 64>;
var<workgroup> fold_sum2: array<f32, 64>;

@compute @workgroup_size(256)
fn norm_gated(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let i_group = group.x % 608u;
    let t_group = group.x / 608u;
    let i = i_group * 8u + lane / 32u;
    var s_sum0 = 0.0;
    var s_sum1 = 0.0;
    var s_sum2 = 0.0;
    for (var k = lane % 32u * 8u; k < 896u; k += 256u) {
        let gate_w4 = gate_w[i * 224u + k / 4u];
        let norm_x4 = norm_x[t_group * 224u + k / 4u];
        let norm_w4 = norm_w[k / 4u];
        let v = norm_x4.x * norm_w4.x;
        let up_w4 = up_w[i * 224u + k / 4u];
        let v1 = norm_x4.y * norm_w4.y;
        let v2 = norm_x4.z * norm_w4.z;
        let v3 = norm_x4.w * norm_w4.w;
        let gate_w4_1 = gate_w[i * 224u + k / 4u + 1u];
        let norm_x4_1 = norm_x[t_group * 224u + k / 4u + 1u];
        let norm_w4_1 = norm_w[k / 4u + 1u];
        let v4 = norm_x4_1.x * norm_w4_1.x;
        let up_w4_1 = up_w[i * 224u + k / 4u + 1u];
        let v5 = norm_x4_1.y * norm_w4_1.y;
        let v6 = norm_x4_1.z * norm_w4_1.z;
        let v7 = norm_x4_1.w * norm_w4_1.w;
        s_sum0 = fma(gate_w4.x, v, s_sum0);
        s_sum1 = fma(up_w4.x, v, s_sum1);
        s_sum2 = fma(norm_x4.x, norm_x4.x, s_sum2);
        s_sum0 = fma(gate_w4.y, v1, s_sum0);
        s_sum1 = fma(up_w4.y, v1, s_sum1);
        s_sum2 = fma(norm_x4.y, norm_x4.y, s_sum2);
        s_sum0 = fma(gate_w4.z, v2, s_sum0);
        s_sum1 = fma(up_w4.z, v2, s_sum1);
        s_sum2 = fma(norm_x4.z, norm_x4.z, s_sum2);
        s_sum0 = fma(gate_w4.w, v3, s_sum0);
        s_sum1 = fma(up_w4.w, v3, s_sum1);
        s_sum2 = fma(norm_x4.w, norm_x4.w, s_sum2);
        s_sum0 = fma(gate_w4_1.x, v4, s_sum0);
        s_sum1 = fma(up_w4_1.x, v4, s_sum1);
        s_sum2 = fma(norm_x4_1.x, norm_x4_1.x, s_sum2);
        s_sum0 = fma(gate_w4_1.y, v5, s_sum0);
        s_sum1 = fma(up_w4_1.y, v5, s_sum1);
        s_sum2 = fma(norm_x4_1.y, norm_x4_1.y, s_sum2);
        s_sum0 = fma(gate_w4_1.z, v6, s_sum0);
        s_sum1 = fma(up_w4_1.z, v6, s_sum1);
        s_sum2 = fma(norm_x4_1.z, norm_x4_1.z, s_sum2);
        s_sum0 = fma(gate_w4_1.w, v7, s_sum0);
        s_sum1 = fma(up_w4_1.w, v7, s_sum1);
        s_sum2 = fma(norm_x4_1.w, norm_x4_1.w, s_sum2);
    }
    let near = min(subgroup_size, 32u);
    let sum0_near = subgroupShuffleXor(s_sum0, 1u);
    let sum1_near = subgroupShuffleXor(s_sum1, 1u);
    let sum2_near = subgroupShuffleXor(s_sum2, 1u);
    s_sum0 = s_sum0 + sum0_near;
    s_sum1 = s_sum1 + sum1_near;
    s_sum2 = s_sum2 + sum2_near;
    let sum0_near1 = subgroupShuffleXor(s_sum0, 2u);
    let sum1_near1 = subgroupShuffleXor(s_sum1, 2u);
    let sum2_near1 = subgroupShuffleXor(s_sum2, 2u);
    s_sum0 = s_sum0 + sum0_near1;
    s_sum1 = s_sum1 + sum1_near1;
    s_sum2 = s_sum2 + sum2_near1;
    if 4u < near {
        let sum0_near2 = subgroupShuffleXor(s_sum0, 4u);
        let sum1_near2 = subgroupShuffleXor(s_sum1, 4u);
        let sum2_near2 = subgroupShuffleXor(s_sum2, 4u);
        s_sum0 = s_sum0 + sum0_near2;
        s_sum1 = s_sum1 + sum1_near2;
        s_sum2 = s_sum2 + sum2_near2;
    }
    if 8u < near {
        let sum0_near2 = subgroupShuffleXor(s_sum0, 8u);
        let sum1_near2 = subgroupShuffleXor(s_sum1, 8u);
        let sum2_near2 = subgroupShuffleXor(s_sum2, 8u);
        s_sum0 = s_sum0 + sum0_near2;
        s_sum1 = s_sum1 + sum1_near2;
        s_sum2 = s_sum2 + sum2_near2;
    }
    if 16u < near {
        let sum0_near2 = subgroupShuffleXor(s_sum0, 16u);
        let sum1_near2 = subgroupShuffleXor(s_sum1, 16u);
        let sum2_near2 = subgroupShuffleXor(s_sum2, 16u);
        s_sum0 = s_sum0 + sum0_near2;
        s_sum1 = s_sum1 + sum1_near2;
        s_sum2 = s_sum2 + sum2_near2;
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold_sum0[near_group] = s_sum0;
        fold_sum1[near_group] = s_sum1;
        fold_sum2[near_group] = s_sum2;
    }
    workgroupBarrier();
    let near_groups = 32u / near;
    let first = lane / 32u * near_groups;
    s_sum0 = 0.0;
    s_sum1 = 0.0;
    s_sum2 = 0.0;
    for (var other = 0u; other < near_groups; other++) {
        s_sum0 = s_sum0 + fold_sum0[first + other];
        s_sum1 = s_sum1 + fold_sum1[first + other];
        s_sum2 = s_sum2 + fold_sum2[first + other];
    }
    let norm_scale = inverseSqrt(s_sum2 / 896.0 + params.norm_eps);
    let silu_v = s_sum0 * norm_scale;
    let silu_e = exp(-abs(silu_v));
    let silu_s = select(1.0, silu_e, silu_v < 0.0) / (1.0 + silu_e);
    if lane % 32u == 0u {
        y[t_group * 4864u + i] = silu_v * silu_s * (s_sum1 * norm_scale);
    }
}
