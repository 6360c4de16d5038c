// kernel linear, shape K = 896, R = 896, T <= 64, schedule tiled_wide, target wide
// schedule tiled_wide for linear {
//     workgroup 256;
//     t: grid, unroll(8), lanes(16);
//     r: grid, unroll(8), lanes(16);
//     k: serial as ko, serial(16);
//     stage w at ko: workgroup ahead;
//     stage x at ko: workgroup ahead;
// }
// dispatch ceil(T / 128) * 7 workgroups of 256 invocations
// cost
//     workgroup memory: 17408 bytes
//     accumulator registers: 80
//     barriers: 112
//     loads an invocation: 228
//     bytes loaded an invocation: 3648
//     stores an invocation: 64
//     flop an invocation: 114688
//     flop a byte: 29.38
//     rounds of all loops: 952

struct Params {
    T: u32,
}

@group(0) @binding(0) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> w_tile: array<f32, 2176>;
var<workgroup> x_tile: array<f32, 2176>;

@compute @workgroup_size(256)
fn linear(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let r_group = group.x % 7u;
    let t_group = group.x / 7u;
    let t = t_group * 128u + lane / 16u;
    let r = r_group * 128u + lane % 16u;
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
    var sum16 = 0.0;
    var sum17 = 0.0;
    var sum18 = 0.0;
    var sum19 = 0.0;
    var sum20 = 0.0;
    var sum21 = 0.0;
    var sum22 = 0.0;
    var sum23 = 0.0;
    var sum24 = 0.0;
    var sum25 = 0.0;
    var sum26 = 0.0;
    var sum27 = 0.0;
    var sum28 = 0.0;
    var sum29 = 0.0;
    var sum30 = 0.0;
    var sum31 = 0.0;
    var sum32 = 0.0;
    var sum33 = 0.0;
    var sum34 = 0.0;
    var sum35 = 0.0;
    var sum36 = 0.0;
    var sum37 = 0.0;
    var sum38 = 0.0;
    var sum39 = 0.0;
    var sum40 = 0.0;
    var sum41 = 0.0;
    var sum42 = 0.0;
    var sum43 = 0.0;
    var sum44 = 0.0;
    var sum45 = 0.0;
    var sum46 = 0.0;
    var sum47 = 0.0;
    var sum48 = 0.0;
    var sum49 = 0.0;
    var sum50 = 0.0;
    var sum51 = 0.0;
    var sum52 = 0.0;
    var sum53 = 0.0;
    var sum54 = 0.0;
    var sum55 = 0.0;
    var sum56 = 0.0;
    var sum57 = 0.0;
    var sum58 = 0.0;
    var sum59 = 0.0;
    var sum60 = 0.0;
    var sum61 = 0.0;
    var sum62 = 0.0;
    var sum63 = 0.0;
    var w_next = w[(r_group * 128u + lane / 4u) * 224u + lane % 4u];
    var w_next1 = w[(r_group * 128u + lane / 4u + 64u) * 224u + lane % 4u];
    var x_next = x[min(t_group * 128u + lane / 4u, 63u) * 224u + lane % 4u];
    var x_next1 = x[min(t_group * 128u + lane / 4u + 64u, 63u) * 224u + lane % 4u];
    for (var ko = 0u; ko < 56u; ko++) {
        workgroupBarrier();
        w_tile[lane / 4u * 17u + lane % 4u * 4u] = w_next.x;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = w_next.y;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = w_next.z;
        w_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = w_next.w;
        w_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u] = w_next1.x;
        w_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 1u] = w_next1.y;
        w_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 2u] = w_next1.z;
        w_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 3u] = w_next1.w;
        x_tile[lane / 4u * 17u + lane % 4u * 4u] = x_next.x;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 1u] = x_next.y;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 2u] = x_next.z;
        x_tile[lane / 4u * 17u + lane % 4u * 4u + 3u] = x_next.w;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u] = x_next1.x;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 1u] = x_next1.y;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 2u] = x_next1.z;
        x_tile[(lane / 4u + 64u) * 17u + lane % 4u * 4u + 3u] = x_next1.w;
        workgroupBarrier();
        if ko + 1u < 56u {
            w_next = w[(r_group * 128u + lane / 4u) * 224u + (ko + 1u) * 4u + lane % 4u];
            w_next1 = w[(r_group * 128u + lane / 4u + 64u) * 224u + (ko + 1u) * 4u + lane % 4u];
            x_next = x[min(t_group * 128u + lane / 4u, 63u) * 224u + (ko + 1u) * 4u + lane % 4u];
            x_next1 = x[min(t_group * 128u + lane / 4u + 64u, 63u) * 224u + (ko + 1u) * 4u + lane % 4u];
        }
        for (var k_step = 0u; k_step < 16u; k_step++) {
            let held = w_tile[lane % 16u * 17u + k_step];
            let held1 = x_tile[lane / 16u * 17u + k_step];
            let held2 = w_tile[(lane % 16u + 16u) * 17u + k_step];
            let held3 = w_tile[(lane % 16u + 32u) * 17u + k_step];
            let held4 = w_tile[(lane % 16u + 48u) * 17u + k_step];
            let held5 = w_tile[(lane % 16u + 64u) * 17u + k_step];
            let held6 = w_tile[(lane % 16u + 80u) * 17u + k_step];
            let held7 = w_tile[(lane % 16u + 96u) * 17u + k_step];
            let held8 = w_tile[(lane % 16u + 112u) * 17u + k_step];
            let held9 = x_tile[(lane / 16u + 16u) * 17u + k_step];
            let held10 = x_tile[(lane / 16u + 32u) * 17u + k_step];
            let held11 = x_tile[(lane / 16u + 48u) * 17u + k_step];
            let held12 = x_tile[(lane / 16u + 64u) * 17u + k_step];
            let held13 = x_tile[(lane / 16u + 80u) * 17u + k_step];
            let held14 = x_tile[(lane / 16u + 96u) * 17u + k_step];
            let held15 = x_tile[(lane / 16u + 112u) * 17u + k_step];
            sum = fma(held, held1, sum);
            sum1 = fma(held2, held1, sum1);
            sum2 = fma(held3, held1, sum2);
            sum3 = fma(held4, held1, sum3);
            sum4 = fma(held5, held1, sum4);
            sum5 = fma(held6, held1, sum5);
            sum6 = fma(held7, held1, sum6);
            sum7 = fma(held8, held1, sum7);
            sum8 = fma(held, held9, sum8);
            sum9 = fma(held2, held9, sum9);
            sum10 = fma(held3, held9, sum10);
            sum11 = fma(held4, held9, sum11);
            sum12 = fma(held5, held9, sum12);
            sum13 = fma(held6, held9, sum13);
            sum14 = fma(held7, held9, sum14);
            sum15 = fma(held8, held9, sum15);
            sum16 = fma(held, held10, sum16);
            sum17 = fma(held2, held10, sum17);
            sum18 = fma(held3, held10, sum18);
            sum19 = fma(held4, held10, sum19);
            sum20 = fma(held5, held10, sum20);
            sum21 = fma(held6, held10, sum21);
            sum22 = fma(held7, held10, sum22);
            sum23 = fma(held8, held10, sum23);
            sum24 = fma(held, held11, sum24);
            sum25 = fma(held2, held11, sum25);
            sum26 = fma(held3, held11, sum26);
            sum27 = fma(held4, held11, sum27);
            sum28 = fma(held5, held11, sum28);
            sum29 = fma(held6, held11, sum29);
            sum30 = fma(held7, held11, sum30);
            sum31 = fma(held8, held11, sum31);
            sum32 = fma(held, held12, sum32);
            sum33 = fma(held2, held12, sum33);
            sum34 = fma(held3, held12, sum34);
            sum35 = fma(held4, held12, sum35);
            sum36 = fma(held5, held12, sum36);
            sum37 = fma(held6, held12, sum37);
            sum38 = fma(held7, held12, sum38);
            sum39 = fma(held8, held12, sum39);
            sum40 = fma(held, held13, sum40);
            sum41 = fma(held2, held13, sum41);
            sum42 = fma(held3, held13, sum42);
            sum43 = fma(held4, held13, sum43);
            sum44 = fma(held5, held13, sum44);
            sum45 = fma(held6, held13, sum45);
            sum46 = fma(held7, held13, sum46);
            sum47 = fma(held8, held13, sum47);
            sum48 = fma(held, held14, sum48);
            sum49 = fma(held2, held14, sum49);
            sum50 = fma(held3, held14, sum50);
            sum51 = fma(held4, held14, sum51);
            sum52 = fma(held5, held14, sum52);
            sum53 = fma(held6, held14, sum53);
            sum54 = fma(held7, held14, sum54);
            sum55 = fma(held8, held14, sum55);
            sum56 = fma(held, held15, sum56);
            sum57 = fma(held2, held15, sum57);
            sum58 = fma(held3, held15, sum58);
            sum59 = fma(held4, held15, sum59);
            sum60 = fma(held5, held15, sum60);
            sum61 = fma(held6, held15, sum61);
            sum62 = fma(held7, held15, sum62);
            sum63 = fma(held8, held15, sum63);
        }
    }
    let t_in = min(t, params.T - 1u);
    let t_in1 = min(t + 16u, params.T - 1u);
    let t_in2 = min(t + 32u, params.T - 1u);
    let t_in3 = min(t + 48u, params.T - 1u);
    let t_in4 = min(t + 64u, params.T - 1u);
    let t_in5 = min(t + 80u, params.T - 1u);
    let t_in6 = min(t + 96u, params.T - 1u);
    let t_in7 = min(t + 112u, params.T - 1u);
    if t < params.T {
        y[t_in * 896u + r] = sum;
        y[t_in * 896u + r + 16u] = sum1;
        y[t_in * 896u + r + 32u] = sum2;
        y[t_in * 896u + r + 48u] = sum3;
        y[t_in * 896u + r + 64u] = sum4;
        y[t_in * 896u + r + 80u] = sum5;
        y[t_in * 896u + r + 96u] = sum6;
        y[t_in * 896u + r + 112u] = sum7;
    }
    if t + 16u < params.T {
        y[t_in1 * 896u + r] = sum8;
        y[t_in1 * 896u + r + 16u] = sum9;
        y[t_in1 * 896u + r + 32u] = sum10;
        y[t_in1 * 896u + r + 48u] = sum11;
        y[t_in1 * 896u + r + 64u] = sum12;
        y[t_in1 * 896u + r + 80u] = sum13;
        y[t_in1 * 896u + r + 96u] = sum14;
        y[t_in1 * 896u + r + 112u] = sum15;
    }
    if t + 32u < params.T {
        y[t_in2 * 896u + r] = sum16;
        y[t_in2 * 896u + r + 16u] = sum17;
        y[t_in2 * 896u + r + 32u] = sum18;
        y[t_in2 * 896u + r + 48u] = sum19;
        y[t_in2 * 896u + r + 64u] = sum20;
        y[t_in2 * 896u + r + 80u] = sum21;
        y[t_in2 * 896u + r + 96u] = sum22;
        y[t_in2 * 896u + r + 112u] = sum23;
    }
    if t + 48u < params.T {
        y[t_in3 * 896u + r] = sum24;
        y[t_in3 * 896u + r + 16u] = sum25;
        y[t_in3 * 896u + r + 32u] = sum26;
        y[t_in3 * 896u + r + 48u] = sum27;
        y[t_in3 * 896u + r + 64u] = sum28;
        y[t_in3 * 896u + r + 80u] = sum29;
        y[t_in3 * 896u + r + 96u] = sum30;
        y[t_in3 * 896u + r + 112u] = sum31;
    }
    if t + 64u < params.T {
        y[t_in4 * 896u + r] = sum32;
        y[t_in4 * 896u + r + 16u] = sum33;
        y[t_in4 * 896u + r + 32u] = sum34;
        y[t_in4 * 896u + r + 48u] = sum35;
        y[t_in4 * 896u + r + 64u] = sum36;
        y[t_in4 * 896u + r + 80u] = sum37;
        y[t_in4 * 896u + r + 96u] = sum38;
        y[t_in4 * 896u + r + 112u] = sum39;
    }
    if t + 80u < params.T {
        y[t_in5 * 896u + r] = sum40;
        y[t_in5 * 896u + r + 16u] = sum41;
        y[t_in5 * 896u + r + 32u] = sum42;
        y[t_in5 * 896u + r + 48u] = sum43;
        y[t_in5 * 896u + r + 64u] = sum44;
        y[t_in5 * 896u + r + 80u] = sum45;
        y[t_in5 * 896u + r + 96u] = sum46;
        y[t_in5 * 896u + r + 112u] = sum47;
    }
    if t + 96u < params.T {
        y[t_in6 * 896u + r] = sum48;
        y[t_in6 * 896u + r + 16u] = sum49;
        y[t_in6 * 896u + r + 32u] = sum50;
        y[t_in6 * 896u + r + 48u] = sum51;
        y[t_in6 * 896u + r + 64u] = sum52;
        y[t_in6 * 896u + r + 80u] = sum53;
        y[t_in6 * 896u + r + 96u] = sum54;
        y[t_in6 * 896u + r + 112u] = sum55;
    }
    if t + 112u < params.T {
        y[t_in7 * 896u + r] = sum56;
        y[t_in7 * 896u + r + 16u] = sum57;
        y[t_in7 * 896u + r + 32u] = sum58;
        y[t_in7 * 896u + r + 48u] = sum59;
        y[t_in7 * 896u + r + 64u] = sum60;
        y[t_in7 * 896u + r + 80u] = sum61;
        y[t_in7 * 896u + r + 96u] = sum62;
        y[t_in7 * 896u + r + 112u] = sum63;
    }
}
