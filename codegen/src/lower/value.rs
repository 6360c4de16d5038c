//! Values of the kernel's expressions at a copy, each made once a scope.

use super::build::{self, binary, u};
use super::{Env, Key, Lower};
use crate::deps;
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind};
use crate::shape::Extent;
use tilewright_dsl::ir::{self, ExprId, Reduce, Type, Unary};

impl Lower<'_> {
    /// The value of an expression; the reductions in it have been computed.
    pub fn value(&mut self, id: ExprId, env: &Env) -> Result<Expr, ScheduleError> {
        let kernel = self.nest.kernel;
        match kernel.expr(id) {
            ir::Expr::F32(bits) => return Ok(Expr::F32(f32::from_bits(*bits))),
            ir::Expr::U32(n) => return Ok(u(*n)),
            ir::Expr::Bool(b) => return Ok(Expr::Bool(*b)),
            ir::Expr::Axis(a) => return Ok(self.axis_value(*a, env)),
            ir::Expr::Extent(e) => {
                let name = &kernel.extents[e.0 as usize];
                return Ok(match self.nest.shape.get(name) {
                    Some(Extent::Fixed(n)) => u(n),
                    _ => self.param(name),
                });
            }
            ir::Expr::Scalar(s) => return Ok(self.param(&kernel.scalars[s.0 as usize].name)),
            _ => {}
        }
        let restricted = self.restrict(id, env);
        let key = Key::Value(id, restricted.clone());
        if let Some(known) = self.recall(&key) {
            return Ok(known);
        }
        if let Some(near) = self.tile_value(id, env)? {
            self.remember(key, near.clone());
            return Ok(near);
        }
        let name = kernel.lets.iter().find(|l| l.value == id).map(|l| l.name.clone());
        let value = match kernel.expr(id) {
            ir::Expr::Load(tensor, indices) => return self.load(id, *tensor, indices, env),
            ir::Expr::Unary(op, a) => {
                let from = kernel.type_of(*a);
                let a = self.value(*a, env)?;
                match (op, &a) {
                    (Unary::ToF32, Expr::U32(n)) => Expr::F32(*n as f32),
                    (Unary::ToF32, _) if from == Type::F32 => a,
                    (Unary::ToU32, _) if from == Type::U32 => a,
                    _ => Expr::Unary(*op, Box::new(a)),
                }
            }
            ir::Expr::Binary(op, a, b) => {
                let ty = kernel.type_of(*a);
                let (a, b) = (self.value(*a, env)?, self.value(*b, env)?);
                binary(*op, ty, a, b)
            }
            ir::Expr::Select(c, yes, no) => {
                let c = self.value(*c, env)?;
                let (yes, no) = (self.value(*yes, env)?, self.value(*no, env)?);
                match c {
                    Expr::Bool(true) => yes,
                    Expr::Bool(false) => no,
                    c => Expr::Select(Box::new(c), Box::new(yes), Box::new(no)),
                }
            }
            ir::Expr::Field(reduce, field) => {
                let env = self.restrict(*reduce, env);
                return Ok(self.recall(&Key::Field(*reduce, *field, env)).unwrap_or(u(0)));
            }
            ir::Expr::Element(reduce, field, index) => return self.element(*reduce, *field, *index, env),
            // A reduction is read by its fields, and a merge's operands live in a monoid.
            ir::Expr::Reduce(_) | ir::Expr::Part(..) => u(0),
            _ => u(0),
        };
        // What several readers share, or what copies share, gets a name.
        let shared = self.nest.deps.uses(id) > 1 || name.is_some() || restricted.len() < env.len();
        let kind = Kind::Value(build::scalar(kernel.type_of(id)));
        let value = if shared { self.bind(&name.unwrap_or_else(|| "v".into()), kind, value) } else { value };
        self.remember(key, value.clone());
        Ok(value)
    }

    pub fn param(&self, name: &str) -> Expr {
        Expr::Param(self.ir.params.iter().position(|p| p.name == name).unwrap_or_default())
    }

    /// An element of an array field, where it lives.
    fn element(&mut self, reduce: ExprId, field: usize, index: ExprId, env: &Env) -> Result<Expr, ScheduleError> {
        let restricted = self.restrict(reduce, env);
        if let Some(Expr::Var(array)) = self.recall(&Key::Array(reduce, field, restricted.clone())) {
            let slot = match (self.nest.kernel.expr(index), self.nest.kernel.expr(reduce)) {
                (ir::Expr::Axis(a), ir::Expr::Reduce(r))
                    if r.array.is_some_and(|c| self.nest.plan(*a).same_levels(self.nest.plan(c))) =>
                {
                    let offset = env.get(a).copied().unwrap_or(0);
                    self.private_slot(*a, offset)
                }
                // An array that each invocation has to itself lies in the order of its axis.
                (_, r) => {
                    let at = self.value(index, env)?;
                    match r {
                        ir::Expr::Reduce(Reduce { array: Some(c), .. }) if deps::is_loaded(self.nest.kernel, index) => {
                            let (lo, hi) = (self.nest.kernel.axis(*c).lo, self.nest.kernel.axis(*c).hi);
                            let count = build::sub(self.value(hi, env)?, self.value(lo, env)?);
                            build::min(at, build::sub(count, u(1)))
                        }
                        _ => at,
                    }
                }
            };
            return Ok(Expr::Element(array, Box::new(slot)));
        }
        let offset = match self.nest.kernel.expr(index) {
            ir::Expr::Axis(a) => env.get(a).copied().unwrap_or(0),
            _ => 0,
        };
        Ok(self.recall(&Key::Register(reduce, field, restricted, offset)).unwrap_or(u(0)))
    }

    /// Where a private array keeps the element at hand of an axis: step of its serial levels, then copy.
    pub fn private_slot(&self, axis: ir::AxisId, offset: u32) -> Expr {
        let copies = self.nest.plan(axis).copies();
        let at = copies.iter().position(|o| *o == offset).unwrap_or(0) as u32;
        let slot = self.bound(axis).slot;
        build::add(build::mul(slot, u(copies.len() as u32)), u(at))
    }
}
