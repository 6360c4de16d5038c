// kernel topk_first, shape K = 64, M = 4096, T <= 64, schedule places, target webgpu-subgroups
// schedule places for topk_first {
//     workgroup 64;
//     t: grid;
//     k: grid;
//     m: serial, unroll(4), lanes(64);
// }
// dispatch T * 64 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 6
//     loads an invocation: 66
//     bytes loaded an invocation: 264
//     stores an invocation: 2
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 16

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> id: array<u32>;
@group(0) @binding(2) var<storage, read> rank: array<f32>;
@group(0) @binding(3) var<storage, read_write> value: array<f32>;
@group(0) @binding(4) var<storage, read_write> token: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
var<workgroup> fold: array<u32, 64>;

@compute @workgroup_size(64)
fn topk_first(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let k_group = group.x % 64u;
    let t_group = group.x / 64u;
    var found = 0xffffffffu;
    for (var m = lane; m < 4096u; m += 256u) {
        let rank_at = rank[t_group * 4096u + m];
        let v = f32(k_group);
        let index = select(0xffffffffu, m, rank_at == v);
        let rank_at1 = rank[t_group * 4096u + m + 64u];
        let index1 = select(0xffffffffu, m + 64u, rank_at1 == v);
        let rank_at2 = rank[t_group * 4096u + m + 128u];
        let index2 = select(0xffffffffu, m + 128u, rank_at2 == v);
        let rank_at3 = rank[t_group * 4096u + m + 192u];
        let index3 = select(0xffffffffu, m + 192u, rank_at3 == v);
        found = min(found, index);
        found = min(found, index1);
        found = min(found, index2);
        found = min(found, index3);
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
    }
    let at = min(found, 4095u);
    if lane == 0u {
        let v = found < 4096u;
        let x_at = x[t_group * 4096u + at];
        let id_at = id[t_group * 4096u + at];
        value[t_group * 64u + k_group] = select(-0x1.fffffep+127f, x_at, v);
        token[t_group * 64u + k_group] = select(0xffffffffu, id_at, v);
    }
}
