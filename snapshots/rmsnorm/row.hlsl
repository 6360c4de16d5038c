// kernel rmsnorm, shape D = 896, T <= 64, schedule row, target webgpu-subgroups
// schedule row for rmsnorm {
//     t: grid;
//     j: serial, lanes(64), vector(4);
//     i: serial, lanes(64), vector(4);
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 1
//     barriers: 7
//     loads an invocation: 12
//     bytes loaded an invocation: 192
//     stores an invocation: 16
//     flop an invocation: 73
//     flop a byte: 0.29
//     rounds of all loops: 8

struct Params {
    uint T;
    float eps;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer w : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float s = 0.0f;
    for (uint j = lane * 4u; j < 896u; j += 256u) {
        float4 x4 = asfloat(x.Load4((group.x * 224u + j / 4u) * 16u));
        s = mad(x4.x, x4.x, s);
        s = mad(x4.y, x4.y, s);
        s = mad(x4.z, x4.z, s);
        s = mad(x4.w, x4.w, s);
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
    precise float scale = rsqrt(s / 896.0f + params.eps);
    for (uint i = lane * 4u; i < 896u; i += 256u) {
        float4 x4 = asfloat(x.Load4((group.x * 224u + i / 4u) * 16u));
        float4 w4 = asfloat(w.Load4(i / 4u * 16u));
        precise float value = x4.x * scale * w4.x;
        y.Store((group.x * 896u + i) * 4u, asuint(value));
        precise float value1 = x4.y * scale * w4.y;
        y.Store((group.x * 896u + i + 1u) * 4u, asuint(value1));
        precise float value2 = x4.z * scale * w4.z;
        y.Store((group.x * 896u + i + 2u) * 4u, asuint(value2));
        precise float value3 = x4.w * scale * w4.w;
        y.Store((group.x * 896u + i + 3u) * 4u, asuint(value3));
    }
}
