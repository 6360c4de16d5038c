// kernel attention_stats, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule positions, target webgpu-subgroups
// schedule positions for attention_stats {
//     t: grid;
//     h: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, vector(4);
//     d: serial, vector(4);
// }
// dispatch T * 14 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 3
//     barriers: 14
//     loads an invocation: 64 * i
//     bytes loaded an invocation: 1024 * i
//     stores an invocation: 2
//     flop an invocation: 388 * i + 12
//     flop a byte: 0.38
//     rounds of all loops: ceil((pos + T) / 64) * 17 + ceil((pos + T) / 64) * 17
//     rounds of i: ceil((pos + T) / 64)

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
var<workgroup> fold: array<f32, 64>;

@compute @workgroup_size(64)
fn attention_stats(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
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
    workgroupBarrier();
    fold[lane] = n;
    workgroupBarrier();
    if lane < 32u {
        n = n + fold[lane + 32u];
        fold[lane] = n;
    }
    workgroupBarrier();
    if lane < 16u {
        n = n + fold[lane + 16u];
        fold[lane] = n;
    }
    workgroupBarrier();
    if lane < 8u {
        n = n + fold[lane + 8u];
        fold[lane] = n;
    }
    workgroupBarrier();
    if lane < 4u {
        n = n + fold[lane + 4u];
        fold[lane] = n;
    }
    workgroupBarrier();
    if lane < 2u {
        n = n + fold[lane + 2u];
        fold[lane] = n;
    }
    workgroupBarrier();
    if lane < 1u {
        n = n + fold[lane + 1u];
    }
    if lane == 0u {
        top[t_group * 16u + h_group] = m;
        total[t_group * 16u + h_group] = n;
    }
}
