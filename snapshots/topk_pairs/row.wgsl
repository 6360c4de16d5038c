// kernel topk_pairs, shape K = 64, N = 2374, T <= 64, W = 131, schedule row, target webgpu-subgroups
// schedule row for topk_pairs {
//     workgroup 64;
//     t: grid;
//     k: serial, lanes(64);
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     n: serial, lanes(64);
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 3
//     barriers: 20
//     loads an invocation: 154
//     bytes loaded an invocation: 616
//     stores an invocation: 5
//     flop an invocation: 202
//     flop a byte: 0.32
//     rounds of all loops: 114

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> value: array<f32>;
@group(0) @binding(1) var<storage, read> token: array<u32>;
@group(0) @binding(2) var<storage, read> best: array<f32>;
@group(0) @binding(3) var<storage, read> index: array<u32>;
@group(0) @binding(4) var<storage, read> weight: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(0) @binding(6) var<uniform> params: Params;
var<workgroup> fold: array<f32, 64>;
var<workgroup> fold1: array<u32, 64>;

@compute @workgroup_size(64)
fn topk_pairs(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var m = -0x1.fffffep+127f;
    for (var i = lane; i < 2374u; i += 64u) {
        let best_at = best[group.x * 2376u + i];
        m = max(m, best_at);
    }
    fold[lane] = m;
    workgroupBarrier();
    if lane < 32u {
        let max_new = fold[lane + 32u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 16u {
        let max_new = fold[lane + 16u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 8u {
        let max_new = fold[lane + 8u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 4u {
        let max_new = fold[lane + 4u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 2u {
        let max_new = fold[lane + 2u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if lane < 1u {
        let max_new = fold[lane + 1u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    m = fold[0];
    var sum = 0.0;
    for (var j = lane; j < 2374u; j += 64u) {
        let weight_at = weight[group.x * 2376u + j];
        let best_at = best[group.x * 2376u + j];
        sum = fma(weight_at, exp(best_at - m), sum);
    }
    workgroupBarrier();
    fold[lane] = sum;
    workgroupBarrier();
    if lane < 32u {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 16u {
        sum = sum + fold[lane + 16u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 8u {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 4u {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 2u {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if lane < 1u {
        sum = sum + fold[lane + 1u];
    }
    var finite = 0xffffffffu;
    for (var n = lane; n < 2374u; n += 64u) {
        let index_at = index[group.x * 2376u + n];
        let whole = select(1u, 0u, index_at == 0xffffffffu);
        finite = min(finite, whole);
    }
    fold1[lane] = finite;
    workgroupBarrier();
    if lane < 32u {
        let index_new = fold1[lane + 32u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    workgroupBarrier();
    if lane < 16u {
        let index_new = fold1[lane + 16u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    workgroupBarrier();
    if lane < 8u {
        let index_new = fold1[lane + 8u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    workgroupBarrier();
    if lane < 4u {
        let index_new = fold1[lane + 4u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    workgroupBarrier();
    if lane < 2u {
        let index_new = fold1[lane + 2u];
        finite = min(finite, index_new);
        fold1[lane] = finite;
    }
    workgroupBarrier();
    if lane < 1u {
        let index_new = fold1[lane + 1u];
        finite = min(finite, index_new);
    }
    let value_at = value[group.x * 64u + lane];
    let token_at = token[group.x * 64u + lane];
    y[group.x * 132u + lane] = bitcast<u32>(value_at);
    y[group.x * 132u + lane + 64u] = token_at;
    if lane == 0u {
        y[group.x * 132u + 128u] = bitcast<u32>(m);
        y[group.x * 132u + 129u] = bitcast<u32>(sum);
        y[group.x * 132u + 130u] = select(0u, 0xffffffffu, finite == 0u);
    }
}
