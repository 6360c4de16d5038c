// kernel topk_rank, shape M = 4096, T <= 64, schedule ranks, target webgpu-subgroups
// schedule ranks for topk_rank {
//     workgroup 256;
//     t: grid;
//     m: grid, lanes(16);
//     j: serial, unroll(4), lanes(16);
// }
// dispatch T * 256 workgroups of 256 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 1
//     barriers: 4
//     loads an invocation: 640
//     bytes loaded an invocation: 2560
//     stores an invocation: 1
//     flop an invocation: 260
//     flop a byte: 0.10
//     rounds of all loops: 64

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> id: array<u32>;
@group(0) @binding(2) var<storage, read_write> rank: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 256>;

@compute @workgroup_size(256)
fn topk_rank(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let m_group = group.x % 256u;
    let t_group = group.x / 256u;
    let m = m_group * 16u + lane / 16u;
    var sum = 0.0;
    for (var j = lane % 16u; j < 4096u; j += 64u) {
        let x_at = x[t_group * 4096u + j];
        let x_at1 = x[t_group * 4096u + m];
        let id_at = id[t_group * 4096u + j];
        let id_at1 = id[t_group * 4096u + m];
        let x_at2 = x[t_group * 4096u + j + 16u];
        let id_at2 = id[t_group * 4096u + j + 16u];
        let x_at3 = x[t_group * 4096u + j + 32u];
        let id_at3 = id[t_group * 4096u + j + 32u];
        let x_at4 = x[t_group * 4096u + j + 48u];
        let id_at4 = id[t_group * 4096u + j + 48u];
        sum = sum + select(0.0, 1.0, x_at > x_at1 || (x_at == x_at1 && id_at < id_at1));
        sum = sum + select(0.0, 1.0, x_at2 > x_at1 || (x_at2 == x_at1 && id_at2 < id_at1));
        sum = sum + select(0.0, 1.0, x_at3 > x_at1 || (x_at3 == x_at1 && id_at3 < id_at1));
        sum = sum + select(0.0, 1.0, x_at4 > x_at1 || (x_at4 == x_at1 && id_at4 < id_at1));
    }
    let fold_lane = lane % 16u;
    fold[lane] = sum;
    workgroupBarrier();
    if fold_lane < 8u {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane < 4u {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        sum = sum + fold[lane + 1u];
    }
    if lane % 16u == 0u {
        rank[t_group * 4096u + m] = sum;
    }
}
