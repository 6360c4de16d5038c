// kernel rmsnorm, shape D = 896, T <= 64, schedule wide, target webgpu-subgroups
// schedule wide for rmsnorm {
//     t: grid;
//     j: serial, lanes(256);
//     i: serial, lanes(256);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 1024 bytes
//     accumulator registers: 1
//     barriers: 9
//     loads an invocation: 12
//     bytes loaded an invocation: 48
//     stores an invocation: 4
//     flop an invocation: 27
//     flop a byte: 0.42
//     rounds of all loops: 8

struct Params {
    uint T;
    float eps;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer w : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[256];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float s = 0.0f;
    for (uint j = lane; j < 896u; j += 256u) {
        float x_at = asfloat(x.Load((group.x * 896u + j) * 4u));
        s = mad(x_at, x_at, s);
    }
    fold[lane] = s;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 128u) {
        s = s + fold[lane + 128u];
        fold[lane] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 64u) {
        s = s + fold[lane + 64u];
        fold[lane] = s;
    }
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
    for (uint i = lane; i < 896u; i += 256u) {
        float x_at = asfloat(x.Load((group.x * 896u + i) * 4u));
        float w_at = asfloat(w.Load(i * 4u));
        precise float value = x_at * scale * w_at;
        y.Store((group.x * 896u + i) * 4u, asuint(value));
    }
}
