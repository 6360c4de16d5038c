// kernel argmax, shape T <= 64, V = 151936, schedule subgroup, target webgpu-subgroups
// schedule subgroup for argmax {
//     t: grid;
//     v: serial, lanes(256);
//     fold v: subgroup;
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 2
//     barriers: 1
//     loads an invocation: v
//     bytes loaded an invocation: 4 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: ceil(min(limit, 151936) / 256) + 64
//     rounds of v: ceil(min(limit, 151936) / 256)

struct Params {
    uint T;
    uint limit;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold_max[64];
groupshared uint fold_index[64];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float argmax_max = -3.4028235e38f;
    uint argmax_index = 0xfffffffeu;
    uint v_end = min(params.limit, 151936u);
    for (uint v = lane; v < v_end; v += 256u) {
        float x_at = asfloat(x.Load((group.x * 151936u + v) * 4u));
        bool v1 = (asuint(x_at) & 0x7f800000u) == 0x7f800000u;
        float max_new = v1 ? 3.4028235e38f : x_at;
        uint index_new = v1 ? 0xffffffffu : v;
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
    }
    uint near = WaveGetLaneCount();
    float max_near = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 1u);
    uint index_near = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 1u);
    precise bool m = argmax_index == 0xffffffffu || (index_near != 0xffffffffu && (argmax_max > max_near || (argmax_max == max_near && argmax_index <= index_near)));
    float max_ = m ? argmax_max : max_near;
    uint index = m ? argmax_index : index_near;
    argmax_max = max_;
    argmax_index = index;
    float max_near1 = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 2u);
    uint index_near1 = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 2u);
    precise bool m1 = argmax_index == 0xffffffffu || (index_near1 != 0xffffffffu && (argmax_max > max_near1 || (argmax_max == max_near1 && argmax_index <= index_near1)));
    float max_1 = m1 ? argmax_max : max_near1;
    uint index1 = m1 ? argmax_index : index_near1;
    argmax_max = max_1;
    argmax_index = index1;
    if (4u < near) {
        float max_near2 = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 4u);
        uint index_near2 = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 4u);
        precise bool m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        float max_2 = m2 ? argmax_max : max_near2;
        uint index2 = m2 ? argmax_index : index_near2;
        argmax_max = max_2;
        argmax_index = index2;
    }
    if (8u < near) {
        float max_near2 = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 8u);
        uint index_near2 = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 8u);
        precise bool m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        float max_2 = m2 ? argmax_max : max_near2;
        uint index2 = m2 ? argmax_index : index_near2;
        argmax_max = max_2;
        argmax_index = index2;
    }
    if (16u < near) {
        float max_near2 = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 16u);
        uint index_near2 = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 16u);
        precise bool m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        float max_2 = m2 ? argmax_max : max_near2;
        uint index2 = m2 ? argmax_index : index_near2;
        argmax_max = max_2;
        argmax_index = index2;
    }
    if (32u < near) {
        float max_near2 = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 32u);
        uint index_near2 = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 32u);
        precise bool m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        float max_2 = m2 ? argmax_max : max_near2;
        uint index2 = m2 ? argmax_index : index_near2;
        argmax_max = max_2;
        argmax_index = index2;
    }
    if (64u < near) {
        float max_near2 = WaveReadLaneAt(argmax_max, WaveGetLaneIndex() ^ 64u);
        uint index_near2 = WaveReadLaneAt(argmax_index, WaveGetLaneIndex() ^ 64u);
        precise bool m2 = argmax_index == 0xffffffffu || (index_near2 != 0xffffffffu && (argmax_max > max_near2 || (argmax_max == max_near2 && argmax_index <= index_near2)));
        float max_2 = m2 ? argmax_max : max_near2;
        uint index2 = m2 ? argmax_index : index_near2;
        argmax_max = max_2;
        argmax_index = index2;
    }
    uint near_group = lane / near;
    if (lane % near == 0u) {
        fold_max[near_group] = argmax_max;
        fold_index[near_group] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    uint near_groups = 256u / near;
    argmax_max = -3.4028235e38f;
    argmax_index = 0xfffffffeu;
    for (uint other = 0u; other < near_groups; other++) {
        float max_new = fold_max[other];
        uint index_new = fold_index[other];
        precise bool m2 = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_2 = m2 ? argmax_max : max_new;
        uint index2 = m2 ? argmax_index : index_new;
        argmax_max = max_2;
        argmax_index = index2;
    }
    if (lane == 0u) {
        y.Store(group.x * 4u, argmax_index);
    }
}
