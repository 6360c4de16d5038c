//! Names: turns the wishes in a [`LoopIr`] into identifiers that every printer may write as they are.
//!
//! A name is kept wherever it is legal and free; a reserved word gets a trailing `_`, a taken name a number. The same IR always
//! gives the same names. A local must differ from what is in scope at its place alone, so that two loops over `k` are both
//! called `k`. Scopes are blocks (WGSL specification, section 3.7 "Identifiers" and 3.9 "Keywords"). Each language keeps clear of its
//! own words alone: a tensor `from` is `from_` in WGSL, and `from` in HLSL.

use crate::loops::{LoopIr, Stmt, Var};
use crate::usage::Used;
use std::collections::HashSet;

/// The identifiers of one shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    /// The entry point.
    pub entry: String,
    /// By [`LoopIr::buffers`].
    pub buffers: Vec<String>,
    /// By [`LoopIr::params`]; fields of a structure, unique among themselves.
    pub params: Vec<String>,
    /// By [`LoopIr::shared`].
    pub shared: Vec<String>,
    /// By [`LoopIr::vars`]. For a loop over `k` whose bounds must be named first, `k_end` and `k_step` are free as well.
    pub vars: Vec<String>,
}

/// The instance of the parameter block.
pub(crate) const PARAMS: &str = "params";
/// The structure of the parameter block.
pub(crate) const PARAMS_TYPE: &str = "Params";
/// [`crate::loops::Builtin::LocalIndex`].
pub(crate) const LOCAL_INDEX: &str = "lane";
/// The workgroup index, a vector.
pub(crate) const WORKGROUP: &str = "group";
/// [`crate::loops::Builtin::SubgroupSize`].
pub(crate) const SUBGROUP_SIZE: &str = "subgroup_size";
/// [`crate::loops::Builtin::SubgroupInvocation`].
pub(crate) const SUBGROUP_INVOCATION: &str = "subgroup_lane";

/// What the printers themselves write.
const OURS: &[&str] = &[PARAMS, PARAMS_TYPE, LOCAL_INDEX, WORKGROUP, SUBGROUP_SIZE, SUBGROUP_INVOCATION, "main"];

/// Words of WGSL that HLSL leaves free, and that a kernel may well use; of all others HLSL keeps clear as well.
#[rustfmt::skip]
const WGSL_ALONE: &[&str] = &[
    "active", "alias", "array", "as", "async", "await", "become", "common", "concept", "crate", "diagnostic", "enable",
    "extends", "external", "final", "finally", "fn", "from", "function", "get", "impl", "implements", "import", "let", "loop",
    "match", "meta", "mix", "mod", "move", "mut", "nil", "null", "of", "override", "package", "partition", "patch", "priv",
    "ptr", "pub", "read", "read_write", "readonly", "ref", "regardless", "require", "requires", "resource", "restrict", "self",
    "set", "storage", "super", "target", "trait", "type", "unless", "unsafe", "unsized", "use", "var", "where", "with",
    "workgroup", "write", "writeonly", "yield",
];

