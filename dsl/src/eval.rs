//! The reference meaning of a kernel: serial, in f32, over unpadded row-major tensors.
//!
//! Every other execution is compared with this one, so it stays obvious: loops in the order of the text, a reduction folded
//! from its identity one value after another, an `if` that evaluates the side it takes. An expression is remembered until an
//! axis that it depends on moves, so a reduction runs once a value and not once a use. An in-out tensor is read as it was
//! before the kernel. Storage formats and schedules are deliberately absent. Integer corner cases are WGSL's: sums wrap,
//! `x / 0` is x, `x % 0` is 0, shifts count modulo 32; `x as u32` ends at the largest f32 below 2^32. Of a NaN, an infinity or
//! the sign of a zero nothing is said: shading languages may assume that there are none, so devices may give other values.

mod reduce;

use std::collections::BTreeMap;

use crate::check::operands;
use crate::ir::*;

/// A scalar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A float.
    F32(f32),
    /// An unsigned integer.
    U32(u32),
    /// The result of a comparison.
    Bool(bool),
}

/// The elements of a tensor, row-major without padding.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Floats.
    F32(Vec<f32>),
    /// Unsigned integers.
    U32(Vec<u32>),
}

/// Why a kernel has no meaning on these inputs.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum EvalError {
    /// An extent, scalar or tensor that was not given.
    #[error("kernel `{kernel}` needs {what} `{name}`, which is not given")]
    Missing {
        /// The kernel.
        kernel: String,
        /// `extent`, `scalar` or `tensor`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A scalar or tensor of another type.
    #[error("`{name}` is given as {found}; kernel `{kernel}` declares {expected}")]
    Type {
        /// The kernel.
        kernel: String,
        /// The scalar or tensor.
        name: String,
        /// The given type.
        found: Type,
        /// The declared type.
        expected: Type,
    },
    /// A tensor whose length is not the product of its extents.
    #[error("tensor `{tensor}` has {found} elements; its extents {dims:?} make {expected}")]
    Length {
        /// The tensor.
        tensor: String,
        /// Its extents.
        dims: Vec<u32>,
        /// The given length.
        found: usize,
        /// The product.
        expected: u64,
    },
    /// An index beyond an extent; indices that come from a tensor are clamped when loading instead.
    #[error("{access} index {index} in dimension {dim} of tensor `{tensor}`, whose extent is {extent}")]
    OutOfBounds {
        /// `load` or `store`.
        access: &'static str,
        /// The tensor.
        tensor: String,
        /// The dimension, the outermost is 0.
        dim: usize,
        /// The index.
        index: u32,
        /// The extent.
        extent: u32,
    },
    /// Extents of which an assertion of the kernel does not hold.
    #[error("kernel `{kernel}`: {demand}, and {extents}")]
    Assertion {
        /// The kernel.
        kernel: String,
        /// What must hold.
        demand: String,
        /// The extents in it.
        extents: String,
    },
    /// A kernel that the builder would not have made.
    #[error("kernel `{kernel}` is not well formed: {what}")]
    Malformed {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        what: String,
    },
}

/// Runs a kernel: reads `tensors` by the names of its parameters and stores into them.
pub fn eval(
    kernel: &Kernel,
    extents: &BTreeMap<String, u32>,
    scalars: &BTreeMap<String, Value>,
    tensors: &mut BTreeMap<String, Data>,
) -> Result<(), EvalError> {
    if let Some(error) = crate::check::kernel(kernel).first() {
        return Err(EvalError::Malformed { kernel: kernel.name.clone(), what: error.to_string() });
    }
    let mut run = Run::new(kernel, extents, scalars, tensors)?;
    for id in &kernel.asserts {
        if run.value(*id)? != Value::Bool(true) {
            let given: Vec<_> = kernel.extents_in(*id).iter().map(|e| format!("{e} = {}", extents[*e])).collect();
            let (kernel, demand) = (kernel.name.clone(), kernel.demand(*id));
            return Err(EvalError::Assertion { kernel, demand, extents: given.join(", ") });
        }
    }
    run.body(&kernel.body)?;
    for (tensor, data) in kernel.tensors.iter().zip(run.outputs) {
        if let Some(data) = data {
            tensors.insert(tensor.name.clone(), data);
        }
    }
    Ok(())
}

