// kernel argmax_merged, shape T <= 64, v.Parts = 2374, schedule merged, target webgpu-subgroups
// schedule merged for argmax_merged {
//     t: grid;
//     v.part: serial, lanes(256);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 2
//     barriers: 8
//     loads an invocation: 20
//     bytes loaded an invocation: 80
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: 10

struct Params {
    uint T;
};

ByteAddressBuffer v_max : register(t0);
ByteAddressBuffer v_index : register(t1);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);
groupshared float fold_max[256];
groupshared uint fold_index[256];

[numthreads(256, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    precise float argmax_max = -3.4028235e38f;
    uint argmax_index = 0xfffffffeu;
    for (uint part = lane; part < 2374u; part += 256u) {
        float v_max_at = asfloat(v_max.Load((group.x * 2376u + part) * 4u));
        uint v_index_at = v_index.Load((group.x * 2376u + part) * 4u);
        precise bool m = argmax_index == 0xffffffffu || (v_index_at != 0xffffffffu && (argmax_max > v_max_at || (argmax_max == v_max_at && argmax_index <= v_index_at)));
        float max_ = m ? argmax_max : v_max_at;
        uint index = m ? argmax_index : v_index_at;
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