/// Words of HLSL, but for those that it shares with WGSL: keywords, types, reserved words, and functions that a printer calls or that a local of
/// the same name would hide (Direct3D HLSL reference, appendix "Keywords" and "Reserved words").
#[rustfmt::skip]
const HLSL: &[&str] = &[
    "alignas", "alignof", "AppendStructuredBuffer", "asdouble", "asfloat", "asint", "asm", "asm_fragment", "asuint",
    "auto", "BlendState", "Buffer", "buffer", "ByteAddressBuffer", "case", "catch", "cbuffer", "center", "centroid",
    "char", "char16_t", "char32_t", "class", "clip", "column", "column_major", "compile", "compile_fragment",
    "CompileShader", "ComputeShader", "const_cast", "ConstantBuffer", "constexpr", "ConsumeStructuredBuffer", "cosh",
    "countbits", "decltype", "default", "delete", "DepthStencilState", "DepthStencilView", "DomainShader",
    "dynamic_cast", "enum", "explicit", "export", "extern", "f16tof32", "f32tof16", "firstbithigh", "firstbitlow",
    "fmod", "frac", "friend", "fxgroup", "GeometryShader", "goto", "GroupMemoryBarrierWithGroupSync", "groupshared",
    "HullShader", "Hullshader", "in", "indices", "inline", "inout", "InputPatch", "int8_t4_packed", "isfinite", "isinf",
    "isnan", "lerp", "line", "lineadj", "linear", "LineStream", "lit", "log10", "mad", "matrix", "msad4", "mul",
    "mutable", "namespace", "new", "noexcept", "nointerpolation", "noperspective", "NULL", "nullptr", "operator", "out",
    "OutputPatch", "packoffset", "pass", "payload", "pixelfragment", "PixelShader", "point", "PointStream", "precise",
    "primitives", "private", "protected", "public", "RasterizerState", "RaytracingAccelerationStructure", "rcp",
    "register", "reinterpret_cast", "RenderTargetView", "reversebits", "row_major", "rsqrt", "RWBuffer",
    "RWByteAddressBuffer", "RWStructuredBuffer", "RWTexture1D", "RWTexture1DArray", "RWTexture2D", "RWTexture2DArray",
    "RWTexture3D", "sample", "sampler", "SamplerComparisonState", "SamplerState", "saturate", "shared", "short",
    "signed", "sincos", "sizeof", "snorm", "stateblock", "stateblock_state", "static", "static_assert", "static_cast",
    "string", "StructuredBuffer", "subroutine", "tbuffer", "technique", "technique10", "technique11", "template",
    "tex1D", "tex2D", "tex3D", "texCUBE", "texture", "Texture1D", "Texture1DArray", "Texture2D", "Texture2DArray",
    "Texture2DMS", "Texture2DMSArray", "Texture3D", "TextureBuffer", "TextureCube", "TextureCubeArray", "this",
    "thread_local", "throw", "triangle", "triangleadj", "TriangleStream", "try", "typedef", "typeid", "typename",
    "uint8_t4_packed", "uniform", "union", "unorm", "unsigned", "using", "vector", "vertexfragment", "VertexShader",
    "vertices", "virtual", "void", "volatile", "WaveGetLaneCount", "WaveGetLaneIndex", "WaveReadLaneAt", "wchar_t",
];

/// Scalar types of HLSL; with one or two sides of 1 to 4 they are vectors and matrices.
#[rustfmt::skip]
const HLSL_SCALARS: &[&str] = &[
    "bool", "int", "uint", "float", "half", "double", "dword", "long", "min16float", "min10float", "min16int",
    "min12int", "min16uint", "int16_t", "int32_t", "int64_t", "uint16_t", "uint32_t", "uint64_t", "float16_t",
    "float32_t", "float64_t",
];

/// Whether HLSL has a type of that name: `float`, `float4`, `float4x4`.
fn hlsl_type(name: &str) -> bool {
    let side = |c: char| ('1'..='4').contains(&c);
    let sides = |rest: &str| match rest.chars().collect::<Vec<_>>()[..] {
        [] => true,
        [n] => side(n),
        [n, 'x', m] => side(n) && side(m),
        _ => false,
    };
    HLSL_SCALARS.iter().any(|scalar| name.strip_prefix(scalar).is_some_and(sides))
}

