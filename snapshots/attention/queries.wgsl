// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule queries, target wide
// schedule queries for attention {
//     workgroup 256;
//     t: grid, lanes(16);
//     h: grid;
//     j: serial as jo, serial(32);
//     softmax.c: unroll(4), lanes(16);
//     c: unroll(4), lanes(16);
//     d: serial, vector(4);
//     stage k at jo: workgroup;
//     stage v at jo: workgroup;
//     compute score at jo: workgroup;
// }
// dispatch ceil(T / 16) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 18752 bytes
//     accumulator registers: 7
//     barriers: 3 * jo
//     loads an invocation: 36 * jo
//     bytes loaded an invocation: 576 * jo
//     stores an invocation: 4
//     flop an invocation: 992 * jo + 4
//     flop a byte: 1.72
//     rounds of all loops: (pos + min((ceil(T / 16) - 1) * 16 + 15, T - 1) + 32) / 32 * 67
//     rounds of jo: (pos + min((ceil(T / 16) - 1) * 16 + 15, T - 1) + 32) / 32

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> k_tile: array<f32, 2080>;
var<workgroup> v_tile: array<f32, 2080>;
var<workgroup> score_tile: array<f32, 528>;

@compute @workgroup_size(256)
fn attention(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 14u;
    let t_group = group.x / 14u;
    let t = t_group * 16u + lane / 16u;
    var s_max = -0x1.fffffep+127f;
    var s_weight = 0.0;
    var s_value = 0.0;
    var s_value1 = 0.0;
    var s_value2 = 0.0;
    var s_value3 = 0.0;
    let t_in = min(t, params.T - 1u);
    let j_end = params.pos + t_in + 1u;
    let j_last = params.pos + min(t_group * 16u + 15u, params.T - 1u) + 1u;
    let jo_count = (j_last + 31u) / 32u;
    for (var jo = 0u; jo < jo_count; jo++) {
        workgroupBarrier();
        let g = h_group / 7u;
        let k4 = k[(min(jo * 32u + lane / 16u, 2047u) * 2u + g) * 16u + lane % 16u];
        let k4_1 = k[(min(jo * 32u + lane / 16u + 16u, 2047u) * 2u + g) * 16u + lane % 16u];
        k_tile[lane / 16u * 65u + lane % 16u * 4u] = k4.x;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 1u] = k4.y;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 2u] = k4.z;
        k_tile[lane / 16u * 65u + lane % 16u * 4u + 3u] = k4.w;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u] = k4_1.x;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 1u] = k4_1.y;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 2u] = k4_1.z;
        k_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 3u] = k4_1.w;
        let v4 = v[(min(jo * 32u + lane / 16u, 2047u) * 2u + g) * 16u + lane % 16u];
        let v4_1 = v[(min(jo * 32u + lane / 16u + 16u, 2047u) * 2u + g) * 16u + lane % 16u];
        v_tile[lane / 16u * 65u + lane % 16u * 4u] = v4.x;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 1u] = v4.y;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 2u] = v4.z;
        v_tile[lane / 16u * 65u + lane % 16u * 4u + 3u] = v4.w;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u] = v4_1.x;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 1u] = v4_1.y;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 2u] = v4_1.z;
        v_tile[(lane / 16u + 16u) * 65u + lane % 16u * 4u + 3u] = v4_1.w;
        workgroupBarrier();
        for (var fill = lane; fill < 512u; fill += 256u) {
            let t1 = min(t_group * 16u + fill / 32u, params.T - 1u);
            let j = min(jo * 32u + fill % 32u, j_last - 1u);
            var score = 0.0;
            for (var d = 0u; d < 64u; d += 4u) {
                let q4 = q[(t1 * 14u + h_group) * 16u + d / 4u];
                let held = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d];
                let held1 = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d + 1u];
                let held2 = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d + 2u];
                let held3 = k_tile[(max(j, jo * 32u) - jo * 32u) * 65u + d + 3u];
                score = fma(q4.x * params.scale, held, score);
                score = fma(q4.y * params.scale, held1, score);
                score = fma(q4.z * params.scale, held2, score);
                score = fma(q4.w * params.scale, held3, score);
            }
            score_tile[fill / 32u * 33u + fill % 32u] = score;
        }
        workgroupBarrier();
        for (var j_step = 0u; j_step < 32u; j_step++) {
            let j = jo * 32u + j_step;
            let c = lane % 16u;
            let held = v_tile[j_step * 65u + c];
            let held1 = v_tile[j_step * 65u + c + 16u];
            let held2 = v_tile[j_step * 65u + c + 32u];
            let held3 = v_tile[j_step * 65u + c + 48u];
            let held4 = score_tile[lane / 16u * 33u + j_step];
            if j < j_end {
                let m = max(s_max, held4);
                let m1 = exp(s_max - m);
                let m2 = exp(held4 - m);
                let weight = fma(s_weight, m1, m2);
                s_value = fma(s_value, m1, held * m2);
                s_value1 = fma(s_value1, m1, held1 * m2);
                s_value2 = fma(s_value2, m1, held2 * m2);
                s_value3 = fma(s_value3, m1, held3 * m2);
                s_max = m;
                s_weight = weight;
            }
        }
    }
    let c = lane % 16u;
    if t < params.T {
        y[(t_in * 14u + h_group) * 64u + c] = s_value / s_weight;
        y[(t_in * 14u + h_group) * 64u + c + 16u] = s_value1 / s_weight;
        y[(t_in * 14u + h_group) * 64u + c + 32u] = s_value2 / s_weight;
        y[(t_in * 14u + h_group) * 64u + c + 48u] = s_value3 / s_weight;
    }
}
