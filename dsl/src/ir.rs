//! The kernel IR: what each output element is, as plain data in one arena.
//!
//! A [`Kernel`] is made by [`crate::build::Builder`] alone, which checks types and shapes, so that every other room may
//! rely on what stands here. Expressions are pure and shared: the arena is a DAG, and a `let` is a name for one of its
//! nodes. Nothing here says where or when a value is computed; that is [`crate::schedule::Schedule`]'s business, and so
//! threads, barriers and storage formats are deliberately absent.

mod spell;

use std::fmt;

/// A handle of an expression in [`Kernel::exprs`] (or in [`Monoid::exprs`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ExprId(pub u32);
/// A handle of an axis in [`Kernel::axes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AxisId(pub u32);
/// A handle of an extent in [`Kernel::extents`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ExtentId(pub u32);
/// A handle of a tensor in [`Kernel::tensors`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TensorId(pub u32);
/// A handle of a scalar parameter in [`Kernel::scalars`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ScalarId(pub u32);
/// A handle of a monoid in [`Kernel::monoids`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MonoidId(pub u32);

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// 32-bit float: all arithmetic on real numbers.
    F32,
    /// 32-bit unsigned integer: indices, ids, bits.
    U32,
    /// The result of a comparison.
    Bool,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::F32 => "f32",
            Type::U32 => "u32",
            Type::Bool => "bool",
        })
    }
}

/// What a kernel may do with a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Read only.
    In,
    /// Writes the elements that the body names once each, keeps the rest; never read.
    Out,
    /// Read and written; an iteration reads only elements that it alone writes, before it writes them.
    InOut,
}

/// A tensor parameter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tensor {
    /// Its name in the kernel.
    pub name: String,
    /// What may be done with it.
    pub role: Role,
    /// F32 or U32; how an F32 tensor is stored is the schedule's business.
    pub elem: Type,
    /// One extent a dimension, outermost first; 1 to 4 of them.
    pub dims: Vec<ExtentId>,
}

/// A scalar parameter: the same value for every element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// Its name in the kernel.
    pub name: String,
    /// F32 or U32.
    pub ty: Type,
}

/// What walks along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AxisKind {
    /// A `for`: each value makes its own elements, in no order.
    Map,
    /// A reduction.
    Reduce,
    /// The elements of a monoid's array field.
    Array,
}

/// One axis; names are unique in a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// Its name: `k`, `norm.j` after fusion, `softmax.c` for a monoid's array field.
    pub name: String,
    /// What walks along it.
    pub kind: AxisKind,
    /// First value (u32). May use extents, scalars, and enclosing axes.
    pub lo: ExprId,
    /// One past the last value (u32), likewise.
    pub hi: ExprId,
}

/// An operator or function of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// `-x` (f32).
    Neg,
    /// `!x` (bool).
    Not,
    /// e^x.
    Exp,
    /// Natural logarithm.
    Log,
    /// Square root.
    Sqrt,
    /// 1 / sqrt(x).
    Rsqrt,
    /// Hyperbolic tangent.
    Tanh,
    /// |x|.
    Abs,
    /// Largest integer that is not greater.
    Floor,
    /// The bits of an f32 as u32.
    Bits,
    /// u32 to f32 (rounds to nearest), or the same value.
    ToF32,
    /// f32 to u32 (towards zero, from 0 to the largest f32 below 2^32), or the same value.
    ToU32,
}

/// An operator or function of two operands of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// Sum; modulo 2^32 on u32.
    Add,
    /// Difference; modulo 2^32 on u32.
    Sub,
    /// Product; modulo 2^32 on u32.
    Mul,
    /// Quotient; towards zero on u32.
    Div,
    /// Remainder (u32).
    Rem,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// Bitwise and (u32), logical and (bool; both sides are evaluated).
    And,
    /// Bitwise or (u32), logical or (bool; both sides are evaluated).
    Or,
    /// Bitwise exclusive or (u32).
    Xor,
    /// Left shift (u32).
    Shl,
    /// Right shift (u32).
    Shr,
    /// Equal: bool.
    Eq,
    /// Not equal: bool.
    Ne,
    /// Less: bool.
    Lt,
    /// Less or equal: bool.
    Le,
    /// Greater: bool.
    Gt,
    /// Greater or equal: bool.
    Ge,
}

/// Which operand of a monoid's merge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The left operand, `a`.
    A,
    /// The right operand, `b`.
    B,
}