/// Whether a name is written as both languages' compilers write constants of theirs (`RAY_FLAG_NONE`, new ones in each version).
fn constant(name: &str) -> bool {
    name.contains('_')
        && name.contains(|c: char| c.is_ascii_uppercase())
        && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether a name is written as HLSL's compilers write objects of theirs: `RayQuery`, `SpirvType`.
fn object(name: &str) -> bool {
    let mut upper = name.chars().filter(char::is_ascii_uppercase);
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.contains(|c: char| c.is_ascii_lowercase())
        && upper.nth(1).is_some()
}

impl Names {
    /// The names of a shader in WGSL, where a loop's counter lives in the loop.
    pub fn new(ir: &LoopIr) -> Names {
        Names::of(ir, Language::Wgsl)
    }

    /// The names of a shader in HLSL, where a loop's counter lives to the end of the block around it.
    pub(crate) fn hlsl(ir: &LoopIr) -> Names {
        Names::of(ir, Language::Hlsl)
    }

    fn of(ir: &LoopIr, language: Language) -> Names {
        let mut namer = Namer::new(language);
        let entry = namer.module(&ir.name);
        let buffers = ir.buffers.iter().map(|b| namer.module(&b.name)).collect();
        let shared = ir.shared.iter().map(|s| namer.module(&s.name)).collect();
        let mut fields = Namer::new(language);
        let params = ir.params.iter().map(|p| fields.module(&p.name)).collect();
        let mut vars: Vec<String> = ir.vars.iter().map(|v| namer.legal(&v.name)).collect();
        namer.block(&ir.body, &Used::new(ir), &mut vars);
        Names { entry, buffers, params, shared, vars }
    }
}

/// The name of something, or one that says that there is none.
pub(crate) fn nth(names: &[String], i: usize) -> String {
    names.get(i).cloned().unwrap_or_else(|| format!("missing{i}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Wgsl,
    Hlsl,
}

struct Namer {
    reserved: HashSet<&'static str>,
    taken: HashSet<String>,
    language: Language,
}

impl Namer {
    fn new(language: Language) -> Self {
        use naga::keywords::wgsl;
        let mut reserved: HashSet<_> = [wgsl::RESERVED, wgsl::BUILTIN_IDENTIFIERS].concat().into_iter().collect();
        if language == Language::Hlsl {
            reserved.retain(|word| !WGSL_ALONE.contains(word));
            reserved.extend(HLSL);
        }
        reserved.extend(OURS);
        Namer { reserved, taken: HashSet::new(), language }
    }

    /// `norm.j` becomes `norm_j`, `max` (a function) `max_`, `2x` `v2x`.
    fn legal(&self, wish: &str) -> String {
        let mut name: String = wish.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        name = name.trim_start_matches('_').to_owned();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, 'v');
        }
        let hlsl = self.language == Language::Hlsl && (hlsl_type(&name) || object(&name));
        if hlsl || constant(&name) || self.reserved.contains(name.as_str()) {
            name.push('_');
        }
        name
    }

    /// A name that stays taken everywhere.
    fn module(&mut self, wish: &str) -> String {
        let name = self.legal(wish);
        let name = numbered(&name, |n| self.taken.contains(n));
        self.taken.insert(name.clone());
        name
    }

    fn block(&mut self, body: &[Stmt], used: &Used, vars: &mut [String]) {
        let mut scope = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Let(var, _)
                | Stmt::Declare(var, _)
                | Stmt::DeclareArray(var)
                | Stmt::DeclareFragment(var)
                | Stmt::LoadFragment(var, _) => {
                    self.local(*var, &[""], vars, &mut scope);
                }
                Stmt::For { var, end, step, body, .. } => {
                    let named = [("", true), ("_end", !used.constant(end)), ("_step", !used.constant(step))];
                    let suffixes: Vec<_> = named.iter().filter(|n| n.1).map(|n| n.0).collect();
                    self.local(*var, &suffixes, vars, &mut scope);
                    self.block(body, used, vars);
                    // The counter itself lives in the loop; its bounds may have been named in this block.
                    if let (Language::Wgsl, Some(name)) = (self.language, vars.get(var.0 as usize)) {
                        self.taken.remove(name);
                    }
                }
                Stmt::If(_, then, or) => {
                    self.block(then, used, vars);
                    self.block(or, used, vars);
                }
                _ => {}
            }
        }
        for name in scope {
            self.taken.remove(&name);
        }
    }

    fn local(&mut self, var: Var, suffixes: &[&str], vars: &mut [String], scope: &mut Vec<String>) {
        let Some(slot) = vars.get_mut(var.0 as usize) else { return };
        let name = numbered(slot, |n| suffixes.iter().any(|s| self.taken.contains(&format!("{n}{s}"))));
        for suffix in suffixes {
            let full = format!("{name}{suffix}");
            self.taken.insert(full.clone());
            scope.push(full);
        }
        *slot = name;
    }
}

