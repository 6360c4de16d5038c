// kernel rmsnorm, shape D = 896, T <= 64, schedule subgroup, target webgpu-subgroups
// schedule subgroup for rmsnorm {
//     t: grid;
//     j: serial, lanes(64), vector(4);
//     i: serial, lanes(64), vector(4);
//     fold j: subgroup;
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 64 bytes
//     accumulator registers: 1
//     barriers: 1
//     loads an invocation: 12
//     bytes loaded an invocation: 192
//     stores an invocation: 16
//     flop an invocation: 85
//     flop a byte: 0.33
//     rounds of all loops: 24

struct Params {
    uint T;
    float eps;
};

ByteAddressBuffer x : register(t0);
ByteAddressBuffer w : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[16];

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
    uint near = min(WaveGetLaneCount(), 64u);
    float sum_near = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 1u);
    s = s + sum_near;
    float sum_near1 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 2u);
    s = s + sum_near1;
    if (4u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 4u);
        s = s + sum_near2;
    }
    if (8u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 8u);
        s = s + sum_near2;
    }
    if (16u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 16u);
        s = s + sum_near2;
    }
    if (32u < near) {
        float sum_near2 = WaveReadLaneAt(s, WaveGetLaneIndex() ^ 32u);
        s = s + sum_near2;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold[near_group] = s;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 64u / near;
    s = 0.0f;
    for (uint other = 0u; other < near_groups; other++) {
        s = s + fold[other];
    }
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
