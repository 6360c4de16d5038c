// kernel draw, shape K = 64, N = 2374, T <= 64, schedule row, target webgpu-subgroups
// schedule row for draw {
//     workgroup 64;
//     t: grid;
//     n: serial, lanes(64);
//     i: serial, lanes(64);
//     c: serial, lanes(64);
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 5
//     barriers: 20
//     loads an invocation: 171
//     bytes loaded an invocation: 684
//     stores an invocation: 1
//     flop an invocation: 355
//     flop a byte: 0.52
//     rounds of all loops: 102

struct Params {
    T: u32,
    keep: u32,
    temperature: f32,
    top_p: f32,
    seed: u32,
    limit: u32,
}

@group(0) @binding(0) var<storage, read> value: array<f32>;
@group(0) @binding(1) var<storage, read> token: array<u32>;
@group(0) @binding(2) var<storage, read> index: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<u32, 64>;
var<workgroup> fold1: array<f32, 64>;

@compute @workgroup_size(64)
fn draw(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var finite = 0xffffffffu;
    for (var n = lane; n < 2374u; n += 64u) {
        let index_at = index[group.x * 2376u + n];
        let whole = select(1u, 0u, index_at == 0xffffffffu);
        finite = min(finite, whole);
    }
    fold[lane] = finite;
    workgroupBarrier();
    if lane < 32u {
        let index_new = fold[lane + 32u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    workgroupBarrier();
    if lane < 16u {
        let index_new = fold[lane + 16u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    workgroupBarrier();
    if lane < 8u {
        let index_new = fold[lane + 8u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    workgroupBarrier();
    if lane < 4u {
        let index_new = fold[lane + 4u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    workgroupBarrier();
    if lane < 2u {
        let index_new = fold[lane + 2u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    workgroupBarrier();
    if lane < 1u {
        let index_new = fold[lane + 1u];
        finite = min(finite, index_new);
    }
    var total = 0.0;
    let value_at = value[group.x * 64u + lane];
    let value_at1 = value[group.x * 64u + (min(max(params.keep, 1u), 64u) - 1u)];
    let token_at = token[group.x * 64u + lane];
    let value_at2 = value[group.x * 64u];
    total = total + select(0.0, exp(max((value_at - value_at2) / params.temperature, -0x1.fffffep+127f)), value_at >= value_at1 && token_at < params.limit);
    fold1[lane] = total;
    workgroupBarrier();
    if lane < 32u {
        total = total + fold1[lane + 32u];
        fold1[lane] = total;
    }
    workgroupBarrier();
    if lane < 16u {
        total = total + fold1[lane + 16u];
        fold1[lane] = total;
    }
    workgroupBarrier();
    if lane < 8u {
        total = total + fold1[lane + 8u];
        fold1[lane] = total;
    }
    workgroupBarrier();
    if lane < 4u {
        total = total + fold1[lane + 4u];
        fold1[lane] = total;
    }
    workgroupBarrier();
    if lane < 2u {
        total = total + fold1[lane + 2u];
        fold1[lane] = total;
    }
    workgroupBarrier();
    if lane < 1u {
        total = total + fold1[lane + 1u];
        fold1[lane] = total;
    }
    workgroupBarrier();
    total = fold1[0];
    var chosen_max = -0x1.fffffep+127f;
    var chosen_index = 0xfffffffeu;
    var tail = 0.0;
    for (var j = lane; j < 64u; j++) {
        let value_at3 = value[group.x * 64u + j];
        let token_at1 = token[group.x * 64u + j];
        tail = tail + select(0.0, exp(max((value_at3 - value_at2) / params.temperature, -0x1.fffffep+127f)), value_at3 >= value_at1 && token_at1 < params.limit);
    }
    let v = max((value_at - value_at2) / params.temperature, -0x1.fffffep+127f);
    let kept = select(0.0, exp(v), value_at >= value_at1 && token_at < params.limit) > 0.0 && (lane == 0u || params.top_p >= 1.0 || tail > (1.0 - params.top_p) * total);
    let v1 = (token_at ^ (token_at >> 16u)) * 0x7feb352du;
    let v2 = (v1 ^ (v1 >> 15u)) * 0x846ca68bu;
    let v3 = (v2 ^ (v2 >> 16u)) + params.seed;
    let v4 = (v3 ^ (v3 >> 16u)) * 0x7feb352du;
    let v5 = (v4 ^ (v4 >> 15u)) * 0x846ca68bu;
    let drawn = (v5 ^ (v5 >> 16u)) >> 9u;
    let w = (f32(8388607u - drawn) + 0.5) * 1.1920929e-7f;
    let s = w / (2.0 - w);
    let q = s * s;
    let series = 2.0 * s * fma(q, fma(q, fma(q, 0.14285715f, 0.2f), 0.33333334f), 1.0);
    let u = (f32(drawn) + 0.5) * 1.1920929e-7f;
    let spread = select(-log(u), series, w < 0.125);
    let v6 = select(-0x1.fffffep+127f, v - log(spread), kept);
    let v7 = (bitcast<u32>(v6) & 0x7f800000u) == 0x7f800000u;
    let max_new = select(v6, 0x1.fffffep+127f, v7);
    let index_new = select(lane, 0xffffffffu, v7);
    let m = chosen_index == 0xffffffffu || (index_new != 0xffffffffu && (chosen_max > max_new || (chosen_max == max_new && chosen_index <= index_new)));
    let max_ = select(max_new, chosen_max, m);
    let index1 = select(index_new, chosen_index, m);
    chosen_max = max_;
    chosen_index = index1;
    workgroupBarrier();
    fold1[lane] = chosen_max;
    fold[lane] = chosen_index;
    workgroupBarrier();
    if lane < 32u {
        let max_new1 = fold1[lane + 32u];
        let index_new1 = fold[lane + 32u];
        let m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        let max_1 = select(max_new1, chosen_max, m1);
        let index2 = select(index_new1, chosen_index, m1);
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    workgroupBarrier();
    if lane < 16u {
        let max_new1 = fold1[lane + 16u];
        let index_new1 = fold[lane + 16u];
        let m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        let max_1 = select(max_new1, chosen_max, m1);
        let index2 = select(index_new1, chosen_index, m1);
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    workgroupBarrier();
    if lane < 8u {
        let max_new1 = fold1[lane + 8u];
        let index_new1 = fold[lane + 8u];
        let m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        let max_1 = select(max_new1, chosen_max, m1);
        let index2 = select(index_new1, chosen_index, m1);
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    workgroupBarrier();
    if lane < 4u {
        let max_new1 = fold1[lane + 4u];
        let index_new1 = fold[lane + 4u];
        let m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        let max_1 = select(max_new1, chosen_max, m1);
        let index2 = select(index_new1, chosen_index, m1);
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    workgroupBarrier();
    if lane < 2u {
        let max_new1 = fold1[lane + 2u];
        let index_new1 = fold[lane + 2u];
        let m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        let max_1 = select(max_new1, chosen_max, m1);
        let index2 = select(index_new1, chosen_index, m1);
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    workgroupBarrier();
    if lane < 1u {
        let max_new1 = fold1[lane + 1u];
        let index_new1 = fold[lane + 1u];
        let m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        let max_1 = select(max_new1, chosen_max, m1);
        let index2 = select(index_new1, chosen_index, m1);
        chosen_max = max_1;
        chosen_index = index2;
    }
    let place = min(chosen_index, 63u);
    if lane == 0u {
        let token_at1 = token[group.x * 64u + place];
        y[group.x] = select(token_at1, 0xffffffffu, finite == 0u || chosen_index == 0xffffffffu);
    }
}
