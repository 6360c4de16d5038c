// kernel rmsnorm, shape D = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for rmsnorm {
//     t: grid;
//     j: serial, lanes(64), vector(4);
//     i: serial, lanes(64), vector(4);
//     fold j: subgroup;
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 1
//     barriers: 1
//     loads an invocation: 12
//     bytes loaded an invocation: 192
//     stores an invocation: 16
//     flop an invocation: 85
//     flop a byte: 0.33
//     rounds of all loops: 24
enable subgroups;

struct Params {
    T: u32,
    eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> fold: array<f32, 16>;

@compute @workgroup_size(64)
fn rmsnorm(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_size) subgroup_size: u32,
) {
    var s = 0.0;
    for (var j = lane * 4u; j < 896u; j += 256u) {
        let x4 = x[group.x * 224u + j / 4u];
        s = fma(x4.x, x4.x, s);
        s = fma(x4.y, x4.y, s);
        s = fma(x4.z, x4.z, s);
        s = fma(x4.w, x4.w, s);
    }
    let near = min(subgroup_size, 64u);
    let sum_near = subgroupShuffleXor(s, 1u);
    s = s + sum_near;
    let sum_near1 = subgroupShuffleXor(s, 2u);
    s = s + sum_near1;
    if 4u < near {
        let sum_near2 = subgroupShuffleXor(s, 4u);
        s = s + sum_near2;
    }
    if 8u < near {
        let sum_near2 = subgroupShuffleXor(s, 8u);
        s = s + sum_near2;
    }
    if 16u < near {
        let sum_near2 = subgroupShuffleXor(s, 16u);
        s = s + sum_near2;
    }
    if 32u < near {
        let sum_near2 = subgroupShuffleXor(s, 32u);
        s = s + sum_near2;
    }
    let near_group = lane / near;
    if lane % near == 0u {
        fold[near_group] = s;
    }
    workgroupBarrier();
    let near_groups = 64u / near;
    s = 0.0;
    for (var other = 0u; other < near_groups; other++) {
        s = s + fold[other];
    }
    let scale = inverseSqrt(s / 896.0 + params.eps);
    for (var i = lane * 4u; i < 896u; i += 256u) {
        let x4 = x[group.x * 224u + i / 4u];
        let w4 = w[i / 4u];
        y[group.x * 896u + i] = x4.x * scale * w4.x;
        y[group.x * 896u + i + 1u] = x4.y * scale * w4.y;
        y[group.x * 896u + i + 2u] = x4.z * scale * w4.z;
        y[group.x * 896u + i + 3u] = x4.w * scale * w4.w;
    }
}
