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
//     loads an invocation: 13 * v
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
    uint argmax_index = 4294967294u;
    uint v_end = min(params.limit, 151936u);
    for (uint v = lane * 16u; v < v_end; v += 4096u) {
        float4 x4 = asfloat(x.Load4((group.x * 37984u + v / 4u) * 16u));
        bool v1 = (asuint(x4.x) & 2139095040u) == 2139095040u;
        bool v2 = (asuint(x4.y) & 2139095040u) == 2139095040u;
        uint v_in = min(v + 1u, v_end - 1u);
        bool v3 = (asuint(x4.z) & 2139095040u) == 2139095040u;
        uint v_in1 = min(v + 2u, v_end - 1u);
        bool v4 = (asuint(x4.w) & 2139095040u) == 2139095040u;
        uint v_in2 = min(v + 3u, v_end - 1u);
        float max_new = v1 ? 3.4028235e38f : x4.x;
        uint index_new = v1 ? 4294967295u : v;
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
        if (v + 1u < v_end) {
            float max_new1 = v2 ? 3.4028235e38f : x4.y;
            uint index_new1 = v2 ? 4294967295u : v_in;
            precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
        }
        if (v + 2u < v_end) {
            float max_new1 = v3 ? 3.4028235e38f : x4.z;
            uint index_new1 = v3 ? 4294967295u : v_in1;
            precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
        }
        if (v + 3u < v_end) {
            float max_new1 = v4 ? 3.4028235e38f : x4.w;
            uint index_new1 = v4 ? 4294967295u : v_in2;
            precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
            float max_1 = m1 ? argmax_max : max_new1;
            uint index1 = m1 ? argmax_index : index_new1;
            argmax_max = max_1;
            argmax_index = index1;
        }
        if (v + 4u < v_end) {
            uint v_in3 = min(v + 4u, v_end - 1u);
            float x_at = asfloat(x.Load((group.x * 151936u + v_in3) * 4u));
            bool v5 = (asuint(x_at) & 2139095040u) == 2139095040u;
            uint v_in4 = min(v + 5u, v_end - 1u);
            float x_at1 = asfloat(x.Load((group.x * 151936u + v_in4) * 4u));
            bool v6 = (asuint(x_at1) & 2139095040u) == 2139095040u;
            uint v_in5 = min(v + 6u, v_end - 1u);
            float x_at2 = asfloat(x.Load((group.x * 151936u + v_in5) * 4u));
            bool v7 = (asuint(x_at2) & 2139095040u) == 2139095040u;
            uint v_in6 = min(v + 7u, v_end - 1u);
            float x_at3 = asfloat(x.Load((group.x * 151936u + v_in6) * 4u));
            bool v8 = (asuint(x_at3) & 2139095040u) == 2139095040u;
            if (v + 4u < v_end) {
                float max_new1 = v5 ? 3.4028235e38f : x_at;
                uint index_new1 = v5 ? 4294967295u : v_in3;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 5u < v_end) {
                float max_new1 = v6 ? 3.4028235e38f : x_at1;
                uint index_new1 = v6 ? 4294967295u : v_in4;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 6u < v_end) {
                float max_new1 = v7 ? 3.4028235e38f : x_at2;
                uint index_new1 = v7 ? 4294967295u : v_in5;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 7u < v_end) {
                float max_new1 = v8 ? 3.4028235e38f : x_at3;
                uint index_new1 = v8 ? 4294967295u : v_in6;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
        }
        if (v + 8u < v_end) {
            uint v_in3 = min(v + 8u, v_end - 1u);
            float x_at = asfloat(x.Load((group.x * 151936u + v_in3) * 4u));
            bool v5 = (asuint(x_at) & 2139095040u) == 2139095040u;
            uint v_in4 = min(v + 9u, v_end - 1u);
            float x_at1 = asfloat(x.Load((group.x * 151936u + v_in4) * 4u));
            bool v6 = (asuint(x_at1) & 2139095040u) == 2139095040u;
            uint v_in5 = min(v + 10u, v_end - 1u);
            float x_at2 = asfloat(x.Load((group.x * 151936u + v_in5) * 4u));
            bool v7 = (asuint(x_at2) & 2139095040u) == 2139095040u;
            uint v_in6 = min(v + 11u, v_end - 1u);
            float x_at3 = asfloat(x.Load((group.x * 151936u + v_in6) * 4u));
            bool v8 = (asuint(x_at3) & 2139095040u) == 2139095040u;
            if (v + 8u < v_end) {
                float max_new1 = v5 ? 3.4028235e38f : x_at;
                uint index_new1 = v5 ? 4294967295u : v_in3;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 9u < v_end) {
                float max_new1 = v6 ? 3.4028235e38f : x_at1;
                uint index_new1 = v6 ? 4294967295u : v_in4;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 10u < v_end) {
                float max_new1 = v7 ? 3.4028235e38f : x_at2;
                uint index_new1 = v7 ? 4294967295u : v_in5;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 11u < v_end) {
                float max_new1 = v8 ? 3.4028235e38f : x_at3;
                uint index_new1 = v8 ? 4294967295u : v_in6;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
        }
        if (v + 12u < v_end) {
            uint v_in3 = min(v + 12u, v_end - 1u);
            float x_at = asfloat(x.Load((group.x * 151936u + v_in3) * 4u));
            bool v5 = (asuint(x_at) & 2139095040u) == 2139095040u;
            uint v_in4 = min(v + 13u, v_end - 1u);
            float x_at1 = asfloat(x.Load((group.x * 151936u + v_in4) * 4u));
            bool v6 = (asuint(x_at1) & 2139095040u) == 2139095040u;
            uint v_in5 = min(v + 14u, v_end - 1u);
            float x_at2 = asfloat(x.Load((group.x * 151936u + v_in5) * 4u));
            bool v7 = (asuint(x_at2) & 2139095040u) == 2139095040u;
            uint v_in6 = min(v + 15u, v_end - 1u);
            float x_at3 = asfloat(x.Load((group.x * 151936u + v_in6) * 4u));
            bool v8 = (asuint(x_at3) & 2139095040u) == 2139095040u;
            if (v + 12u < v_end) {
                float max_new1 = v5 ? 3.4028235e38f : x_at;
                uint index_new1 = v5 ? 4294967295u : v_in3;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 13u < v_end) {
                float max_new1 = v6 ? 3.4028235e38f : x_at1;
                uint index_new1 = v6 ? 4294967295u : v_in4;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 14u < v_end) {
                float max_new1 = v7 ? 3.4028235e38f : x_at2;
                uint index_new1 = v7 ? 4294967295u : v_in5;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
            if (v + 15u < v_end) {
                float max_new1 = v8 ? 3.4028235e38f : x_at3;
                uint index_new1 = v8 ? 4294967295u : v_in6;
                precise bool m1 = argmax_index == 4294967295u || (index_new1 != 4294967295u && (argmax_max > max_new1 || (argmax_max == max_new1 && argmax_index <= index_new1)));
                float max_1 = m1 ? argmax_max : max_new1;
                uint index1 = m1 ? argmax_index : index_new1;
                argmax_max = max_1;
                argmax_index = index1;
            }
        }
    }
    fold_max[lane] = argmax_max;
    fold_index[lane] = argmax_index;
    GroupMemoryBarrierWithGroupSync();
    if (lane < 128u) {
        float max_new = fold_max[lane + 128u];
        uint index_new = fold_index[lane + 128u];
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
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
        precise bool m = argmax_index == 4294967295u || (index_new != 4294967295u && (argmax_max > max_new || (argmax_max == max_new && argmax_index <= index_new)));
        float max_ = m ? argmax_max : max_new;
        uint index = m ? argmax_index : index_new;
        argmax_max = max_;
        argmax_index = index;
    }
    if (lane == 0u) {
        y.Store(group.x * 4u, argmax_index);
    }
}
