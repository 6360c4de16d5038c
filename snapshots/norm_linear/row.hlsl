// kernel norm_linear, shape K = 896, R = 896, T <= 64, schedule row, target webgpu-subgroups
// schedule row for norm_linear {
//     t: grid;
//     r: grid;
//     k: serial, lanes(64), vector(4);
//     norm.j: serial, lanes(64), vector(4);
// }
// dispatch T * 896 workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 2
//     barriers: 14
//     loads an invocation: 16
//     bytes loaded an invocation: 256
//     stores an invocation: 1
//     flop an invocation: 111
//     flop a byte: 0.43
//     rounds of all loops: 8

struct Params {
    uint T;
    float norm_eps;
};

ByteAddressBuffer w : register(t0);
ByteAddressBuffer norm_x : register(t1);
ByteAddressBuffer norm_w : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r_group = group.x % 896u;
    uint t_group = group.x / 896u;
    precise float s = 0.0f;
    for (uint j = lane * 4u; j < 896u; j += 256u) {
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + j / 4u) * 16u));
        s = mad(norm_x4.x, norm_x4.x, s);
        s = mad(norm_x4.y, norm_x4.y, s);
        s = mad(norm_x4.z, norm_x4.z, s);
        s = mad(norm_x4.w, norm_x4.w, s);
    }
    fold[lane] = s;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        s = s + fold[lane + 32u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        s = s + fold[lane + 16u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        s = s + fold[lane + 8u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        s = s + fold[lane + 4u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        s = s + fold[lane + 2u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        s = s + fold[lane + 1u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    s = fold[0];
    precise float norm_scale = rsqrt(s / 896.0f + params.norm_eps);
    precise float sum = 0.0f;
    for (uint k = lane * 4u; k < 896u; k += 256u) {
        float4 w4 = asfloat(w.Load4((r_group * 224u + k / 4u) * 16u));
        float4 norm_x4 = asfloat(norm_x.Load4((t_group * 224u + k / 4u) * 16u));
        float4 norm_w4 = asfloat(norm_w.Load4(k / 4u * 16u));
        sum = mad(w4.x, norm_x4.x * norm_scale * norm_w4.x, sum);
        sum = mad(w4.y, norm_x4.y * norm_scale * norm_w4.y, sum);
        sum = mad(w4.z, norm_x4.z * norm_scale * norm_w4.z, sum);
        sum = mad(w4.w, norm_x4.w * norm_scale * norm_w4.w, sum);
    }
    GroupMemoryBarrierWithGroupSync();
    fold[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        sum = sum + fold[lane + 32u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        sum = sum + fold[lane + 16u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        sum = sum + fold[lane + 1u];
    }
    if (lane == 0u) {
        y.Store((t_group * 896u + r_group) * 4u, asuint(sum));
    }
}
