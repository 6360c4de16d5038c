// kernel first_seen, shape T <= 64, V = 151936, schedule tokens, target webgpu-subgroups
// schedule tokens for first_seen {
//     v: grid, lanes(64);
// }
// dispatch 2374 workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 1
//     barriers: 0
//     loads an invocation: t + 1
//     bytes loaded an invocation: 4 * t + 4
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: T
//     rounds of t: T

struct Params {
    T: u32,
    pos: u32,
}

@group(0) @binding(0) var<storage, read> ids: array<u32>;
@group(0) @binding(1) var<storage, read_write> first: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn first_seen(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let v = group.x * 64u + lane;
    var now = 0xffffffffu;
    for (var t = 0u; t < params.T; t++) {
        let ids_at = ids[t];
        let index = select(0xffffffffu, params.pos + t, ids_at == v);
        now = min(now, index);
    }
    let first_at = first[v];
    first[v] = select(now, first_at, first_at < params.pos);
}
