// kernel attention_stats, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for attention_stats {
//     t: grid;
//     h: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, vector(4);
//     d: serial, vector(4);
//     fold i: subgroup;
//     fold j: subgroup;
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 3
//     barriers: 3
//     loads an invocation: 64 * i
//     bytes loaded an invocation: 1024 * i
//     stores an invocation: 2
//     flop an invocation: 388 * i + 36
//     flop a byte: 0.38
//     rounds of all loops: ceil((pos + T) / 64) * 17 + 16 + ceil((pos + T) / 64) * 17 + 16
//     rounds of i: ceil((pos + T) / 64)
enable subgroups;

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> top: array<f32>;
@group(0) @binding(3) var<storage, read_write> total: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold: array<f32, 16>;

@compute @workgroup_size(64)
fn attention_stats(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    let h_group = group.x % 14u;
    let t_group = group.x / 14u;
    var m = -0x1.fffffep+127f;
    let v = params.pos + t_group + 1u;
    for (var i = lane; i < v; i += 64u) {
        var sum = 0.0;
        for (var c = 0u; c < 64u; c += 4u) {
            let q4 = q[(t_group * 14u + h_group) * 16u + c / 4u];
            let g = h_group / 7u;
            let k4 = k[(i * 2u + g) * 16u + c / 4u];
            sum = fma(q4.x * params.scale, k4.x, sum);
            sum = fma(q4.y * params.scale, k4.y, sum);
            sum = fma(q4.z * params.scale, k4.z, sum);
            sum = fma(q4.w * params.scale, k4.w, sum);
        }
        m = max(m, sum);
    }
    let near = min(subgroup_size, 64u);
    let max_near = subgroupShuffleXor(m, 1u);
    m = max(m, max_near);
    let max_near1 = subgroupShuffleXor(m, 2u);
    m = max(m, max_near1);
    if 4u < near {
        let max_near2 = subgroupShuffleXor(m, 4u);
        m = max(m, max_near2);
    }
    if 8u < near {
        let max_near2 = subgroupShuffleXor(m, 8u);
        m = max(m, max_near2);
    }
    if 16u < near {
        let max_near2 = subgroupShuffleXor(m, 16u);
        m = max(m, max_near2);
    }
    if 32u < near {
        let max_near2 = subgroupShuffleXor(m, 32u);
        m = max(m, max_near2);
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = m;
    }
    workgroupBarrier();
    let near_groups = 64u / near;
    m = -0x1.fffffep+127f;
    for (var other = 0u; other < near_groups; other++) {
        let max_new = fold[other];
        m = max(m, max_new);
    }
    var n = 0.0;
    for (var j = lane; j < v; j += 64u) {
        var score = 0.0;
        for (var d = 0u; d < 64u; d += 4u) {
            let q4 = q[(t_group * 14u + h_group) * 16u + d / 4u];
            let g = h_group / 7u;
            let k4 = k[(j * 2u + g) * 16u + d / 4u];
            score = fma(q4.x * params.scale, k4.x, score);
            score = fma(q4.y * params.scale, k4.y, score);
            score = fma(q4.z * params.scale, k4.z, score);
            score = fma(q4.w * params.scale, k4.w, score);
        }
        n = n + exp(score - m);
    }
    let near1 = min(subgroup_size, 64u);
    let sum_near = subgroupShuffleXor(n, 1u);
    n = n + sum_near;
    let sum_near1 = subgroupShuffleXor(n, 2u);
    n = n + sum_near1;
    if 4u < near1 {
        let sum_near2 = subgroupShuffleXor(n, 4u);
        n = n + sum_near2;
    }
    if 8u < near1 {
        let sum_near2 = subgroupShuffleXor(n, 8u);
        n = n + sum_near2;
    }
    if 16u < near1 {
        let sum_near2 = subgroupShuffleXor(n, 16u);
        n = n + sum_near2;
    }
    if 32u < near1 {
        let sum_near2 = subgroupShuffleXor(n, 32u);
        n = n + sum_near2;
    }
    workgroupBarrier();
    let near_group1 = lane / near1;
    if lane % near1 == 0u {
        fold[near_group1] = n;
    }
    workgroupBarrier();
    let near_groups1 = 64u / near1;
    n = 0.0;
    for (var other = 0u; other < near_groups1; other++) {
        n = n + fold[other];
    }
    if lane == 0u {
        top[t_group * 16u + h_group] = m;
        total[t_group * 16u + h_group] = n;
    }
}
