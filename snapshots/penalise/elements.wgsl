// kernel penalise, shape T <= 64, V = 151936, schedule elements, target webgpu-subgroups
// schedule elements for penalise {
//     t: grid;
//     v: grid, lanes(64);
// }
// dispatch (50688) x (ceil(T * 2374 / 50688)) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 2
//     bytes loaded an invocation: 8
//     stores an invocation: 1
//     flop an invocation: 2
//     flop a byte: 0.17
//     rounds of all loops: 0

struct Params {
    T: u32,
    penalty: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> first: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn penalise(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let workgroup_ = group.y * 50688u + group.x;
    let v_group = workgroup_ % 2374u;
    let t_group = workgroup_ / 2374u;
    if t_group < params.T {
        let v = v_group * 64u + lane;
        let x_at = x[t_group * 151936u + v];
        let less = select(x_at / params.penalty, x_at * params.penalty, x_at < 0.0);
        let first_at = first[v];
        y[t_group * 151936u + v] = select(less, x_at, first_at == 0xffffffffu);
    }
}
