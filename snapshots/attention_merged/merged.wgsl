// kernel attention_merged, shape D = 64, G = 2, H = 14, T <= 64, j.Parts = 16, schedule merged, target webgpu-subgroups
// schedule merged for attention_merged {
//     workgroup 256;
//     t: grid;
//     h: grid;
//     j.part: serial, lanes(16);
//     softmax.c: lanes(16), vector(4);
//     c: lanes(16), vector(4);
// }
// dispatch T * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 6144 bytes
//     accumulator registers: 6
//     barriers: 4
//     loads an invocation: 3
//     bytes loaded an invocation: 24
//     stores an invocation: 4
//     flop an invocation: 104
//     flop a byte: 2.60
//     rounds of all loops: 0

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> j_max: array<f32>;
@group(0) @binding(1) var<storage, read> j_weight: array<f32>;
@group(0) @binding(2) var<storage, read> j_value: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
var<workgroup> fold_max: array<f32, 256>;
var<workgroup> fold_weight: array<f32, 256>;
var<workgroup> fold_value: array<f32, 1024>;

@compute @workgroup_size(256)
fn attention_merged(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let h_group = group.x % 14u;
    let t_group = group.x / 14u;
    var s_max = -0x1.fffffep+127f;
    var s_weight = 0.0;
    var s_value = 0.0;
    var s_value1 = 0.0;
    var s_value2 = 0.0;
    var s_value3 = 0.0;
    let part = lane / 16u;
    let c = lane % 16u * 4u;
    let j_value4 = j_value[((t_group * 14u + h_group) * 16u + part) * 16u + c / 4u];
    let j_max_at = j_max[(t_group * 14u + h_group) * 16u + part];
    let j_weight_at = j_weight[(t_group * 14u + h_group) * 16u + part];
    let m = max(s_max, j_max_at);
    let m1 = exp(s_max - m);
    let m2 = exp(j_max_at - m);
    let weight = fma(s_weight, m1, j_weight_at * m2);
    s_value = fma(s_value, m1, j_value4.x * m2);
    s_value1 = fma(s_value1, m1, j_value4.y * m2);
    s_value2 = fma(s_value2, m1, j_value4.z * m2);
    s_value3 = fma(s_value3, m1, j_value4.w * m2);
    s_max = m;
    s_weight = weight;
    let fold_lane = lane / 16u;
    fold_max[lane] = s_max;
    fold_weight[lane] = s_weight;
    fold_value[lane] = s_value;
    fold_value[lane + 256u] = s_value1;
    fold_value[lane + 512u] = s_value2;
    fold_value[lane + 768u] = s_value3;
    workgroupBarrier();
    if fold_lane < 8u {
        let max_new = fold_max[lane + 128u];
        let weight_new = fold_weight[lane + 128u];
        let m3 = max(s_max, max_new);
        let m4 = exp(s_max - m3);
        let m5 = exp(max_new - m3);
        let weight1 = fma(s_weight, m4, weight_new * m5);
        s_value = fma(s_value, m4, fold_value[lane + 128u] * m5);
        s_value1 = fma(s_value1, m4, fold_value[lane + 384u] * m5);
        s_value2 = fma(s_value2, m4, fold_value[lane + 640u] * m5);
        s_value3 = fma(s_value3, m4, fold_value[lane + 896u] * m5);
        s_max = m3;
        s_weight = weight1;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 4u {
        let max_new = fold_max[lane + 64u];
        let weight_new = fold_weight[lane + 64u];
        let m3 = max(s_max, max_new);
        let m4 = exp(s_max - m3);
        let m5 = exp(max_new - m3);
        let weight1 = fma(s_weight, m4, weight_new * m5);
        s_value = fma(s_value, m4, fold_value[lane + 64u] * m5);
        s_value1 = fma(s_value1, m4, fold_value[lane + 320u] * m5);
        s_value2 = fma(s_value2, m4, fold_value[lane + 576u] * m5);
        s_value3 = fma(s_value3, m4, fold_value[lane + 832u] * m5);
        s_max = m3;
        s_weight = weight1;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 2u {
        let max_new = fold_max[lane + 32u];
        let weight_new = fold_weight[lane + 32u];
        let m3 = max(s_max, max_new);
        let m4 = exp(s_max - m3);
        let m5 = exp(max_new - m3);
        let weight1 = fma(s_weight, m4, weight_new * m5);
        s_value = fma(s_value, m4, fold_value[lane + 32u] * m5);
        s_value1 = fma(s_value1, m4, fold_value[lane + 288u] * m5);
        s_value2 = fma(s_value2, m4, fold_value[lane + 544u] * m5);
        s_value3 = fma(s_value3, m4, fold_value[lane + 800u] * m5);
        s_max = m3;
        s_weight = weight1;
        fold_max[lane] = s_max;
        fold_weight[lane] = s_weight;
        fold_value[lane] = s_value;
        fold_value[lane + 256u] = s_value1;
        fold_value[lane + 512u] = s_value2;
        fold_value[lane + 768u] = s_value3;
    }
    workgroupBarrier();
    if fold_lane < 1u {
        let max_new = fold_max[lane + 16u];
        let weight_new = fold_weight[lane + 16u];
        let m3 = max(s_max, max_new);
        let m4 = exp(s_max - m3);
        let m5 = exp(max_new - m3);
        let weight1 = fma(s_weight, m4, weight_new * m5);
        s_value = fma(s_value, m4, fold_value[lane + 16u] * m5);
        s_value1 = fma(s_value1, m4, fold_value[lane + 272u] * m5);
        s_value2 = fma(s_value2, m4, fold_value[lane + 528u] * m5);
        s_value3 = fma(s_value3, m4, fold_value[lane + 784u] * m5);
        s_max = m3;
        s_weight = weight1;
    }
    let c1 = lane % 16u * 4u;
    if lane < 16u {
        y[(t_group * 14u + h_group) * 64u + c1] = s_value / s_weight;
        y[(t_group * 14u + h_group) * 64u + c1 + 1u] = s_value1 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c1 + 2u] = s_value2 / s_weight;
        y[(t_group * 14u + h_group) * 64u + c1 + 3u] = s_value3 / s_weight;
    }
}
