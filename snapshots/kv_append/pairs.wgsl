// kernel kv_append, shape D = 64, G = 2, P = 2048, S = 2, T <= 64, schedule pairs, target webgpu-subgroups
// schedule pairs for kv_append {
//     t: grid;
//     g: grid;
//     d: grid, lanes(32), vector(2);
// }
// dispatch T * 2 workgroups of 32 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 0
//     barriers: 0
//     loads an invocation: 1
//     bytes loaded an invocation: 8
//     stores an invocation: 2
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 0

struct Params {
    T: u32,
    pos: u32,
    from_: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> cache: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(32)
fn kv_append(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let g_group = group.x % 2u;
    let t_group = group.x / 2u;
    let d = lane * 2u;
    let v = params.from_ + g_group;
    let x2 = x[(t_group * 2u + v) * 32u + d / 2u];
    let v1 = params.pos + t_group;
    cache[(v1 * 2u + g_group) * 64u + d] = x2.x;
    cache[(v1 * 2u + g_group) * 64u + d + 1u] = x2.y;
}
