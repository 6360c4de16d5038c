// kernel softmax, shape C = 512, R <= 64, schedule wide, target webgpu-subgroups
// schedule wide for softmax {
//     r: grid;
//     i: serial, lanes(64), vector(4);
//     j: serial, lanes(64), vector(4);
//     c: serial, lanes(64), vector(4);
// }
// dispatch R workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 2
//     barriers: 15
//     loads an invocation: 6
//     bytes loaded an invocation: 96
//     stores an invocation: 8
//     flop an invocation: 68
//     flop a byte: 0.53
//     rounds of all loops: 6

struct Params {
    uint R;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float m = -3.4028235e38f;
    for (uint i = lane * 4u; i < 512u; i += 256u) {
        float4 x4 = asfloat(x.Load4((group.x * 128u + i / 4u) * 16u));
        m = max(m, x4.x);
        m = max(m, x4.y);
        m = max(m, x4.z);
        m = max(m, x4.w);
    }
    fold[lane] = m;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        float max_new = fold[lane + 32u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        float max_new = fold[lane + 16u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        float max_new = fold[lane + 8u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        float max_new = fold[lane + 4u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        float max_new = fold[lane + 2u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        float max_new = fold[lane + 1u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    m = fold[0];
    precise float s = 0.0f;
    for (uint j = lane * 4u; j < 512u; j += 256u) {
        float4 x4 = asfloat(x.Load4((group.x * 128u + j / 4u) * 16u));
        s = s + exp(x4.x - m);
        s = s + exp(x4.y - m);
        s = s + exp(x4.z - m);
        s = s + exp(x4.w - m);
    }
    GroupMemoryBarrierWithGroupSync();
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
    for (uint c = lane * 4u; c < 512u; c += 256u) {
        float4 x4 = asfloat(x.Load4((group.x * 128u + c / 4u) * 16u));
        precise float value = exp(x4.x - m) / s;
        y.Store((group.x * 512u + c) * 4u, asuint(value));
        precise float value1 = exp(x4.y - m) / s;
        y.Store((group.x * 512u + c + 1u) * 4u, asuint(value1));
        precise float value2 = exp(x4.z - m) / s;
        y.Store((group.x * 512u + c + 2u) * 4u, asuint(value2));
        precise float value3 = exp(x4.w - m) / s;
        y.Store((group.x * 512u + c + 3u) * 4u, asuint(value3));
    }
}