/// An expression. Operands are earlier in the same arena.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// An f32 constant, by its bits.
    F32(u32),
    /// A u32 constant.
    U32(u32),
    /// A bool constant.
    Bool(bool),
    /// The current value of an axis (u32).
    Axis(AxisId),
    /// An extent (u32).
    Extent(ExtentId),
    /// A scalar parameter.
    Scalar(ScalarId),
    /// One element of a tensor, one u32 index a dimension.
    Load(TensorId, Vec<ExprId>),
    /// One operand.
    Unary(Unary, ExprId),
    /// Two operands.
    Binary(Binary, ExprId, ExprId),
    /// `if cond { yes } else { no }` as a value; both are pure.
    Select(ExprId, ExprId, ExprId),
    /// A reduction; its value is read by [`Expr::Field`] and [`Expr::Element`] only.
    Reduce(Reduce),
    /// A scalar field (by number) of a reduction.
    Field(ExprId, usize),
    /// An element of an array field: reduction, field number, u32 index.
    Element(ExprId, usize, ExprId),
    /// In a monoid's merge alone: a field of an operand; of an array field, the element at hand.
    Part(Side, usize),
}

/// A reduction along one axis.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reduce {
    /// How two partial results become one.
    pub monoid: MonoidId,
    /// The axis, of kind [`AxisKind::Reduce`].
    pub axis: AxisId,
    /// The axis of the array fields, of kind [`AxisKind::Array`], if the monoid has any.
    pub array: Option<AxisId>,
    /// What one value of the axis contributes: one expression a field. An array field's expression may use `array`.
    pub body: Vec<ExprId>,
}

/// A field of a monoid.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MonoidField {
    /// Its name.
    pub name: String,
    /// F32 or U32.
    pub ty: Type,
    /// One value an element of the array axis.
    pub array: bool,
}

/// Which monoid this is, where printing or lowering can do better knowing it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MonoidKind {
    /// `sum`: one f32 field, 0 and `a + b`.
    Sum,
    /// `max`: one f32 field, LOWEST and `max(a, b)`.
    Max,
    /// `argmax`: fields `max` (f32) and `index` (u32); ties go to the lowest index, a value that is not finite gives u32::MAX.
    ArgMax,
    /// Written with `#[monoid]`.
    Custom,
}

/// An identity and an associative merge.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Monoid {
    /// Its name; `softmax` in `softmax.c` is its lower case.
    pub name: String,
    /// Known ones are marked.
    pub kind: MonoidKind,
    /// Its fields.
    pub fields: Vec<MonoidField>,
    /// The letter of the array fields' extent, if there are any: `C`, lower case in `softmax.c`.
    pub array: Option<String>,
    /// The expressions of `identity` and `merge`: constants, operators and [`Expr::Part`].
    pub exprs: Vec<Expr>,
    /// One expression a field.
    pub identity: Vec<ExprId>,
    /// One expression a field.
    pub merge: Vec<ExprId>,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// The body for every value of a [`AxisKind::Map`] axis, in no order.
    For(AxisId, Vec<Stmt>),
    /// `tensor[indices] = value`.
    Store(TensorId, Vec<ExprId>, ExprId),
}

/// A named value: what `compute NAME at LEVEL` refers to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Let {
    /// Its name.
    pub name: String,
    /// Its value; of a `let` that names a whole fold, the [`Expr::Reduce`].
    pub value: ExprId,
}

/// A kernel: the algorithm alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The first lines of its doc comment.
    pub doc: String,
    /// Names of the extents (capitals), in the order of their first use.
    pub extents: Vec<String>,
    /// Tensor parameters, in order.
    pub tensors: Vec<Tensor>,
    /// Scalar parameters, in order.
    pub scalars: Vec<Scalar>,
    /// Axes, in the order of the text.
    pub axes: Vec<Axis>,
    /// Monoids that reductions use.
    pub monoids: Vec<Monoid>,
    /// Named values.
    pub lets: Vec<Let>,
    /// The arena.
    pub exprs: Vec<Expr>,
    /// The type of each expression; a [`Expr::Reduce`]'s is that of its first field.
    pub types: Vec<Type>,
    /// What must hold of the extents: bool expressions of extents and constants.
    pub asserts: Vec<ExprId>,
    /// The body.
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// The expression behind a handle.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }
    /// The type of an expression.
    pub fn type_of(&self, id: ExprId) -> Type {
        self.types[id.0 as usize]
    }
    /// The axis behind a handle.
    pub fn axis(&self, id: AxisId) -> &Axis {
        &self.axes[id.0 as usize]
    }
    /// The tensor behind a handle.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0 as usize]
    }
    /// The monoid behind a handle.
    pub fn monoid(&self, id: MonoidId) -> &Monoid {
        &self.monoids[id.0 as usize]
    }
    /// The axis of that name.
    pub fn axis_named(&self, name: &str) -> Option<AxisId> {
        self.axes.iter().position(|a| a.name == name).map(|i| AxisId(i as u32))
    }
    /// The tensor of that name.
    pub fn tensor_named(&self, name: &str) -> Option<TensorId> {
        self.tensors.iter().position(|t| t.name == name).map(|i| TensorId(i as u32))
    }
}

/// The least finite f32: masks and identities use it, since shading languages may assume that infinities do not occur.
pub const LOWEST: f32 = f32::MIN;
