// kernel softmax, shape C = 512, R <= 64, schedule naive, target webgpu-subgroups
// schedule naive for softmax {
//     r: grid, lanes(64);
// }
// dispatch ceil(R / 64) workgroups of 64 invocations
// cost
//     workgroup memory: 0 bytes
//     accumulator registers: 2
//     barriers: 0
//     loads an invocation: 1536
//     bytes loaded an invocation: 6144
//     stores an invocation: 512
//     flop an invocation: 3584
//     flop a byte: 0.44
//     rounds of all loops: 1536

struct Params {
    uint R;
};

ByteAddressBuffer x : register(t0);
RWByteAddressBuffer y : register(u0);
ConstantBuffer<Params> params : register(b0);

[numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint r = group.x * 64u + lane;
    if (r < params.R) {
        precise float m = -3.4028235e38f;
        for (uint i = 0u; i < 512u; i++) {
            float x_at = asfloat(x.Load((r * 512u + i) * 4u));
            m = max(m, x_at);
        }
        precise float s = 0.0f;
        for (uint j = 0u; j < 512u; j++) {
            float x_at = asfloat(x.Load((r * 512u + j) * 4u));
            s = s + exp(x_at - m);
        }
        for (uint c = 0u; c < 512u; c++) {
            float x_at = asfloat(x.Load((r * 512u + c) * 4u));
            precise float value = exp(x_at - m) / s;
            y.Store((r * 512u + c) * 4u, asuint(value));
        }
    }
}
