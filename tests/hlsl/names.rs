//! A tensor, an extent or an axis may have any name: what HLSL has taken gives way.

use crate::samples::*;
use crate::{accept, at_hand};
use tilewright_codegen::loops::{Access, Stmt};
use tilewright_dsl::ir::Type;

/// Keywords, types, functions and semantics of HLSL, words of WGSL alone, and names that are odd in any language.
const AWKWARD: &str = "
    linear half float float4 uint uint4 min16float float16_t matrix vector dword double long short unsigned void const
    static inline precise cbuffer tbuffer register packoffset buffer texture sample sampler technique
    pass string line point triangle lineadj in out inout uniform extern volatile shared row_major column_major snorm unorm
    class struct interface namespace template typename typedef this new delete operator private public using virtual throw
    try catch goto switch case default break continue return discard do while for if else true false NULL auto char enum
    asfloat asuint asint f16tof32 f32tof16 mad mul lerp frac rsqrt saturate rcp clamp fmod sincos log10 exp2 floor tanh
    WaveReadLaneAt WaveGetLaneIndex WaveGetLaneCount GroupMemoryBarrierWithGroupSync ByteAddressBuffer
    RWByteAddressBuffer StructuredBuffer ConstantBuffer Buffer Texture2D SamplerState SV_GroupIndex main params Params lane
    active alias array as async await become common concept crate diagnostic enable extends external final finally fn from
    function get impl implements import let loop match meta mix mod move mut nil null of override package partition patch priv
    ptr pub read read_write readonly ref regardless require requires resource restrict self set storage super target trait type
    unless unsafe unsized use var where with workgroup write writeonly yield
    float4x4 int2x3 uint4x4 half2x2 bool1x1 double1 min16float4 min16int2 int64_t2 uint32_t2 float32_t2 dword2 long2
    float1x4 min12int3x3 min10float2 min16uint4x1 float64_t2x2 int8_t4_packed uint8_t4_packed wchar_t nullptr constexpr decltype
    alignas alignof static_assert noexcept typeid thread_local char16_t char32_t and or not xor bitand bitor compl select
    RayQuery SpirvType SpirvOpaqueType RayDesc StateObjectConfig GlobalRootSignature LocalRootSignature TriangleHitGroup
    BuiltInTriangleIntersectionAttributes FeedbackTexture2D RasterizerOrderedBuffer RWTexture2DMS SubpassInput
    RAY_FLAG_NONE RAY_FLAG_FORCE_OPAQUE HIT_KIND_NONE HIT_KIND_TRIANGLE_FRONT_FACE COMMITTED_NOTHING CANDIDATE_NON_OPAQUE_TRIANGLE
    SAMPLER_FEEDBACK_MIN_MIP STATE_OBJECT_FLAG_ALLOW_LOCAL_DEPENDENCIES RAYTRACING_PIPELINE_FLAG_NONE UAV_MEMORY DEVICE_SCOPE
    group value word norm.j 2x __a _b é k_end register1 int16_t uint64_t
";

#[test]
fn any_name_is_legal() {
    let Some(dxc) = at_hand::dxc() else { return };
    // Two more, in parts, because shader words stay in the printers.
    let more = [["group", "shared"].concat(), ["num", "threads"].concat()];
    for name in AWKWARD.split_whitespace().chain(more.iter().map(String::as_str)) {
        // Buffers and parameters.
        let mut b = Build::new(name, 32);
        let x = b.buffer(name, Access::Read, Type::F32, 1);
        let y = b.buffer(&format!("{name}_"), Access::ReadWrite, Type::F32, 1);
        let (n, scale) = (b.param(name, Type::U32), b.param("scale", Type::F32));
        b.push(Stmt::Store(y, u(0), fma(load(x, n, 1), scale.clone(), scale)));
        accept::dxil(&dxc, &b.finish());
        // Workgroup memory and locals, twice each.
        let mut b = Build::new("k", 32);
        let y = b.buffer("y", Access::ReadWrite, Type::F32, 1);
        let scale = b.param("scale", Type::F32);
        let part = b.shared(name, Type::F32, 32);
        for _ in 0..2 {
            let local = b.let_(name, F, fma(scale.clone(), scale.clone(), scale.clone()));
            b.push(Stmt::StoreShared(part, LANE, local));
        }
        b.push(Stmt::Store(y, u(0), shared(part, u(1))));
        accept::dxil(&dxc, &b.finish());
    }
}
