// kernel topk_chunks, shape N = 2374, T <= 64, V = 151936, schedule chunks, target webgpu-subgroups
// schedule chunks for topk_chunks {
//     workgroup 256;
//     t: grid;
//     n: grid, lanes(16);
//     i: serial, lanes(16);
//     j: serial, lanes(16);
//     v: serial, lanes(16);
// }
// dispatch T * 149 workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 4
//     barriers: 15
//     loads an invocation: 3 * i
//     bytes loaded an invocation: 12 * i
//     stores an invocation: 3
//     flop an invocation: 4 * i + 8
//     flop a byte: 0.33
//     rounds of all loops: ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16) + ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16) + ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16)
//     rounds of i: ceil(min(min(min(T * 149 - 1, 148) * 16 + 15, 2373) * 64 + 64, min(limit, 151936)) / 16)

struct Params {
    uint T;
    uint limit;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer best : register(u0);
RWByteAddressBuffer index : register(u1);
RWByteAddressBuffer weight : register(u2);
ConstantBuffer<Params> params : register(b0);
groupshared float fold[256];
groupshared uint fold_index[256];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint n_group = group.x % 149u;
    uint t_group = group.x / 149u;
    uint end = min(params.limit, 151936u);
    uint n = n_group * 16u + lane / 16u;
    precise float m = -3.4028235e38f;
    uint n_in = min(n, 2373u);
    uint begin = n_in * 64u;
    uint lo = min(begin, end);
    uint hi = min(begin + 64u, end);
    for (uint i = lo + lane % 16u; i < hi; i += 16u) {
        float x_at = asfloat(x.Load((t_group * 151936u + i) * 4u));
        m = max(m, x_at);
    }
    uint fold_lane = lane % 16u;
    fold[lane] = m;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 8u) {
        float max_new = fold[lane + 8u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 4u) {
        float max_new = fold[lane + 4u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 2u) {
        float max_new = fold[lane + 2u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane < 1u) {
        float max_new = fold[lane + 1u];
        m = max(m, max_new);
        fold[lane] = m;
    }
    GroupMemoryBarrierWithGroupSync();
    m = fold[lane - lane % 16u];
    precise float sum = 0.0f;
    for (uint j = lo + lane % 16u; j < hi; j += 16u) {
        float x_at = asfloat(x.Load((t_group * 151936u + j) * 4u));
        sum = sum + exp(x_at - m);
    }
    GroupMemoryBarrierWithGroupSync();
    uint fold_lane1 = lane % 16u;
    fold[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane1 < 8u) {
        sum = sum + fold[lane + 8u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane1 < 4u) {
        sum = sum + fold[lane + 4u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane1 < 2u) {
        sum = sum + fold[lane + 2u];
        fold[lane] = sum;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane1 < 1u) {
        sum = sum + fold[lane + 1u];
    }
    precise float place_max = -3.4028235e38f;
    uint place_index = 0xfffffffeu;
    for (uint v = lo + lane % 16u; v < hi; v += 16u) {
        float x_at = asfloat(x.Load((t_group * 151936u + v) * 4u));
        bool v1 = (asuint(x_at) & 0x7f800000u) == 0x7f800000u;
        float max_new = v1 ? 3.4028235e38f : x_at;
        uint index_new = v1 ? 0xffffffffu : v;
        precise bool m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        float max_ = m1 ? place_max : max_new;
        uint index1 = m1 ? place_index : index_new;
        place_max = max_;
        place_index = index1;
    }
    GroupMemoryBarrierWithGroupSync();
    uint fold_lane2 = lane % 16u;
    fold[lane] = place_max;
    fold_index[lane] = place_index;
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane2 < 8u) {
        float max_new = fold[lane + 8u];
        uint index_new = fold_index[lane + 8u];
        precise bool m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        float max_ = m1 ? place_max : max_new;
        uint index1 = m1 ? place_index : index_new;
        place_max = max_;
        place_index = index1;
        fold[lane] = place_max;
        fold_index[lane] = place_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane2 < 4u) {
        float max_new = fold[lane + 4u];
        uint index_new = fold_index[lane + 4u];
        precise bool m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        float max_ = m1 ? place_max : max_new;
        uint index1 = m1 ? place_index : index_new;
        place_max = max_;
        place_index = index1;
        fold[lane] = place_max;
        fold_index[lane] = place_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane2 < 2u) {
        float max_new = fold[lane + 2u];
        uint index_new = fold_index[lane + 2u];
        precise bool m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        float max_ = m1 ? place_max : max_new;
        uint index1 = m1 ? place_index : index_new;
        place_max = max_;
        place_index = index1;
        fold[lane] = place_max;
        fold_index[lane] = place_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (fold_lane2 < 1u) {
        float max_new = fold[lane + 1u];
        uint index_new = fold_index[lane + 1u];
        precise bool m1 = place_index == 0xffffffffu || (index_new != 0xffffffffu && (place_max > max_new || (place_max == max_new && place_index <= index_new)));
        float max_ = m1 ? place_max : max_new;
        uint index1 = m1 ? place_index : index_new;
        place_max = max_;
        place_index = index1;
    }
    if (lane % 16u == 0u) {
        if (n < 2374u) {
            best.Store((t_group * 2376u + n_in) * 4u, asuint(m));
            weight.Store((t_group * 2376u + n_in) * 4u, asuint(sum));
            index.Store((t_group * 2376u + n_in) * 4u, begin < end ? place_index : begin);
        }
    }
}
