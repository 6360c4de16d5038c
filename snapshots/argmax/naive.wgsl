// kernel argmax, shape T <= 64, V = 151936, schedule naive, target webgpu-subgroups
// schedule naive for argmax {
//     t: grid;
// }
// dispatch T workgroups of 1 invocation
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: v
//     bytes loaded an invocation: 4 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: min(limit, 151936)
//     rounds of v: min(limit, 151936)

struct Params {
    T: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(1)
fn argmax(@builtin(workgroup_id) group: vec3<u32>) {
    var argmax_max = -0x1.fffffep+127f;
    var argmax_index = 0xfffffffeu;
    let v_end = min(params.limit, 151936u);
    for (var v = 0u; v < v_end; v++) {
        let x_at = x[group.x * 151936u + v];
        let v1 = (bitcast<u32>(x_at) & 0x7f800000u) == 0x7f800000u;
        let max_new = select(x_at, 0x1.fffffep+127f, v1);
        let index_new = select(v, 0xffffffffu, v1);
        let m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        let max_ = select(max_new, argmax_max, m);
        let index = select(index_new, argmax_index, m);
        argmax_max = max_;
        argmax_index = index;
    }
    y[group.x] = argmax_index;
}