struct Run<'k> {
    kernel: &'k Kernel,
    extents: Vec<u32>,
    scalars: Vec<Value>,
    /// What loads see.
    inputs: Vec<&'k Data>,
    /// What stores change; `None` for inputs.
    outputs: Vec<Option<Data>>,
    /// The value of each axis, and the tick at which it got it.
    axes: Vec<(u32, u64)>,
    /// Each expression's last value, and the tick at which it was computed; 0 for never.
    memo: Vec<(Value, u64)>,
    /// The axes that each expression depends on.
    free: Vec<Vec<AxisId>>,
    /// Whether each expression depends on an element of a tensor.
    loaded: Vec<bool>,
    /// Each reduction's last result.
    reduced: Vec<reduce::State>,
    tick: u64,
}

impl<'k> Run<'k> {
    fn new(
        kernel: &'k Kernel,
        extents: &BTreeMap<String, u32>,
        scalars: &BTreeMap<String, Value>,
        tensors: &'k BTreeMap<String, Data>,
    ) -> Result<Self, EvalError> {
        let name = || kernel.name.clone();
        let missing = |what, of: &String| EvalError::Missing { kernel: name(), what, name: of.clone() };
        let extent = |e: &String| extents.get(e).copied().ok_or_else(|| missing("extent", e));
        let extents = kernel.extents.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
        let scalar = |s: &Scalar| {
            let value = *scalars.get(&s.name).ok_or_else(|| missing("scalar", &s.name))?;
            let (found, expected) = (value.ty(), s.ty);
            match found == expected {
                true => Ok(value),
                false => Err(EvalError::Type { kernel: name(), name: s.name.clone(), found, expected }),
            }
        };
        let scalars = kernel.scalars.iter().map(scalar).collect::<Result<Vec<_>, _>>()?;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for tensor in &kernel.tensors {
            let data = tensors.get(&tensor.name).ok_or_else(|| missing("tensor", &tensor.name))?;
            let (found, expected) = (data.ty(), tensor.elem);
            if found != expected {
                return Err(EvalError::Type { kernel: name(), name: tensor.name.clone(), found, expected });
            }
            let dims: Vec<u32> = tensor.dims.iter().map(|d| extents[d.0 as usize]).collect();
            let expected = dims.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
            if data.len() as u64 != expected {
                return Err(EvalError::Length { tensor: tensor.name.clone(), dims, found: data.len(), expected });
            }
            inputs.push(data);
            outputs.push((tensor.role != Role::In).then(|| data.clone()));
        }
        let n = kernel.exprs.len();
        let (free, loaded) = dependences(kernel);
        Ok(Run {
            kernel,
            extents,
            scalars,
            inputs,
            outputs,
            axes: vec![(0, 0); kernel.axes.len()],
            memo: vec![(Value::U32(0), 0); n],
            free,
            loaded,
            reduced: kernel.exprs.iter().map(|e| reduce::State::new(kernel, e)).collect(),
            tick: 1,
        })
    }

