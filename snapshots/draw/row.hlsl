// kernel draw, shape K = 64, N = 2374, T <= 64, schedule row, target webgpu-subgroups
// schedule row for draw {
//     workgroup 64;
//     t: grid;
//     n: serial, lanes(64);
//     i: serial, lanes(64);
//     c: serial, lanes(64);
// }
// dispatch T workgroups of 64 invocations
// cost
//     workgroup memory: 512 bytes
//     accumulator registers: 5
//     barriers: 20
//     loads an invocation: 171
//     bytes loaded an invocation: 684
//     stores an invocation: 1
//     flop an invocation: 355
//     flop a byte: 0.52
//     rounds of all loops: 102

struct Params {
    uint T;
    uint keep;
    float temperature;
    float top_p;
    uint seed;
    uint limit;
};

ByteAddressBuffer value : register(t0);
ByteAddressBuffer token : register(t1);
ByteAddressBuffer index : register(t2);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared uint fold[64];
groupshared float fold1[64];

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint finite = 0xffffffffu;
    for (uint n = lane; n < 2374u; n += 64u) {
        uint index_at = index.Load((group.x * 2376u + n) * 4u);
        uint whole = index_at == 0xffffffffu ? 0u : 1u;
        finite = min(finite, whole);
    }
    fold[lane] = finite;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        uint index_new = fold[lane + 32u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        uint index_new = fold[lane + 16u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        uint index_new = fold[lane + 8u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        uint index_new = fold[lane + 4u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        uint index_new = fold[lane + 2u];
        finite = min(finite, index_new);
        fold[lane] = finite;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        uint index_new = fold[lane + 1u];
        finite = min(finite, index_new);
    }
    precise float total = 0.0f;
    float value_at = asfloat(value.Load((group.x * 64u + lane) * 4u));
    float value_at1 = asfloat(value.Load((group.x * 64u + (min(max(params.keep, 1u), 64u) - 1u)) * 4u));
    uint token_at = token.Load((group.x * 64u + lane) * 4u);
    float value_at2 = asfloat(value.Load(group.x * 256u));
    total = total + (value_at >= value_at1 && token_at < params.limit ? exp(max((value_at - value_at2) / params.temperature, -3.4028235e38f)) : 0.0f);
    fold1[lane] = total;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        total = total + fold1[lane + 32u];
        fold1[lane] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        total = total + fold1[lane + 16u];
        fold1[lane] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        total = total + fold1[lane + 8u];
        fold1[lane] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        total = total + fold1[lane + 4u];
        fold1[lane] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        total = total + fold1[lane + 2u];
        fold1[lane] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        total = total + fold1[lane + 1u];
        fold1[lane] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    total = fold1[0];
    precise float chosen_max = -3.4028235e38f;
    uint chosen_index = 0xfffffffeu;
    precise float tail = 0.0f;
    for (uint j = lane; j < 64u; j++) {
        float value_at3 = asfloat(value.Load((group.x * 64u + j) * 4u));
        uint token_at1 = token.Load((group.x * 64u + j) * 4u);
        tail = tail + (value_at3 >= value_at1 && token_at1 < params.limit ? exp(max((value_at3 - value_at2) / params.temperature, -3.4028235e38f)) : 0.0f);
    }
    precise float v = max((value_at - value_at2) / params.temperature, -3.4028235e38f);
    precise bool kept = (value_at >= value_at1 && token_at < params.limit ? exp(v) : 0.0f) > 0.0f && (lane == 0u || params.top_p >= 1.0f || tail > (1.0f - params.top_p) * total);
    uint v1 = (token_at ^ (token_at >> 16u)) * 0x7feb352du;
    uint v2 = (v1 ^ (v1 >> 15u)) * 0x846ca68bu;
    uint v3 = (v2 ^ (v2 >> 16u)) + params.seed;
    uint v4 = (v3 ^ (v3 >> 16u)) * 0x7feb352du;
    uint v5 = (v4 ^ (v4 >> 15u)) * 0x846ca68bu;
    uint drawn = (v5 ^ (v5 >> 16u)) >> 9u;
    precise float w = (float(8388607u - drawn) + 0.5f) * 1.1920929e-7f;
    precise float s = w / (2.0f - w);
    precise float q = s * s;
    precise float series = 2.0f * s * mad(q, mad(q, mad(q, 0.14285715f, 0.2f), 0.33333334f), 1.0f);
    precise float u = (float(drawn) + 0.5f) * 1.1920929e-7f;
    precise float spread = w < 0.125f ? series : -log(u);
    precise float v6 = kept ? v - log(spread) : -3.4028235e38f;
    bool v7 = (asuint(v6) & 0x7f800000u) == 0x7f800000u;
    float max_new = v7 ? 3.4028235e38f : v6;
    uint index_new = v7 ? 0xffffffffu : lane;
    precise bool m = chosen_index == 0xffffffffu || (index_new != 0xffffffffu && (chosen_max > max_new || (chosen_max == max_new && chosen_index <= index_new)));
    float max_ = m ? chosen_max : max_new;
    uint index1 = m ? chosen_index : index_new;
    chosen_max = max_;
    chosen_index = index1;
    GroupMemoryBarrierWithGroupSync();
    fold1[lane] = chosen_max;
    fold[lane] = chosen_index;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        float max_new1 = fold1[lane + 32u];
        uint index_new1 = fold[lane + 32u];
        precise bool m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        float max_1 = m1 ? chosen_max : max_new1;
        uint index2 = m1 ? chosen_index : index_new1;
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        float max_new1 = fold1[lane + 16u];
        uint index_new1 = fold[lane + 16u];
        precise bool m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        float max_1 = m1 ? chosen_max : max_new1;
        uint index2 = m1 ? chosen_index : index_new1;
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        float max_new1 = fold1[lane + 8u];
        uint index_new1 = fold[lane + 8u];
        precise bool m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        float max_1 = m1 ? chosen_max : max_new1;
        uint index2 = m1 ? chosen_index : index_new1;
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        float max_new1 = fold1[lane + 4u];
        uint index_new1 = fold[lane + 4u];
        precise bool m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        float max_1 = m1 ? chosen_max : max_new1;
        uint index2 = m1 ? chosen_index : index_new1;
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        float max_new1 = fold1[lane + 2u];
        uint index_new1 = fold[lane + 2u];
        precise bool m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        float max_1 = m1 ? chosen_max : max_new1;
        uint index2 = m1 ? chosen_index : index_new1;
        chosen_max = max_1;
        chosen_index = index2;
        fold1[lane] = chosen_max;
        fold[lane] = chosen_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        float max_new1 = fold1[lane + 1u];
        uint index_new1 = fold[lane + 1u];
        precise bool m1 = chosen_index == 0xffffffffu || (index_new1 != 0xffffffffu && (chosen_max > max_new1 || (chosen_max == max_new1 && chosen_index <= index_new1)));
        float max_1 = m1 ? chosen_max : max_new1;
        uint index2 = m1 ? chosen_index : index_new1;
        chosen_max = max_1;
        chosen_index = index2;
    }
    uint place = min(chosen_index, 63u);
    if (lane == 0u) {
        uint token_at1 = token.Load((group.x * 64u + place) * 4u);
        y.Store(group.x * 4u, finite == 0u || chosen_index == 0xffffffffu ? 0xffffffffu : token_at1);
    }
}