fn numbered(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let stem = if name.ends_with(|c: char| c.is_ascii_digit()) { format!("{name}_") } else { name.to_owned() };
    (1..).map(|i| format!("{stem}{i}")).find(|n| !taken(n)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::{Expr, Kind, Ty, VarDecl};
    use tilewright_dsl::ir::Type;

    fn named(names: &[&str], body: Vec<Stmt>) -> Vec<String> {
        let kind = Kind::Value(Ty { elem: Type::U32, width: 1 });
        let vars = names.iter().map(|n| VarDecl { name: (*n).into(), kind }).collect();
        Names::new(&LoopIr { name: "linear".into(), vars, body, ..LoopIr::default() }).vars
    }

    fn set(v: u32) -> Stmt {
        Stmt::Let(Var(v), Expr::U32(0))
    }

    fn repeat(v: u32, body: Vec<Stmt>) -> Stmt {
        repeat_to(v, Expr::U32(9), body)
    }

    fn repeat_to(v: u32, end: Expr, body: Vec<Stmt>) -> Stmt {
        Stmt::For { var: Var(v), start: Expr::U32(0), end, step: Expr::U32(1), body }
    }

    #[test]
    fn a_name_is_kept_where_it_is_legal_and_free() {
        let body = vec![repeat(0, vec![repeat(1, vec![])]), repeat(2, vec![]), set(3), set(4)];
        assert_eq!(named(&["k", "k", "k", "k", "k"], body), ["k", "k1", "k", "k", "k1"]);
    }

    #[test]
    fn reserved_words_functions_and_odd_characters_give_way() {
        let wishes = ["max", "norm.j", "2x", "loop", "__a", "", "lane", "float", "é", "linear"];
        let body = (0..10).map(set).collect();
        let found = named(&wishes, body);
        assert_eq!(found, ["max_", "norm_j", "v2x", "loop_", "a", "v", "lane_", "float", "v1", "linear1"]);
    }

    #[test]
    fn words_of_one_language_are_free_in_the_other() {
        let kind = Kind::Value(Ty { elem: Type::U32, width: 1 });
        let wishes = ["from", "let", "linear", "float", "max", "for"];
        let vars = wishes.iter().map(|n| VarDecl { name: (*n).into(), kind }).collect();
        let ir = LoopIr { name: "k".into(), vars, body: (0..6).map(set).collect(), ..LoopIr::default() };
        assert_eq!(Names::new(&ir).vars, ["from_", "let_", "linear", "float", "max_", "for_"]);
        assert_eq!(Names::hlsl(&ir).vars, ["from", "let", "linear_", "float_", "max_", "for_"]);
    }

    #[test]
    fn names_of_a_languages_own_kinds_give_way() {
        let taken = ["float4x4", "int2x3", "min16float2", "int64_t2", "dword2", "bool1x1", "half2x2", "double1"];
        assert!(taken.into_iter().all(hlsl_type));
        assert!(!["float5", "float4x", "float4x5", "floats", "half_", "int2x3x4", "k"].into_iter().any(hlsl_type));
        assert!(constant("RAY_FLAG_NONE") && !["T", "HEADS", "A_b", "__", "k_end"].into_iter().any(constant));
        assert!(object("RayQuery") && object("SpirvType") && !["Wide", "T", "TK", "rayQuery"].into_iter().any(object));
    }

    #[test]
    fn a_counter_of_hlsl_lives_to_the_end_of_the_block() {
        let kind = Kind::Value(Ty { elem: Type::U32, width: 1 });
        let vars = vec![VarDecl { name: "k".into(), kind }; 4];
        let body = vec![repeat(0, vec![]), repeat(1, vec![repeat(2, vec![])]), set(3)];
        let ir = LoopIr { name: "norm".into(), vars, body, ..LoopIr::default() };
        assert_eq!(Names::hlsl(&ir).vars, ["k", "k1", "k2", "k2"]);
        assert_eq!(Names::new(&ir).vars, ["k", "k", "k1", "k"]);
    }

    #[test]
    fn names_of_a_loops_bounds_stay_free() {
        let read = || Expr::Shared(0, Box::new(Expr::U32(0)));
        assert_eq!(named(&["k", "k_end"], vec![repeat_to(0, read(), vec![set(1)])]), ["k", "k_end1"]);
        assert_eq!(named(&["k", "k"], vec![repeat_to(0, read(), vec![]), repeat_to(1, read(), vec![])]), ["k", "k1"]);
        assert_eq!(named(&["k_end", "k"], vec![set(0), repeat_to(1, read(), vec![])]), ["k_end", "k1"]);
        assert_eq!(named(&["k_end", "k"], vec![set(0), repeat(1, vec![])]), ["k_end", "k"]);
    }
}
