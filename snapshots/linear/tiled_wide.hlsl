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
    uint T;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer x : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float w_tile[2176];
groupshared float x_tile[2176];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 7u;
    uint t_group = group.x / 7u;
    uint t = t_group * 128u + lane / 16u;
    uint r = r_group * 128u + lane % 16u;
    precise float sum = 0.0f;
    precise float sum1 = 0.0f;
    precise float sum2 = 0.0f;
    precise float sum3 = 0.0f;
    precise float sum4 = 0.0f;
    precise float sum5 = 0.0f;
    precise float sum6 = 0.0f;
    precise float sum7 = 0.0f;
    precise float sum8 = 0.0f;
    precise float sum9 = 0.0f;
    precise float sum10 = 0.0f;
    precise float sum11 = 0.0f;
    precise float sum12 = 0.0f;
    precise float sum13 = 0.0f;
    precise float sum14 = 0.0f;
    precise float sum15 = 0.0f;
    precise float sum16 = 0.0f;
    precise float sum17 = 0.0f;
    precise float sum18 = 0.0f;
    precise float sum19 = 0.0f;
    precise float sum20 = 0.0f;
    precise float sum21 = 0.0f;
    precise float sum22 = 0.0f;
    precise float sum23 = 0.0f;
    precise float sum24 = 0.0f;
    precise float sum25 = 0.0f;
    precise float sum26 = 0.0f;
    precise float sum27 = 0.0f;
    precise float sum28 = 0.0f;
    precise float sum29 = 0.0f;
    precise float sum30 = 0.0f;
    precise float sum31 = 0.0f;
    precise float sum32 = 0.0f;
    precise float sum33 = 0.0f;
    precise float sum34 = 0.0f;
    precise float sum35 = 0.0f;
    precise float sum36 = 0.0f;
    precise float sum37 = 0.0f;
    precise float sum38 = 0.0f;
    precise float sum39 = 0.0f;
    precise float sum40 = 0.0f;
    precise float sum41 = 0.0f;
    precise float sum42 = 0.0f;
    precise float sum43 = 0.0f;
    precise float sum44 = 0.0f;
    precise float sum45 = 0.0f;
    precise float sum46 = 0.0f;
    precise float sum47 = 0.0f;
    precise float sum48 = 0.0f;
    precise float sum49 = 0.0f;
    precise float sum50 = 0.0f;
    precise float sum51 = 0.0f;
    precise float sum52 = 0.0f;
    precise float sum53 = 0.0f;
    precise float sum54 = 0.0f;
    precise float sum55 = 0.0f;
    precise float sum56 = 0.0f;
    precise float sum57 = 0.0f;
    precise float sum58 = 0.0f;
    precise float sum59 = 0.0f;
    precise float sum60 = 0.0f;
    precise float sum61 = 0.0f;
    precise float sum62 = 0.0f;
    precise float sum63 = 0.0f;
    precise float4 w_next = asfloat(w.Load4(((r_group * 128u + lane / 4u) * 224u + lane % 4u) * 16u));
    precise float4 w_next1 = asfloat(w.Load4(((r_group * 128u + lane / 4u + 64u) * 224u + lane % 4u) * 16u));
    precise float4 x_next = asfloat(x.Load4((min(t_group * 128u + lane / 4u, 63u) * 224u + lane % 4u) * 16u));
    precise float4 x_next1 = asfloat(x.Load4((min(t_group * 128u + lane / 4u + 64u, 63u) * 224u + lane % 4u) * 16u));
    for (uint ko = 0u; ko < 56u; ko++) {
        GroupMemoryBarrierWithGroupSync();
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
        GroupMemoryBarrierWithGroupSync();
        if (ko + 1u < 56u) {
            w_next = asfloat(w.Load4(((r_group * 128u + lane / 4u) * 224u + (ko + 1u) * 4u + lane % 4u) * 16u));
            w_next1 = asfloat(w.Load4(((r_group * 128u + lane / 4u + 64u) * 224u + (ko + 1u) * 4u + lane % 4u) * 16u));
            x_next = asfloat(x.Load4((min(t_group * 128u + lane / 4u, 63u) * 224u + (ko + 1u) * 4u + lane % 4u) * 16u));
            x_next1 = asfloat(x.Load4((min(t_group * 128u + lane / 4u + 64u, 63u) * 224u + (ko + 1u) * 4u + lane % 4u) * 16u));
        }
        for (uint k_step = 0u; k_step < 16u; k_step++) {
            float held = w_tile[lane % 16u * 17u + k_step];
            float held1 = x_tile[lane / 16u * 17u + k_step];
            float held2 = w_tile[(lane % 16u + 16u) * 17u + k_step];
            float held3 = w_tile[(lane % 16u + 32u) * 17u + k_step];
            float held4 = w_tile[(lane % 16u + 48u) * 17u + k_step];
            float held5 = w_tile[(lane % 16u + 64u) * 17u + k_step];
            float held6 = w_tile[(lane % 16u + 80u) * 17u + k_step];
            float held7 = w_tile[(lane % 16u + 96u) * 17u + k_step];
            float held8 = w_tile[(lane % 16u + 112u) * 17u + k_step];
            float held9 = x_tile[(lane / 16u + 16u) * 17u + k_step];
            float held10 = x_tile[(lane / 16u + 32u) * 17u + k_step];
            float held11 = x_tile[(lane / 16u + 48u) * 17u + k_step];
            float held12 = x_tile[(lane / 16u + 64u) * 17u + k_step];
            float held13 = x_tile[(lane / 16u + 80u) * 17u + k_step];
            float held14 = x_tile[(lane / 16u + 96u) * 17u + k_step];
            float held15 = x_tile[(lane / 16u + 112u) * 17u + k_step];
            sum = mad(held, held1, sum);
            sum1 = mad(held2, held1, sum1);
            sum2 = mad(held3, held1, sum2);
            sum3 = mad(held4, held1, sum3);
            sum4 = mad(held5, held1, sum4);
            sum5 = mad(held6, held1, sum5);
            sum6 = mad(held7, held1, sum6);
            sum7 = mad(held8, held1, sum7);
            sum8 = mad(held, held9, sum8);
            sum9 = mad(held2, held9, sum9);
            sum10 = mad(held3, held9, sum10);
            sum11 = mad(held4, held9, sum11);
            sum12 = mad(held5, held9, sum12);
            sum13 = mad(held6, held9, sum13);
            sum14 = mad(held7, held9, sum14);
            sum15 = mad(held8, held9, sum15);
            sum16 = mad(held, held10, sum16);
            sum17 = mad(held2, held10, sum17);
            sum18 = mad(held3, held10, sum18);
            sum19 = mad(held4, held10, sum19);
            sum20 = mad(held5, held10, sum20);
            sum21 = mad(held6, held10, sum21);
            sum22 = mad(held7, held10, sum22);
            sum23 = mad(held8, held10, sum23);
            sum24 = mad(held, held11, sum24);
            sum25 = mad(held2, held11, sum25);
            sum26 = mad(held3, held11, sum26);
            sum27 = mad(held4, held11, sum27);
            sum28 = mad(held5, held11, sum28);
            sum29 = mad(held6, held11, sum29);
            sum30 = mad(held7, held11, sum30);
            sum31 = mad(held8, held11, sum31);
            sum32 = mad(held, held12, sum32);
            sum33 = mad(held2, held12, sum33);
            sum34 = mad(held3, held12, sum34);
            sum35 = mad(held4, held12, sum35);
            sum36 = mad(held5, held12, sum36);
            sum37 = mad(held6, held12, sum37);
            sum38 = mad(held7, held12, sum38);
            sum39 = mad(held8, held12, sum39);
            sum40 = mad(held, held13, sum40);
            sum41 = mad(held2, held13, sum41);
            sum42 = mad(held3, held13, sum42);
            sum43 = mad(held4, held13, sum43);
            sum44 = mad(held5, held13, sum44);
            sum45 = mad(held6, held13, sum45);
            sum46 = mad(held7, held13, sum46);
            sum47 = mad(held8, held13, sum47);
            sum48 = mad(held, held14, sum48);
            sum49 = mad(held2, held14, sum49);
            sum50 = mad(held3, held14, sum50);
            sum51 = mad(held4, held14, sum51);
            sum52 = mad(held5, held14, sum52);
            sum53 = mad(held6, held14, sum53);
            sum54 = mad(held7, held14, sum54);
            sum55 = mad(held8, held14, sum55);
            sum56 = mad(held, held15, sum56);
            sum57 = mad(held2, held15, sum57);
            sum58 = mad(held3, held15, sum58);
            sum59 = mad(held4, held15, sum59);
            sum60 = mad(held5, held15, sum60);
            sum61 = mad(held6, held15, sum61);
            sum62 = mad(held7, held15, sum62);
            sum63 = mad(held8, held15, sum63);
        }
    }
    uint t_in = min(t, params.T - 1u);
    uint t_in1 = min(t + 16u, params.T - 1u);
    uint t_in2 = min(t + 32u, params.T - 1u);
    uint t_in3 = min(t + 48u, params.T - 1u);
    uint t_in4 = min(t + 64u, params.T - 1u);
    uint t_in5 = min(t + 80u, params.T - 1u);
    uint t_in6 = min(t + 96u, params.T - 1u);
    uint t_in7 = min(t + 112u, params.T - 1u);
    if (t < params.T) {
        y.Store((t_in * 896u + r) * 4u, asuint(sum));
        y.Store((t_in * 896u + r + 16u) * 4u, asuint(sum1));
        y.Store((t_in * 896u + r + 32u) * 4u, asuint(sum2));
        y.Store((t_in * 896u + r + 48u) * 4u, asuint(sum3));
        y.Store((t_in * 896u + r + 64u) * 4u, asuint(sum4));
        y.Store((t_in * 896u + r + 80u) * 4u, asuint(sum5));
        y.Store((t_in * 896u + r + 96u) * 4u, asuint(sum6));
        y.Store((t_in * 896u + r + 112u) * 4u, asuint(sum7));
    }
    if (t + 16u < params.T) {
        y.Store((t_in1 * 896u + r) * 4u, asuint(sum8));
        y.Store((t_in1 * 896u + r + 16u) * 4u, asuint(sum9));
        y.Store((t_in1 * 896u + r + 32u) * 4u, asuint(sum10));
        y.Store((t_in1 * 896u + r + 48u) * 4u, asuint(sum11));
        y.Store((t_in1 * 896u + r + 64u) * 4u, asuint(sum12));
        y.Store((t_in1 * 896u + r + 80u) * 4u, asuint(sum13));
        y.Store((t_in1 * 896u + r + 96u) * 4u, asuint(sum14));
        y.Store((t_in1 * 896u + r + 112u) * 4u, asuint(sum15));
    }
    if (t + 32u < params.T) {
        y.Store((t_in2 * 896u + r) * 4u, asuint(sum16));
        y.Store((t_in2 * 896u + r + 16u) * 4u, asuint(sum17));
        y.Store((t_in2 * 896u + r + 32u) * 4u, asuint(sum18));
        y.Store((t_in2 * 896u + r + 48u) * 4u, asuint(sum19));
        y.Store((t_in2 * 896u + r + 64u) * 4u, asuint(sum20));
        y.Store((t_in2 * 896u + r + 80u) * 4u, asuint(sum21));
        y.Store((t_in2 * 896u + r + 96u) * 4u, asuint(sum22));
        y.Store((t_in2 * 896u + r + 112u) * 4u, asuint(sum23));
    }
    if (t + 48u < params.T) {
        y.Store((t_in3 * 896u + r) * 4u, asuint(sum24));
        y.Store((t_in3 * 896u + r + 16u) * 4u, asuint(sum25));
        y.Store((t_in3 * 896u + r + 32u) * 4u, asuint(sum26));
        y.Store((t_in3 * 896u + r + 48u) * 4u, asuint(sum27));
        y.Store((t_in3 * 896u + r + 64u) * 4u, asuint(sum28));
        y.Store((t_in3 * 896u + r + 80u) * 4u, asuint(sum29));
        y.Store((t_in3 * 896u + r + 96u) * 4u, asuint(sum30));
        y.Store((t_in3 * 896u + r + 112u) * 4u, asuint(sum31));
    }
    if (t + 64u < params.T) {
        y.Store((t_in4 * 896u + r) * 4u, asuint(sum32));
        y.Store((t_in4 * 896u + r + 16u) * 4u, asuint(sum33));
        y.Store((t_in4 * 896u + r + 32u) * 4u, asuint(sum34));
        y.Store((t_in4 * 896u + r + 48u) * 4u, asuint(sum35));
        y.Store((t_in4 * 896u + r + 64u) * 4u, asuint(sum36));
        y.Store((t_in4 * 896u + r + 80u) * 4u, asuint(sum37));
        y.Store((t_in4 * 896u + r + 96u) * 4u, asuint(sum38));
        y.Store((t_in4 * 896u + r + 112u) * 4u, asuint(sum39));
    }
    if (t + 80u < params.T) {
        y.Store((t_in5 * 896u + r) * 4u, asuint(sum40));
        y.Store((t_in5 * 896u + r + 16u) * 4u, asuint(sum41));
        y.Store((t_in5 * 896u + r + 32u) * 4u, asuint(sum42));
        y.Store((t_in5 * 896u + r + 48u) * 4u, asuint(sum43));
        y.Store((t_in5 * 896u + r + 64u) * 4u, asuint(sum44));
        y.Store((t_in5 * 896u + r + 80u) * 4u, asuint(sum45));
        y.Store((t_in5 * 896u + r + 96u) * 4u, asuint(sum46));
        y.Store((t_in5 * 896u + r + 112u) * 4u, asuint(sum47));
    }
    if (t + 96u < params.T) {
        y.Store((t_in6 * 896u + r) * 4u, asuint(sum48));
        y.Store((t_in6 * 896u + r + 16u) * 4u, asuint(sum49));
        y.Store((t_in6 * 896u + r + 32u) * 4u, asuint(sum50));
        y.Store((t_in6 * 896u + r + 48u) * 4u, asuint(sum51));
        y.Store((t_in6 * 896u + r + 64u) * 4u, asuint(sum52));
        y.Store((t_in6 * 896u + r + 80u) * 4u, asuint(sum53));
        y.Store((t_in6 * 896u + r + 96u) * 4u, asuint(sum54));
        y.Store((t_in6 * 896u + r + 112u) * 4u, asuint(sum55));
    }
    if (t + 112u < params.T) {
        y.Store((t_in7 * 896u + r) * 4u, asuint(sum56));
        y.Store((t_in7 * 896u + r + 16u) * 4u, asuint(sum57));
        y.Store((t_in7 * 896u + r + 32u) * 4u, asuint(sum58));
        y.Store((t_in7 * 896u + r + 48u) * 4u, asuint(sum59));
        y.Store((t_in7 * 896u + r + 64u) * 4u, asuint(sum60));
        y.Store((t_in7 * 896u + r + 80u) * 4u, asuint(sum61));
        y.Store((t_in7 * 896u + r + 96u) * 4u, asuint(sum62));
        y.Store((t_in7 * 896u + r + 112u) * 4u, asuint(sum63));
    }
}
