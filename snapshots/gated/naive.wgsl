// kernel gated, shape D = 4864, K = 896, T <= 64, schedule naive, target webgpu-subgroups
// schedule naive for gated {
//     t: grid;
//     i: grid, lanes(64);
// }
// dispatch T * 76 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: 2688
//     bytes loaded an invocation: 10752
//     stores an invocation: 1
//     flop an invocation: 3589
//     flop a byte: 0.33
//     rounds of all loops: 896

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> gate_w: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> up_w: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn gated(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let i_group = group.x % 76u;
    let t_group = group.x / 76u;
    let i = i_group * 64u + lane;
    var v_sum0 = 0.0;
    var v_sum1 = 0.0;
    for (var k = 0u; k < 896u; k++) {
        let gate_w_at = gate_w[i * 896u + k];
        let x_at = x[t_group * 896u + k];
        let up_w_at = up_w[i * 896u + k];
        v_sum0 = fma(gate_w_at, x_at, v_sum0);
        v_sum1 = fma(up_w_at, x_at, v_sum1);
    }
    let silu_e = exp(-abs(v_sum0));
    let silu_s = select(1.0, silu_e, v_sum0 < 0.0) / (1.0 + silu_e);
    y[t_group * 4864u + i] = v_sum0 * silu_s * v_sum1;
}
