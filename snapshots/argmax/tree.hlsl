// kernel argmax, shape T <= 64, V = 151936, schedule tree, target webgpu-subgroups
// schedule tree for argmax {
//     t: grid;
//     v: serial, lanes(256);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 2
//     barriers: 8
//     loads an invocation: v
//     bytes loaded an invocation: 4 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: ceil(min(limit, 151936) / 256)
//     rounds of v: ceil(min(limit, 151936) / 256)

struct Params {
    uint T;
    uint limit;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold_max[256];
groupshared uint fold_index[256];

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
    fold_max[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 128u) {
        float max_new = fold_max[lane + 128u];
        uint index_new = fold_index[lane + 128u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 64u) {
        float max_new = fold_max[lane + 64u];
        uint index_new = fold_index[lane + 64u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 32u) {
        float max_new = fold_max[lane + 32u];
        uint index_new = fold_index[lane + 32u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 16u) {
        float max_new = fold_max[lane + 16u];
        uint index_new = fold_index[lane + 16u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 8u) {
        float max_new = fold_max[lane + 8u];
        uint index_new = fold_index[lane + 8u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 4u) {
        float max_new = fold_max[lane + 4u];
        uint index_new = fold_index[lane + 4u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 2u) {
        float max_new = fold_max[lane + 2u];
        uint index_new = fold_index[lane + 2u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        fold_max[lane] = argmax_max;
        fold_index[lane] = argmax_index;
    }
    GroupMemoryBarrierWithGroupSync();
    if (lane < 1u) {
        float max_new = fold_max[lane + 1u];
        uint index_new = fold_index[lane + 1u];
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
    }
    if (lane == 0u) {
        y.Store(group.x * 4u, argmax_index);
    }
}
