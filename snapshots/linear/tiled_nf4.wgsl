// kernel linear, shape K = 896, R = 896, T <= 64, schedule tiled_nf4, target webgpu-subgroups
// schedule tiled_nf4 for linear {
//     workgroup 256;
//     t: grid, unroll(4), lanes(16);
//     r: grid, unroll(4), lanes(16);
//     k: serial as ko, serial(16);
//     stage w at ko: workgroup;
//     stage x at ko: workgroup;
//     store w: nf4(64);
// }
// dispatch ceil(T / 64) * 14 workgroups of 256 invocations
// cost
//     workgroup memory: 10752 bytes
//     accumulator registers: 16
//     barriers: 113
//     loads an invocation: 168
//     bytes loaded an invocation: 1568
//     stores an invocation: 16
//     flop an invocation: 29568
//     flop a byte: 18.12
//     rounds of all loops: 952

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> levels: array<f32, 512>;
var<workgroup> w_tile: array<f32, 1088>;
var<workgroup> x_tile: array<f32, 1088>;

@compute @workgroup_size(256)
fn linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    if lane < 32u {
        levels[lane] = -1.0;
        levels[lane + 32u] = -0.6961928f;
        levels[lane + 64u] = -0.52507305f;
        levels[lane + 96u] = -0.3949175f;
        levels[lane + 128u] = -0.28444138f;
        levels[lane + 160u] = -0.18477343f;
        levels[lane + 192u] = -0.091050036f;
        levels[lane + 224u] = 0.0;
        levels[lane + 256u] = 0.0795803f;
        levels[lane + 288u] = 0.1609302f;
        levels[lane + 320u] = 0.2461123f;
        levels[lane + 352u] = 0.33791524f;
        levels[lane + 384u] = 0.44070983f;
        levels[lane + 416u] = 0.562617f;
        levels[lane + 448u] = 0.72295684f;
        levels[lane + 480u] = 1.0;
    }
    workgroupBarrier();
    let copy = lane % 32u;
    let r_group = group.x % 14u;
    let t_group = group.x / 14u;
    let t = t_group * 64u + lane / 16u;
    let r = r_group * 64u + lane % 16u;
    var sum = 0.0;
    var sum1 = 0.0;
    var sum2 = 0.0;
    var sum3 = 0.0;
    var sum4 = 0.0;
    var sum5 = 0.0;
    var sum6 = 0.0;
    var sum7 = 0.0;
    var sum8 = 0.0;
    var sum9 = 0.0;
    var sum10 = 0.0;
    var sum11 = 0.0;
    var sum12 = 0.0;
    var sum13 = 0.0;
    var sum14 = 0.0;
    var sum15 = 0.0;
    for (var ko = 0u; ko < 56u; ko++) {
        workgroupBarrier();
        if lane < 64u {
            let w_scale = bitcast<f32>(w[((r_group * 64u + lane) * 128u + ko * 16u / 64u + 112u) >> 1u][((r_group * 64u + lane) * 128u + ko * 16u / 64u + 112u) & 1u]);
            let w2 = w[(r_group * 64u + lane) * 64u + ko];
            let code = levels[((w2.x << 5u) & 480u) | copy];
            let code1 = levels[((w2.x << 1u) & 480u) | copy];
            let code2 = levels[((w2.x >> 3u) & 480u) | copy];
            let code3 = levels[((w2.x >> 7u) & 480u) | copy];
            let code4 = levels[((w2.x >> 11u) & 480u) | copy];
            let code5 = levels[((w2.x >> 15u) & 480u) | copy];
            let code6 = levels[((w2.x >> 19u) & 480u) | copy];
            let code7 = levels[((w2.x >> 23u) & 480u) | copy];
            let code8 = levels[((w2.y << 5u) & 480u) | copy];
            let code9 = levels[((w2.y << 1u) & 480u) | copy];
            let code10 = levels[((w2.y >> 3u) & 480u) | copy];
            let code11 = levels[((w2.y >> 7u) & 480u) | copy];
            let code12 = levels[((w2.y >> 11u) & 480u) | copy];
            let code13 = levels[((w2.y >> 15u) & 480u) | copy];
            let code14 = levels[((w2.y >> 19u) & 480u) | copy];
            let code15 = levels[((w2.y >> 23u) & 480u) | copy];
            w_tile[lane * 17u] = code * w_scale;
            w_tile[lane * 17u + 1u] = code1 * w_scale;
            w_tile[lane * 17u + 2u] = code2 * w_scale;
            w_tile[lane * 17u + 3u] = code3 * w_scale;
            w_tile[lane * 17u + 4u] = code4 * w_scale;
            w_tile[lane * 17u + 5u] = code5 * w_scale;
            w_tile[lane * 17u + 6u] = code6 * w_scale;
            w_tile[lane * 17u + 7u] = code7 * w_scale;
            w_tile[lane * 17u + 8u] = code8 * w_scale;
            w_tile[lane * 17u + 9u] = code9 * w_scale;
            w_tile[lane * 17u + 10u] = code10 * w_scale;
            w_tile[lane * 17u + 11u] = code11 * w_scale;
            w_tile[lane * 17u + 12u] = code12 * w_scale;
            w_tile[lane * 17u + 13u] = code13 * w_scale;
            w_tile[lane * 17u + 14u] = code14 * w_scale;
            w_tile[lane * 17u + 15u] = code15 * w_scale;
        }
        let x4 = x[min(t_group * 64u + lane / 4u, 63u) * 224u + ko * 4u + lane % 4u];
        x_tile[lane / 4u * 17u + lane % 4u * 4u] = x4.x;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x4.y;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x4.z;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x4.w;
        workgroupBarrier();
        for (var k_step = 0u; k_step < 16u; k_step++) {
            let held = w_tile[lane % 16u * 17u + k_step];
            let held1 = x_tile[lane / 16u * 17u + k_step];
            let held2 = w_tile[(lane % 16u + 16u) * 17u + k_step];
            let held3 = w_tile[(lane % 16u + 32u) * 17u + k_step];
            let held4 = w_tile[(lane % 16u + 48u) * 17u + k_step];
            let held5 = x_tile[(lane / 16u + 16u) * 17u + k_step];
            let held6 = x_tile[(lane / 16u + 32u) * 17u + k_step];
            let held7 = x_tile[(lane / 16u + 48u) * 17u + k_step];
            sum = fma(held, held1, sum);
            sum1 = fma(held2, held1, sum1);
            sum2 = fma(held3, held1, sum2);
            sum3 = fma(held4, held1, sum3);
            sum4 = fma(held, held5, sum4);
            sum5 = fma(held2, held5, sum5);
            sum6 = fma(held3, held5, sum6);
            sum7 = fma(held4, held5, sum7);
            sum8 = fma(held, held6, sum8);
            sum9 = fma(held2, held6, sum9);
            sum10 = fma(held3, held6, sum10);
            sum11 = fma(held4, held6, sum11);
            sum12 = fma(held, held7, sum12);
            sum13 = fma(held2, held7, sum13);
            sum14 = fma(held3, held7, sum14);
            sum15 = fma(held4, held7, sum15);
        }
    }
    let t_in = min(t, params.T - 1u);
    let t_in1 = min(t + 16u, params.T - 1u);
    let t_in2 = min(t + 32u, params.T - 1u);
    let t_in3 = min(t + 48u, params.T - 1u);
    if t < params.T {
        y[t_in * 896u + r] = sum;
        y[t_in * 896u + r + 16u] = sum1;
        y[t_in * 896u + r + 32u] = sum2;
        y[t_in * 896u + r + 48u] = sum3;
    }
    if t + 16u < params.T {
        y[t_in1 * 896u + r] = sum4;
        y[t_in1 * 896u + r + 16u] = sum5;
        y[t_in1 * 896u + r + 32u] = sum6;
        y[t_in1 * 896u + r + 48u] = sum7;
    }
    if t + 32u < params.T {
        y[t_in2 * 896u + r] = sum8;
        y[t_in2 * 896u + r + 16u] = sum9;
        y[t_in2 * 896u + r + 32u] = sum10;
        y[t_in2 * 896u + r + 48u] = sum11;
    }
    if t + 48u < params.T {
        y[t_in3 * 896u + r] = sum12;
        y[t_in3 * 896u + r + 16u] = sum13;
        y[t_in3 * 896u + r + 32u] = sum14;
        y[t_in3 * 896u + r + 48u] = sum15;
    }
}
