//! The loop IR: what one workgroup does, as structured statements. All decisions are made before it is printed.
//!
//! Made by `lower`, rewritten by `simplify`, checked by `verify`, run by `interp`, printed by `wgsl` and `hlsl`. A value is a scalar or
//! a vector of 2 or 4; buffers are arrays of 32-bit words. A `Let` names an immutable value and a `Declare` a register
//! that is assigned again; both are in scope to the end of the enclosing block. No storage format, schedule or axis is known here, and
//! multiply-accumulate is an explicit [`Expr::Fma`] so that every back end rounds alike.

use crate::target::Subgroups;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// A local of the shader, an index into [`LoopIr::vars`]; declared at one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub u32);

/// A value's type: element and lanes (1, 2 or 4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty {
    /// Element type.
    pub elem: Type,
    /// 1, 2 or 4 components.
    pub width: u8,
}

/// What the hardware tells an invocation (u32 each).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Builtin {
    /// Index of the invocation in its workgroup.
    LocalIndex,
    /// Workgroup index, first dimension.
    WorkgroupX,
    /// Workgroup index, second dimension.
    WorkgroupY,
    /// Invocations in this subgroup.
    SubgroupSize,
    /// Index of the invocation in its subgroup.
    SubgroupInvocation,
}

/// An expression without side effects.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// f32 constant (never NaN or infinite).
    F32(f32),
    /// u32 constant.
    U32(u32),
    /// bool constant.
    Bool(bool),
    /// A local.
    Var(Var),
    /// A built-in value.
    Builtin(Builtin),
    /// A field of the parameter block, an index into [`LoopIr::params`].
    Param(usize),
    /// Words of a buffer: `width` neighbours (1, 2 or 4) at word `index * width`; of the buffer's element type.
    Load {
        /// Index into [`LoopIr::buffers`].
        buffer: usize,
        /// In units of `width` words.
        index: Box<Expr>,
        /// 1, 2 or 4.
        width: u8,
    },
    /// One element of workgroup memory, an index into [`LoopIr::shared`].
    Shared(usize, Box<Expr>),
    /// One element of a private array ([`Kind::Array`]).
    Element(Var, Box<Expr>),
    /// One component of a vector.
    Component(Box<Expr>, u8),
    /// u32 scalar: two f16 to a vector of two f32.
    UnpackF16(Box<Expr>),
    /// Two f32 scalars to two f16 in one word, rounded to nearest even.
    PackF16(Box<Expr>, Box<Expr>),
    /// The bits of a u32 scalar as f32.
    FromBits(Box<Expr>),
    /// One operand (scalars).
    Unary(Unary, Box<Expr>),
    /// Two operands (scalars).
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `cond ? yes : no` (scalars; both are evaluated).
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a * b + c` on f32 scalars.
    Fma(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value of the invocation whose subgroup index is this one's xor `mask` (u32, uniform).
    ShuffleXor(Box<Expr>, Box<Expr>),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// Names an immutable value.
    Let(Var, Expr),
    /// A register with its first value.
    Declare(Var, Expr),
    /// A private array, zeros.
    DeclareArray(Var),
    /// Sets a register.
    Assign(Var, Expr),
    /// Sets an element of a private array.
    SetElement(Var, Expr, Expr),
    /// Sets an element of workgroup memory: array, index, value.
    StoreShared(usize, Expr, Expr),
    /// Sets a word of a buffer: buffer, word index, scalar of the buffer's element type.
    Store(usize, Expr, Expr),
    /// Sets four neighbours of a narrow array of workgroup memory: array, index in fours, values that are rounded to f16.
    StoreNarrow(usize, Expr, Box<[Expr; 4]>),
    /// A fragment of sums, zeros ([`Kind::Fragment`]).
    DeclareFragment(Var),
    /// Names a fragment of operands, loaded from a narrow array by the invocations of a subgroup together.
    LoadFragment(Var, Place),
    /// `sum += a · b`, by the invocations of a subgroup together: sum, a, b.
    MultiplyAdd(Var, Var, Var),
    /// Writes a fragment of sums row by row to an f32 array of workgroup memory, by the invocations of a subgroup together.
    StoreFragment(Var, Place),
    /// `for (var = start; var < end; var += step)`; `end` is evaluated once, `step` is not 0.
    For {
        /// The counter (u32).
        var: Var,
        /// First value.
        start: Expr,
        /// One past the last.
        end: Expr,
        /// Step.
        step: Expr,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `if cond { then } else { or }`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// All invocations of the workgroup meet; workgroup memory written before is visible after.
    Barrier,
    /// A line for the reader.
    Comment(String),
}

/// Where a fragment lies in workgroup memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// Index into [`LoopIr::shared`].
    pub array: usize,
    /// The first element, in fours where the array is narrow; the same in all invocations of a subgroup.
    pub index: Expr,
    /// From one row to the next (one column to the next of [`Side::Right`]), in the same unit.
    pub stride: u32,
}

/// Which part of `sum + left · right` a fragment is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The left factor, f16; a row's elements lie next to each other in memory.
    Left,
    /// The right factor, f16; a column's elements lie next to each other.
    Right,
    /// The sum, f32.
    Sum,
}

/// What a buffer binding is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and written.
    ReadWrite,
}

/// A storage buffer of the shader; its binding number is its index: read-only ones first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    /// The name in the text: the tensor's.
    pub name: String,
    /// Read only or not.
    pub access: Access,
    /// Element: F32, or U32 for u32 tensors and packed storage.
    pub elem: Type,
    /// Words an array element of the binding has (1, 2 or 4): the widest access in this shader; 1 where the shader stores,
    /// because a store to one component of a vector may touch the others.
    pub width: u8,
    /// Which tensor of the kernel.
    pub tensor: String,
    /// Which part of a tensor that was split over several buffers (0 where it was not).
    pub part: u32,
}

/// An array in workgroup memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// F32 or U32.
    pub elem: Type,
    /// Elements.
    pub len: u32,
    /// Whether its elements are f16, four to an element of the text's array; only fragments are loaded from it.
    pub narrow: bool,
}

impl Shared {
    /// Its size.
    pub fn bytes(&self) -> u32 {
        self.len.saturating_mul(if self.narrow { 2 } else { 4 })
    }
}

/// A field of the parameter block: one 32-bit word.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// Its name: a scalar's, or a run-time extent's.
    pub name: String,
    /// F32 or U32.
    pub ty: Type,
}

/// What a local is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A value or register.
    Value(Ty),
    /// A private array: element type and length.
    Array(Type, u32),
    /// A square fragment of a cooperative matrix, so many elements a side; a subgroup holds it together.
    Fragment(Side, u32),
}

/// A local's declaration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VarDecl {
    /// A wish for its name; the printer makes it unique and legal.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// One shader.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LoopIr {
    /// The entry's name: the kernel's.
    pub name: String,
    /// Head of the text: kernel, shape, schedule.
    pub head: Vec<String>,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Subgroup sizes that it was made for, if any.
    pub subgroups: Option<Subgroups>,
    /// Storage buffers, read-only ones first; index = binding number.
    pub buffers: Vec<Buffer>,
    /// The parameter block (binding number = number of buffers); none if empty.
    pub params: Vec<Param>,
    /// Workgroup memory.
    pub shared: Vec<Shared>,
    /// Locals.
    pub vars: Vec<VarDecl>,
    /// The body.
    pub body: Vec<Stmt>,
}

/// One body for what is looked at and for what is rewritten: the parts of an expression or statement, in order.
macro_rules! operands {
    ($e:expr) => {
        match $e {
            Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) | Expr::Var(_) | Expr::Builtin(_) | Expr::Param(_) => vec![],
            Expr::Load { index: a, .. }
            | Expr::Shared(_, a)
            | Expr::Element(_, a)
            | Expr::Component(a, _)
            | Expr::UnpackF16(a)
            | Expr::FromBits(a)
            | Expr::Unary(_, a) => vec![a],
            Expr::PackF16(a, b) | Expr::Binary(_, a, b) | Expr::ShuffleXor(a, b) => vec![a, b],
            Expr::Select(a, b, c) | Expr::Fma(a, b, c) => vec![a, b, c],
        }
    };
}

macro_rules! expressions {
    ($stmt:expr $(, $m:tt)?) => {
        match $stmt {
            Stmt::Let(_, a) | Stmt::Declare(_, a) | Stmt::Assign(_, a) | Stmt::If(a, ..) => vec![a],
            Stmt::SetElement(_, a, b) | Stmt::StoreShared(_, a, b) | Stmt::Store(_, a, b) => vec![a, b],
            Stmt::For { start, end, step, .. } => vec![start, end, step],
            Stmt::LoadFragment(_, place) | Stmt::StoreFragment(_, place) => vec![&$($m)? place.index],
            Stmt::StoreNarrow(_, a, values) => {
                let [x, y, z, w] = &$($m)? **values;
                vec![a, x, y, z, w]
            }
            Stmt::DeclareArray(_) | Stmt::DeclareFragment(_) | Stmt::MultiplyAdd(..) => vec![],
            Stmt::Barrier | Stmt::Comment(_) => vec![],
        }
    };
}

macro_rules! blocks {
    ($stmt:expr) => {
        match $stmt {
            Stmt::For { body, .. } => vec![body],
            Stmt::If(_, then, or) => vec![then, or],
            _ => vec![],
        }
    };
}

impl Expr {
    /// The direct operands, in order.
    pub fn operands(&self) -> Vec<&Expr> {
        operands!(self)
    }
    /// The direct operands, in order, to be rewritten.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        operands!(self)
    }
}

impl Stmt {
    /// The expressions of the statement itself, in the order of evaluation; not those of nested statements.
    pub fn expressions(&self) -> Vec<&Expr> {
        expressions!(self)
    }
    /// The same, to be rewritten.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        expressions!(self, mut)
    }
    /// Whether the invocations of a subgroup do it together.
    pub fn of_fragments(&self) -> bool {
        matches!(
            self,
            Stmt::DeclareFragment(_) | Stmt::LoadFragment(..) | Stmt::MultiplyAdd(..) | Stmt::StoreFragment(..)
        )
    }
    /// The nested blocks: a loop's body, or both branches.
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        blocks!(self)
    }
    /// The same, to be rewritten.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        blocks!(self)
    }
}
