// kernel topk_values, shape C = 64, F = 64, N = 2374, T <= 64, V = 151936, schedule values, target webgpu-subgroups
// schedule values for topk_values {
//     workgroup 64;
//     t: grid;
//     f: grid;
//     n: serial, lanes(64);
//     c: serial, lanes(64);
// }
// dispatch T * 64 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 7
//     loads an invocation: 39
//     bytes loaded an invocation: 156
//     stores an invocation: 2
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 38

struct Params {
    T: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> rank: array<f32>;
@group(0) @binding(2) var<storage, read_write> value: array<f32>;
@group(0) @binding(3) var<storage, read_write> id: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<u32, 64>;

@compute @workgroup_size(64)
fn topk_values(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let f_group = group.x % 64u;
    let t_group = group.x / 64u;
    var found = 0xffffffffu;
    for (var n = lane; n < 2374u; n += 64u) {
        let rank_at = rank[t_group * 2376u + n];
        let index = select(0xffffffffu, n, rank_at == f32(f_group));
        found = min(found, index);
    }
    fold[lane] = found;
    workgroupBarrier();
    if lane < 32u {
        let index_new = fold[lane + 32u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    workgroupBarrier();
    if lane < 16u {
        let index_new = fold[lane + 16u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    workgroupBarrier();
    if lane < 8u {
        let index_new = fold[lane + 8u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    workgroupBarrier();
    if lane < 4u {
        let index_new = fold[lane + 4u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    workgroupBarrier();
    if lane < 2u {
        let index_new = fold[lane + 2u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    workgroupBarrier();
    if lane < 1u {
        let index_new = fold[lane + 1u];
        found = min(found, index_new);
        fold[lane] = found;
    }
    workgroupBarrier();
    found = fold[0];
    let chunk = min(found, 2373u);
    let at = chunk * 64u + lane;
    let x_at = x[t_group * 151936u + at];
    value[(t_group * 64u + f_group) * 64u + lane] = select(-0x1.fffffep+127f, x_at, at < min(params.limit, 151936u));
    id[(t_group * 64u + f_group) * 64u + lane] = at;
}
