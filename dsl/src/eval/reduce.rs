//! Reductions: a monoid's merge on values, and the serial fold.

use super::{EvalError, Run, Value, binary, unary};
use crate::ir::*;

/// The last result of a reduction: the values of each field, one for a scalar field.
#[derive(Default)]
pub struct State {
    fields: Vec<Vec<Value>>,
    tick: u64,
    merge: Merge,
}

impl State {
    pub fn new(kernel: &Kernel, expr: &Expr) -> Self {
        match expr {
            Expr::Reduce(r) => State { merge: Merge::new(kernel.monoid(r.monoid)), ..State::default() },
            _ => State::default(),
        }
    }

    pub fn scalar(&self, field: usize) -> Value {
        self.fields[field][0]
    }

    /// An element; an index beyond the last one is clamped to it.
    pub fn element(&self, field: usize, at: u32) -> Option<Value> {
        let elements = &self.fields[field];
        elements.get((at as usize).min(elements.len().saturating_sub(1))).copied()
    }
}

impl Run<'_> {
    /// A reduction's result, computed anew where an axis that it depends on has moved.
    pub fn reduced(&mut self, id: ExprId) -> Result<&State, EvalError> {
        if !self.holds(id, self.reduced[id.0 as usize].tick) {
            let mut state = std::mem::take(&mut self.reduced[id.0 as usize]);
            let done = self.reduce(id, &mut state);
            state.tick = self.tick;
            self.reduced[id.0 as usize] = state;
            done?;
        }
        Ok(&self.reduced[id.0 as usize])
    }

    fn reduce(&mut self, id: ExprId, state: &mut State) -> Result<(), EvalError> {
        let kernel = self.kernel;
        let Expr::Reduce(r) = kernel.expr(id) else { return Err(self.malformed("a field of no reduction")) };
        let monoid = kernel.monoid(r.monoid);
        let merge = &mut state.merge;
        let malformed =
            || EvalError::Malformed { kernel: kernel.name.clone(), what: format!("monoid `{}`", monoid.name) };
        let identity = merge.identity(monoid).ok_or_else(malformed)?;
        let (lo, hi) = self.bounds(r.axis)?;
        let (first, last) = match r.array {
            Some(array) => self.bounds(array)?,
            None => (0, 0),
        };
        let elements = last.saturating_sub(first) as usize;
        state.fields =
            monoid.fields.iter().zip(&identity).map(|(f, v)| vec![*v; if f.array { elements } else { 1 }]).collect();
        for j in lo..hi {
            self.set(r.axis, j);
            for (i, field) in monoid.fields.iter().enumerate().filter(|(_, f)| !f.array) {
                merge.a[i] = state.fields[i][0];
                merge.b[i] = self.value(r.body[i])?;
                debug_assert_eq!(merge.b[i].ty(), field.ty);
            }
            merge.run(monoid, false).ok_or_else(malformed)?;
            let arrays = || monoid.fields.iter().enumerate().filter(|(_, f)| f.array).map(|(i, _)| i);
            if let Some(array) = r.array {
                for (at, c) in (first..last).enumerate() {
                    self.set(array, c);
                    for i in arrays() {
                        merge.a[i] = state.fields[i][at];
                        merge.b[i] = self.value(r.body[i])?;
                    }
                    merge.run(monoid, true).ok_or_else(malformed)?;
                    for i in arrays() {
                        state.fields[i][at] = merge.values[monoid.merge[i].0 as usize];
                    }
                }
            }
            for (i, _) in monoid.fields.iter().enumerate().filter(|(_, f)| !f.array) {
                state.fields[i][0] = merge.values[monoid.merge[i].0 as usize];
            }
        }
        Ok(())
    }
}

/// A monoid's expressions, evaluated on two operands.
#[derive(Default)]
pub struct Merge {
    a: Vec<Value>,
    b: Vec<Value>,
    values: Vec<Value>,
    /// Whether each expression depends on an element of an array field.
    of_array: Vec<bool>,
}

impl Merge {
    pub fn new(monoid: &Monoid) -> Self {
        let mut of_array: Vec<bool> = Vec::new();
        for expr in &monoid.exprs {
            of_array.push(match expr {
                Expr::Part(_, field) => monoid.fields[*field].array,
                other => crate::check::operands(other).iter().any(|id| of_array[id.0 as usize]),
            });
        }
        let zero = |ty| match ty {
            Type::F32 => Value::F32(0.0),
            Type::U32 => Value::U32(0),
            Type::Bool => Value::Bool(false),
        };
        let parts: Vec<Value> = monoid.fields.iter().map(|f| zero(f.ty)).collect();
        Merge { a: parts.clone(), b: parts, values: vec![Value::U32(0); of_array.len()], of_array }
    }

    pub fn identity(&mut self, monoid: &Monoid) -> Option<Vec<Value>> {
        self.run(monoid, false)?;
        self.run(monoid, true)?;
        Some(monoid.identity.iter().map(|id| self.values[id.0 as usize]).collect())
    }

    pub fn merge(&mut self, monoid: &Monoid, a: &[Value], b: &[Value]) -> Option<Vec<Value>> {
        if a.len() != self.a.len() || b.len() != self.b.len() {
            return None;
        }
        self.a.copy_from_slice(a);
        self.b.copy_from_slice(b);
        self.run(monoid, false)?;
        self.run(monoid, true)?;
        Some(monoid.merge.iter().map(|id| self.values[id.0 as usize]).collect())
    }

    /// Evaluates the expressions that do, or do not, depend on an element of an array field.
    fn run(&mut self, monoid: &Monoid, of_array: bool) -> Option<()> {
        for (i, expr) in monoid.exprs.iter().enumerate().filter(|(i, _)| self.of_array[*i] == of_array) {
            let value = |id: &ExprId| self.values[id.0 as usize];
            self.values[i] = match expr {
                Expr::F32(bits) => Value::F32(f32::from_bits(*bits)),
                Expr::U32(value) => Value::U32(*value),
                Expr::Bool(value) => Value::Bool(*value),
                Expr::Part(Side::A, field) => self.a[*field],
                Expr::Part(Side::B, field) => self.b[*field],
                Expr::Unary(op, a) => unary(*op, value(a))?,
                Expr::Binary(op, a, b) => binary(*op, value(a), value(b))?,
                Expr::Select(c, yes, no) => match value(c) {
                    Value::Bool(c) => value(if c { yes } else { no }),
                    _ => return None,
                },
                _ => return None,
            };
        }
        Some(())
    }
}