    fn body(&mut self, body: &'k [Stmt]) -> Result<(), EvalError> {
        for stmt in body {
            match stmt {
                Stmt::For(axis, inner) => {
                    let (lo, hi) = self.bounds(*axis)?;
                    for i in lo..hi {
                        self.set(*axis, i);
                        self.body(inner)?;
                    }
                }
                Stmt::Store(tensor, at, value) => {
                    let value = self.value(*value)?;
                    let at = self.offset(*tensor, at, "store")?;
                    match (&mut self.outputs[tensor.0 as usize], value) {
                        (Some(Data::F32(data)), Value::F32(value)) => data[at] = value,
                        (Some(Data::U32(data)), Value::U32(value)) => data[at] = value,
                        _ => return Err(self.malformed("a store of another type")),
                    }
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, axis: AxisId, value: u32) {
        self.tick += 1;
        self.axes[axis.0 as usize] = (value, self.tick);
    }

    fn bounds(&mut self, axis: AxisId) -> Result<(u32, u32), EvalError> {
        let Axis { lo, hi, .. } = self.kernel.axis(axis);
        Ok((self.u32(*lo)?, self.u32(*hi)?))
    }

    fn malformed(&self, what: &str) -> EvalError {
        EvalError::Malformed { kernel: self.kernel.name.clone(), what: what.into() }
    }

    /// The offset of an element. Loaded indices are clamped in a load.
    fn offset(&mut self, tensor: TensorId, at: &[ExprId], access: &'static str) -> Result<usize, EvalError> {
        let kernel = self.kernel;
        let t = kernel.tensor(tensor);
        let mut offset = 0;
        for (dim, id) in at.iter().enumerate() {
            let extent = self.extents[t.dims[dim].0 as usize];
            let mut index = self.u32(*id)?;
            if access == "load" && self.loaded[id.0 as usize] {
                index = index.min(extent.saturating_sub(1));
            }
            if index >= extent {
                return Err(EvalError::OutOfBounds { access, tensor: t.name.clone(), dim, index, extent });
            }
            offset = offset * extent as usize + index as usize;
        }
        Ok(offset)
    }

    /// Whether what was computed at that tick still holds.
    fn holds(&self, id: ExprId, tick: u64) -> bool {
        tick > 0 && self.free[id.0 as usize].iter().all(|axis| self.axes[axis.0 as usize].1 <= tick)
    }

    fn value(&mut self, id: ExprId) -> Result<Value, EvalError> {
        let (value, tick) = self.memo[id.0 as usize];
        if self.holds(id, tick) {
            return Ok(value);
        }
        let value = self.compute(id)?;
        self.memo[id.0 as usize] = (value, self.tick);
        Ok(value)
    }

    fn u32(&mut self, id: ExprId) -> Result<u32, EvalError> {
        match self.value(id)? {
            Value::U32(value) => Ok(value),
            _ => Err(self.malformed("an index that is not u32")),
        }
    }

    fn compute(&mut self, id: ExprId) -> Result<Value, EvalError> {
        let kernel = self.kernel;
        Ok(match kernel.expr(id) {
            Expr::F32(bits) => Value::F32(f32::from_bits(*bits)),
            Expr::U32(value) => Value::U32(*value),
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Axis(axis) => Value::U32(self.axes[axis.0 as usize].0),
            Expr::Extent(extent) => Value::U32(self.extents[extent.0 as usize]),
            Expr::Scalar(scalar) => self.scalars[scalar.0 as usize],
            Expr::Load(tensor, at) => {
                let at = self.offset(*tensor, at, "load")?;
                match self.inputs[tensor.0 as usize] {
                    Data::F32(data) => Value::F32(data[at]),
                    Data::U32(data) => Value::U32(data[at]),
                }
            }
            Expr::Unary(op, a) => {
                let a = self.value(*a)?;
                unary(*op, a).ok_or_else(|| self.malformed("an operator on another type"))?
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(*a)?, self.value(*b)?);
                binary(*op, a, b).ok_or_else(|| self.malformed("an operator on other types"))?
            }
            Expr::Select(c, yes, no) => match self.value(*c)? {
                Value::Bool(c) => self.value(if c { *yes } else { *no })?,
                _ => return Err(self.malformed("a condition that is not bool")),
            },
            Expr::Field(reduce, field) => self.reduced(*reduce)?.scalar(*field),
            Expr::Element(reduce, field, at) => {
                let at = self.u32(*at)?;
                self.reduced(*reduce)?
                    .element(*field, at)
                    .ok_or_else(|| self.malformed("an element of an empty array"))?
            }
            Expr::Reduce(_) | Expr::Part(..) => return Err(self.malformed("a reduction or operand used as a value")),
        })
    }
}

/// The axes that each expression depends on, and whether it depends on an element of a tensor.
fn dependences(kernel: &Kernel) -> (Vec<Vec<AxisId>>, Vec<bool>) {
    let mut free: Vec<Vec<AxisId>> = Vec::new();
    let mut loaded: Vec<bool> = Vec::new();
    for expr in &kernel.exprs {
        let mut from = operands(expr);
        let mut own = Vec::new();
        let mut bound = Vec::new();
        match expr {
            Expr::Axis(axis) => own.push(*axis),
            Expr::Reduce(r) => {
                bound.push(r.axis);
                bound.extend(r.array);
                from.extend(bound.iter().flat_map(|a| [kernel.axis(*a).lo, kernel.axis(*a).hi]));
            }
            _ => {}
        }
        own.extend(from.iter().flat_map(|id| free[id.0 as usize].iter().copied()).filter(|a| !bound.contains(a)));
        own.sort();
        own.dedup();
        free.push(own);
        loaded.push(matches!(expr, Expr::Load(..)) || from.iter().any(|id| loaded[id.0 as usize]));
    }
    (free, loaded)
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Value::F32(_) => Type::F32,
            Value::U32(_) => Type::U32,
            Value::Bool(_) => Type::Bool,
        }
    }
}

