// kernel topk_chunks, shape N = 2374, T <= 64, V = 151936, schedule chunks, target webgpu-subgroups
// schedule chunks for topk_chunks {
//     workgroup 256;
//     t: grid;
//     n: grid, lanes(16);
//     i: serial, lanes(16);
//     j: serial, lanes(16);
//     v: serial, lanes(16);
// }
// dispatch T * 149 workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 4
//     barriers: 15
//     loads an invocation: 3 * i
//     bytes loaded an invocation: 12 * i
//     stores an invocation: 3
//     flop an invocation: 4 * i + 8
//     flop a byte: 0.33
//     rounds of all loops: ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16) + ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16) + ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16)
//     rounds of i: ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16)

struct Params {
    T: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> best: array<f32>;
@group(0) @binding(2) var<storage, read_write> index: array<u32>;
@group(0) @binding(3) var<storage, read_write> weight: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<f32, 256>;
var<workgroup> fold_index: array<u32, 256>;

@compute @workgroup_size(256)
fn topk_chunks(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let n_group = group.x % 149u;
    let t_group = group.x / 149u;
    let end = min(params.limit, 151936u);
    let n = n_group * 16u + lane / 16u;
    var m = -0x1.fffffep+127f;
    let n_in = min(n, 2373u);
    let begin = n_in * 64u;
    let lo = min(begin, end);
    let hi = min(begin + 64u, end);
    for (var i = lo + lane % 16u; i < hi; i += 16u) {
        let x_at = x[t_group * 151936u + i];
        m = max(m, x_at);
    }
    let fold_lane = lane % 16u;
    fold[lane] = m;
    workgroupBarrier();
    if fold_lane < 8u {
        let max_new = fold[lane + 8u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if fold_lane < 4u {
        let max_new = fold[lane + 4u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        let max_new = fold[lane + 2u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        let max_new = fold[lane + 1u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    workgroupBarrier();
    m = fold[lane - lane % 16u];
    var sum = 0.0;
    for (var j = lo + lane % 16u; j < hi; j += 16u) {
        let x_at = x[t_group * 151936u + j];
        sum = sum + exp(x_at - m);
    }
    workgroupBarrier();
    let fold_lane1 = lane % 16u;
    fold[lane] = sum;
    workgroupBarrier();
    if fold_lane1 < 8u {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane1 < 4u {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane1 < 2u {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    workgroupBarrier();
    if fold_lane1 < 1u {
        sum = sum + fold[lane + 1u];
    }
    var place_max = -0x1.fffffep+127f;
    var place_index = 0xfffffffeu;
    for (var v = lo + lane % 16u; v < hi; v += 16u) {
        let x_at = x[t_group * 151936u + v];
        let v1 = (bitcast<u32>(x_at) & 0x7f800000u) == 0x7f800000u;
        let max_new = select(x_at, 0x1.fffffep+127f, v1);
        let index_new = select(v, 0xffffffffu, v1);
        let m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        let max_ = select(max_new, place_max, m1);
        let index1 = select(index_new, place_index, m1);
        place_max = max_;
        place_index = index1;
    }
    workgroupBarrier();
    let fold_lane2 = lane % 16u;
    fold[lane] = place_max;
    fold_index[lane] = place_index;
    workgroupBarrier();
    if fold_lane2 < 8u {
        let max_new = fold[lane + 8u];
        let index_new = fold_index[lane + 8u];
        let m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        let max_ = select(max_new, place_max, m1);
        let index1 = select(index_new, place_index, m1);
        place_max = max_;
        place_index = index1;
        fold[lane] = place_max;
        fold_index[lane] = place_index;
    }
    workgroupBarrier();
    if fold_lane2 < 4u {
        let max_new = fold[lane + 4u];
        let index_new = fold_index[lane + 4u];
        let m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        let max_ = select(max_new, place_max, m1);
        let index1 = select(index_new, place_index, m1);
        place_max = max_;
        place_index = index1;
        fold[lane] = place_max;
        fold_index[lane] = place_index;
    }
    workgroupBarrier();
    if fold_lane2 < 2u {
        let max_new = fold[lane + 2u];
        let index_new = fold_index[lane + 2u];
        let m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        let max_ = select(max_new, place_max, m1);
        let index1 = select(index_new, place_index, m1);
        place_max = max_;
        place_index = index1;
        fold[lane] = place_max;
        fold_index[lane] = place_index;
    }
    workgroupBarrier();
    if fold_lane2 < 1u {
        let max_new = fold[lane + 1u];
        let index_new = fold_index[lane + 1u];
        let m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        let max_ = select(max_new, place_max, m1);
        let index1 = select(index_new, place_index, m1);
        place_max = max_;
        place_index = index1;
    }
    if lane % 16u == 0u {
        if n < 2374u {
            best[t_group * 2376u + n_in] = m;
            weight[t_group * 2376u + n_in] = sum;
            index[t_group * 2376u + n_in] = select(begin, place_index, begin < end);
        }
    }
}
