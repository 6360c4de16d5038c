// kernel argmax, shape T <= 64, V = 151936, schedule vectors, target webgpu-subgroups
// schedule vectors for argmax {
//     t: grid;
//     v: serial, lanes(256), unroll(4), vector(4);
// }
// dispatch T workgroups of 256 invocations
// cost
//     workgroup memory: 2048 bytes
//     accumulator registers: 2
//     barriers: 8
//     loads an invocation: 4 * v
//     bytes loaded an invocation: 64 * v
//     stores an invocation: 1
//     flop an invocation: 0
//     flop a byte: 0.00
//     rounds of all loops: ceil(min(limit, 151936) / 4096)
//     rounds of v: ceil(min(limit, 151936) / 4096)

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
    for (uint v = lane * 16u; v < v_end; v += 4096u) {
        float4 x4 = asfloat(x.Load4((group.x * 37984u + v / 4u) * 16u));
        bool v1 = (asuint(x4.x) & 0x7f800000u) == 0x7f800000u;
        bool v2 = (asuint(x4.y) & 0x7f800000u) == 0x7f800000u;
        uint v_in = min(v + 1u, v_end - 1u);
        bool v3 = (asuint(x4.z) & 0x7f800000u) == 0x7f800000u;
        uint v_in1 = min(v + 2u, v_end - 1u);
        bool v4 = (asuint(x4.w) & 0x7f800000u) == 0x7f800000u;
        uint v_in2 = min(v + 3u, v_end - 1u);
        float max_new = v1 ? 3.4028235e38f : x4.x;
        uint index_new = v1 ? 0xffffffffu : v;
        precise bool m = argmax_index == 0xffffffffu || (index_new != 0xffffffffu && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        if (v + 1u < v_end) {
            float max_new1 = v2 ? 3.4028235e38f : x4.y;
            uint index_new1 = v2 ? 0xffffffffu : v_in;
            precise bool m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
        }
        if (v + 2u < v_end) {
            float max_new1 = v3 ? 3.4028235e38f : x4.z;
            uint index_new1 = v3 ? 0xffffffffu : v_in1;
            precise bool m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
        }
        if (v + 3u < v_end) {
            float max_new1 = v4 ? 3.4028235e38f : x4.w;
            uint index_new1 = v4 ? 0xffffffffu : v_in2;
            precise bool m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
        }
        if (v + 4u < v_end) {
            float4 x4_1 = asfloat(x.Load4((group.x * 37984u + v / 4u + 1u) * 16u));
            bool v5 = (asuint(x4_1.x) & 0x7f800000u) == 0x7f800000u;
            bool v6 = (asuint(x4_1.y) & 0x7f800000u) == 0x7f800000u;
            uint v_in3 = min(v + 5u, v_end - 1u);
            bool v7 = (asuint(x4_1.z) & 0x7f800000u) == 0x7f800000u;
            uint v_in4 = min(v + 6u, v_end - 1u);
            bool v8 = (asuint(x4_1.w) & 0x7f800000u) == 0x7f800000u;
            uint v_in5 = min(v + 7u, v_end - 1u);
            float max_new1 = v5 ? 3.4028235e38f : x4_1.x;
            uint index_new1 = v5 ? 0xffffffffu : v + 4u;
            precise bool m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
            if (v + 5u < v_end) {
                float max_new2 = v6 ? 3.4028235e38f : x4_1.y;
                uint index_new2 = v6 ? 0xffffffffu : v_in3;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
            if (v + 6u < v_end) {
                float max_new2 = v7 ? 3.4028235e38f : x4_1.z;
                uint index_new2 = v7 ? 0xffffffffu : v_in4;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
            if (v + 7u < v_end) {
                float max_new2 = v8 ? 3.4028235e38f : x4_1.w;
                uint index_new2 = v8 ? 0xffffffffu : v_in5;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
        }
        if (v + 8u < v_end) {
            float4 x4_1 = asfloat(x.Load4((group.x * 37984u + v / 4u + 2u) * 16u));
            bool v5 = (asuint(x4_1.x) & 0x7f800000u) == 0x7f800000u;
            bool v6 = (asuint(x4_1.y) & 0x7f800000u) == 0x7f800000u;
            uint v_in3 = min(v + 9u, v_end - 1u);
            bool v7 = (asuint(x4_1.z) & 0x7f800000u) == 0x7f800000u;
            uint v_in4 = min(v + 10u, v_end - 1u);
            bool v8 = (asuint(x4_1.w) & 0x7f800000u) == 0x7f800000u;
            uint v_in5 = min(v + 11u, v_end - 1u);
            float max_new1 = v5 ? 3.4028235e38f : x4_1.x;
            uint index_new1 = v5 ? 0xffffffffu : v + 8u;
            precise bool m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
            if (v + 9u < v_end) {
                float max_new2 = v6 ? 3.4028235e38f : x4_1.y;
                uint index_new2 = v6 ? 0xffffffffu : v_in3;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
            if (v + 10u < v_end) {
                float max_new2 = v7 ? 3.4028235e38f : x4_1.z;
                uint index_new2 = v7 ? 0xffffffffu : v_in4;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
            if (v + 11u < v_end) {
                float max_new2 = v8 ? 3.4028235e38f : x4_1.w;
                uint index_new2 = v8 ? 0xffffffffu : v_in5;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
        }
        if (v + 12u < v_end) {
            float4 x4_1 = asfloat(x.Load4((group.x * 37984u + v / 4u + 3u) * 16u));
            bool v5 = (asuint(x4_1.x) & 0x7f800000u) == 0x7f800000u;
            bool v6 = (asuint(x4_1.y) & 0x7f800000u) == 0x7f800000u;
            uint v_in3 = min(v + 13u, v_end - 1u);
            bool v7 = (asuint(x4_1.z) & 0x7f800000u) == 0x7f800000u;
            uint v_in4 = min(v + 14u, v_end - 1u);
            bool v8 = (asuint(x4_1.w) & 0x7f800000u) == 0x7f800000u;
            uint v_in5 = min(v + 15u, v_end - 1u);
            float max_new1 = v5 ? 3.4028235e38f : x4_1.x;
            uint index_new1 = v5 ? 0xffffffffu : v + 12u;
            precise bool m1 = argmax_index == 0xffffffffu || (index_new1 != 0xffffffffu && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
            if (v + 13u < v_end) {
                float max_new2 = v6 ? 3.4028235e38f : x4_1.y;
                uint index_new2 = v6 ? 0xffffffffu : v_in3;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
            if (v + 14u < v_end) {
                float max_new2 = v7 ? 3.4028235e38f : x4_1.z;
                uint index_new2 = v7 ? 0xffffffffu : v_in4;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
            if (v + 15u < v_end) {
                float max_new2 = v8 ? 3.4028235e38f : x4_1.w;
                uint index_new2 = v8 ? 0xffffffffu : v_in5;
                precise bool m2 = argmax_index == 0xffffffffu || (index_new2 != 0xffffffffu && (argmax_max > max_new2 || (argmax_max == max_new2 && argmax_index <= index_new2)));
                float max_2 = m2 ? argmax_max : max_new2;
                uint index2 = m2 ? argmax_index : index_new2;
                argmax_max = max_2;
                argmax_index = index2;
            }
        }
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
