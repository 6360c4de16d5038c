// kernel attention, shape D = 64, G = 2, H = 14, P = 2048, T <= 64, schedule columns_wide, target webgpu-subgroups
// schedule columns_wide for attention {
//     t: grid;
//     h: grid;
//     j: serial as jo, serial(128);
//     softmax.c: lanes(128);
//     c: lanes(128);
//     d: serial, vector(4);
//     compute score at jo: workgroup;
// }
// dispatch T * 14 workgroups of 128 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 4
//     barriers: 2 * jo
//     loads an invocation: 160 * jo
//     bytes loaded an invocation: 1024 * jo
//     stores an invocation: 1
//     flop an invocation: 1472 * jo + 1
//     flop a byte: 1.44
//     rounds of all loops: ceil((pos + T) / 128) * 145
//     rounds of jo: ceil((pos + T) / 128)

struct Params {
    T: u32,
    pos: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> score_tile: array<f32, 128>;

@compute @workgroup_size(128)
fn attention(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 14u;
    let t_group = group.x / 14u;
    var s_max = -0x1.fffffep+127f;
    var s_weight = 0.0;
    var s_value = 0.0;
    let j_end = params.pos + t_group + 1u;
    let jo_count = (j_end + 127u) / 128u;
    for (var jo = 0u; jo < jo_count; jo++) {
        workgroupBarrier();
        let j = min(jo * 128u + lane, j_end - 1u);
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
        score_tile[lane] = score;
        workgroupBarrier();
        for (var j_step = 0u; j_step < 128u; j_step++) {
            let j1 = jo * 128u + j_step;
            let held = score_tile[j_step];
            if j1 < j_end {
                let m = max(s_max, held);
                let m1 = exp(s_max - m);
                let m2 = exp(held - m);
                let weight = fma(s_weight, m1, m2);
                if lane < 64u {
                    let g = h_group / 7u;
                    let v_at = v[(j1 * 2u + g) * 64u + lane];
                    s_value = fma(s_value, m1, v_at * m2);
                }
                s_max = m;
                s_weight = weight;
            }
        }
    }
    if lane < 64u {
        y[(t_group * 14u + h_group) * 64u + lane] = s_value / s_weight;
    }
}
