// kernel softmax, shape C = 512, R <= 64, schedule row, target webgpu-subgroups
// schedule row for softmax {
//     r: grid;
//     i: serial, lanes(64);
//     j: serial, lanes(64);
//     c: serial, lanes(64);
// }
// dispatch R workgroups of 64 invocations
// cost
//     workgroup memory: 256 bytes
//     accumulator registers: 2
//     barriers: 15
//     loads an invocation: 24
//     bytes loaded an invocation: 96
//     stores an invocation: 8
//     flop an invocation: 68
//     flop a byte: 0.53
//     rounds of all loops: 24

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
    for (uint i = lane; i < 512u; i += 64u) {
        float x_at = asfloat(x.Load((group.x * 512u + i) * 4u));
        m = max(m, x_at);
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
    for (uint j = lane; j < 512u; j += 64u) {
        float x_at = asfloat(x.Load((group.x * 512u + j) * 4u));
        s = s + exp(x_at - m);
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
    for (uint c = lane; c < 512u; c += 64u) {
        float x_at = asfloat(x.Load((group.x * 512u + c) * 4u));
        precise float value = exp(x_at - m) / s;
        y.Store((group.x * 512u + c) * 4u, asuint(value));
    }
}