impl Data {
    /// How many elements.
    pub fn len(&self) -> usize {
        match self {
            Data::F32(data) => data.len(),
            Data::U32(data) => data.len(),
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The type of its elements.
    pub fn ty(&self) -> Type {
        match self {
            Data::F32(_) => Type::F32,
            Data::U32(_) => Type::U32,
        }
    }
}

/// `x as u32`: towards zero, from 0 to the largest f32 below 2^32, as WGSL has it; 0 of a NaN.
pub fn to_u32(x: f32) -> u32 {
    x.clamp(0.0, 4_294_967_040.0) as u32
}

/// An operator's value; `None` on another type.
pub fn unary(op: Unary, a: Value) -> Option<Value> {
    use Value::{Bool, F32, U32};
    Some(match (op, a) {
        (Unary::Neg, F32(a)) => F32(-a),
        (Unary::Not, Bool(a)) => Bool(!a),
        (Unary::Exp, F32(a)) => F32(a.exp()),
        (Unary::Log, F32(a)) => F32(a.ln()),
        (Unary::Sqrt, F32(a)) => F32(a.sqrt()),
        (Unary::Rsqrt, F32(a)) => F32(1.0 / a.sqrt()),
        (Unary::Tanh, F32(a)) => F32(a.tanh()),
        (Unary::Abs, F32(a)) => F32(a.abs()),
        (Unary::Floor, F32(a)) => F32(a.floor()),
        (Unary::Bits, F32(a)) => U32(a.to_bits()),
        (Unary::ToF32, U32(a)) => F32(a as f32),
        (Unary::ToF32, F32(a)) => F32(a),
        (Unary::ToU32, F32(a)) => U32(to_u32(a)),
        (Unary::ToU32, U32(a)) => U32(a),
        _ => return None,
    })
}

/// An operator's value; `None` on other types.
pub fn binary(op: Binary, a: Value, b: Value) -> Option<Value> {
    use Value::{Bool, F32, U32};
    Some(match (a, b) {
        (F32(a), F32(b)) => match op {
            Binary::Add => F32(a + b),
            Binary::Sub => F32(a - b),
            Binary::Mul => F32(a * b),
            Binary::Div => F32(a / b),
            Binary::Min => F32(a.min(b)),
            Binary::Max => F32(a.max(b)),
            _ => Bool(compare(op, &a, &b)?),
        },
        (U32(a), U32(b)) => match op {
            Binary::Add => U32(a.wrapping_add(b)),
            Binary::Sub => U32(a.wrapping_sub(b)),
            Binary::Mul => U32(a.wrapping_mul(b)),
            Binary::Div => U32(a.checked_div(b).unwrap_or(a)),
            Binary::Rem => U32(a.checked_rem(b).unwrap_or(0)),
            Binary::Min => U32(a.min(b)),
            Binary::Max => U32(a.max(b)),
            Binary::And => U32(a & b),
            Binary::Or => U32(a | b),
            Binary::Xor => U32(a ^ b),
            Binary::Shl => U32(a.wrapping_shl(b)),
            Binary::Shr => U32(a.wrapping_shr(b)),
            _ => Bool(compare(op, &a, &b)?),
        },
        (Bool(a), Bool(b)) => match op {
            Binary::And => Bool(a & b),
            Binary::Or => Bool(a | b),
            _ => return None,
        },
        _ => return None,
    })
}

fn compare<T: PartialOrd>(op: Binary, a: &T, b: &T) -> Option<bool> {
    Some(match op {
        Binary::Eq => a == b,
        Binary::Ne => a != b,
        Binary::Lt => a < b,
        Binary::Le => a <= b,
        Binary::Gt => a > b,
        Binary::Ge => a >= b,
        _ => return None,
    })
}

/// The identity of a monoid's fields; of an array field, of each element.
pub fn identity(monoid: &Monoid) -> Option<Vec<Value>> {
    reduce::Merge::new(monoid).identity(monoid)
}

/// A monoid's merge of two values, of an array field of one element each.
pub fn merge(monoid: &Monoid, a: &[Value], b: &[Value]) -> Option<Vec<Value>> {
    reduce::Merge::new(monoid).merge(monoid, a, b)
}
