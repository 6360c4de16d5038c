//! Workgroups: how many there are, and which value of each grid axis a workgroup has.

use super::build::{add, div, lt, mul, rem, u};
use super::{Key, Lower};
use crate::deps;
use crate::error::ScheduleError;
use crate::loops::{Builtin, Expr, Stmt};
use crate::program::Count;
use crate::shape::Extent;
use tilewright_dsl::ir::{self, AxisId, Binary, ExprId};
use tilewright_dsl::schedule::LevelKind;

impl Lower<'_> {
    /// Workgroups along x and y; the index of this one is remembered.
    pub fn dispatch(&mut self) -> Result<[Count; 2], ScheduleError> {
        let mut total = Count::Const(0);
        let mut largest = 0u64;
        for branch in &self.nest.branches {
            let (count, most) = self.workgroups(&branch.grid);
            largest = largest.saturating_add(most);
            total = Count::sum(total, count);
        }
        let limit = u64::from(self.nest.target.max_workgroups);
        if largest > limit * limit || largest > u64::from(u32::MAX) {
            let target = self.nest.target.name.clone();
            return Err(ScheduleError::TooManyWorkgroups { asked: largest, allowed: limit * limit, target });
        }
        let (dispatch, flat) = if largest <= limit {
            ([total.clone(), Count::Const(1)], Expr::Builtin(Builtin::WorkgroupX))
        } else {
            let width = fold_width(&total, largest, self.nest.target.max_workgroups);
            let y = match total {
                Count::Const(n) => Count::Const(n.div_ceil(width)),
                ref t => Count::DivCeil(Box::new(t.clone()), width),
            };
            let row = mul(Expr::Builtin(Builtin::WorkgroupY), u(width));
            let flat = self.bind_u32("workgroup", add(row, Expr::Builtin(Builtin::WorkgroupX)));
            ([Count::Const(width), y], flat)
        };
        self.remember(flat_key(), flat);
        Ok(dispatch)
    }

    /// Workgroups of a grid, and the most there can be.
    fn workgroups(&self, grid: &[AxisId]) -> (Count, u64) {
        let mut total = Count::Const(1);
        let mut largest = 1u64;
        for axis in grid {
            let (count, most) = self.grid_count(*axis);
            largest = largest.saturating_mul(u64::from(most));
            total = Count::product(total, count);
        }
        (total, largest)
    }

    /// Workgroups of a grid, as a value.
    fn workgroups_value(&mut self, grid: &[AxisId]) -> Result<Expr, ScheduleError> {
        grid.iter().try_fold(u(1), |total, axis| {
            let count = self.grid_count_value(*axis)?;
            Ok(match (total, count) {
                (Expr::U32(a), Expr::U32(b)) => u(a.saturating_mul(b)),
                (Expr::U32(1), c) | (c, Expr::U32(1)) => c,
                (a, b) => Expr::Binary(Binary::Mul, Box::new(a), Box::new(b)),
            })
        })
    }

    /// Grid axes flatten in their order, the last one fastest.
    fn grid_indices(&mut self, axes: &[AxisId], flat: Expr) -> Result<(), ScheduleError> {
        let counts: Vec<Count> = axes.iter().map(|axis| self.grid_count(*axis).0).collect();
        let mut rest = flat;
        for (i, axis) in axes.iter().enumerate().rev() {
            let index = if i == 0 {
                rest.clone()
            } else {
                match &counts[i] {
                    Count::Const(n) => rem(rest.clone(), *n),
                    _ => {
                        let n = self.grid_count_value(*axis)?;
                        Expr::Binary(Binary::Rem, Box::new(rest.clone()), Box::new(n))
                    }
                }
            };
            let name = self.nest.kernel.axis(*axis).name.clone();
            let index = self.bind_u32(&format!("{name}_group"), index);
            self.remember(grid_key(*axis), index);
            if i > 0 {
                rest = match &counts[i] {
                    Count::Const(n) => div(rest, *n),
                    _ => {
                        let n = self.grid_count_value(*axis)?;
                        Expr::Binary(Binary::Div, Box::new(rest), Box::new(n))
                    }
                };
            }
        }
        Ok(())
    }

    /// The body, all of it inside the grid: branch after branch, each for its own workgroups.
    pub fn body(&mut self) -> Result<(), ScheduleError> {
        let flat = self.recall(&flat_key()).unwrap_or(u(0));
        let branches = &self.nest.branches;
        if let [branch] = &branches[..] {
            self.grid_indices(&branch.grid, flat)?;
            return match self.surplus(&branch.grid)? {
                Some(inside) => {
                    self.open();
                    self.statements(&branch.body, &[super::Env::new()])?;
                    let inner = self.close();
                    self.emit(Stmt::If(inside, inner, vec![]));
                    Ok(())
                }
                None => self.statements(&branch.body, &[super::Env::new()]),
            };
        }
        let mut start = u(0);
        let mut done = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            let count = self.workgroups_value(&branch.grid)?;
            let end = add(start.clone(), count);
            let end = self.bind_u32(&format!("end{i}"), end);
            self.open();
            // No workgroup runs two branches.
            self.folded.clear();
            self.grid_indices(&branch.grid, super::build::sub(flat.clone(), start))?;
            self.statements(&branch.body, &[super::Env::new()])?;
            done.push((lt(flat.clone(), end.clone()), self.close()));
            start = end;
        }
        // The last branch's test also leaves out the few workgroups that a folded grid may have too many.
        let rest = done.into_iter().rev().fold(vec![], |rest, (test, body)| vec![Stmt::If(test, body, rest)]);
        rest.into_iter().for_each(|stmt| self.emit(stmt));
        Ok(())
    }

    /// A folded grid may have a few workgroups too many: the test that this is not one of them.
    fn surplus(&mut self, grid: &[AxisId]) -> Result<Option<Expr>, ScheduleError> {
        let Some(first) = grid.first().copied() else { return Ok(None) };
        if self.workgroups(grid).1 <= u64::from(self.nest.target.max_workgroups) {
            return Ok(None);
        }
        // The first axis' index runs over; the others are remainders.
        let count = self.grid_count_value(first)?;
        Ok(match lt(self.grid_index(first), count) {
            Expr::Bool(true) => None,
            test => Some(test),
        })
    }

    /// The index of this workgroup along a grid axis.
    pub fn grid_index(&self, axis: AxisId) -> Expr {
        self.recall(&grid_key(axis)).unwrap_or(u(0))
    }

    /// Workgroups along an axis, and the most there can be.
    fn grid_count(&self, axis: AxisId) -> (Count, u32) {
        let plan = self.nest.plan(axis);
        let part = self.part.filter(|p| p.axis == Some(axis)).map(|p| p.rows);
        if let Some(n) = plan.count(0, part.or(plan.extent)).filter(|_| plan.extent.is_some() || !plan.levels[0].open) {
            return (Count::Const(n), n);
        }
        let decl = self.nest.kernel.axis(axis);
        let weight = plan.level(LevelKind::Grid).map_or(1, |l| l.weight);
        let hi = self.count_of(decl.hi);
        let lo = self.count_of(decl.lo);
        let length = if lo == Count::Const(0) { hi } else { Count::Sub(Box::new(hi), Box::new(lo)) };
        let count = if weight == 1 { length } else { Count::DivCeil(Box::new(length), weight) };
        let most = deps::capacity(self.nest.kernel, self.nest.shape, decl.hi).unwrap_or(u32::MAX);
        (count, most.div_ceil(weight))
    }

    fn grid_count_value(&mut self, axis: AxisId) -> Result<Expr, ScheduleError> {
        if let (Count::Const(n), _) = self.grid_count(axis) {
            return Ok(u(n));
        }
        let decl = self.nest.kernel.axis(axis);
        let (lo, hi) = (decl.lo, decl.hi);
        let weight = self.nest.plan(axis).level(LevelKind::Grid).map_or(1, |l| l.weight);
        let env = super::Env::new();
        let length = super::build::sub(self.value(hi, &env)?, self.value(lo, &env)?);
        Ok(div(add(length, u(weight - 1)), weight))
    }

    /// A bound as an expression of the run-time parameters; `apply` has refused what is none.
    fn count_of(&self, id: ExprId) -> Count {
        let kernel = self.nest.kernel;
        match kernel.expr(id) {
            ir::Expr::U32(n) => Count::Const(*n),
            ir::Expr::Extent(e) => match self.nest.shape.get(&kernel.extents[e.0 as usize]) {
                Some(Extent::Fixed(n)) => Count::Const(n),
                _ => Count::Param(kernel.extents[e.0 as usize].clone()),
            },
            ir::Expr::Scalar(s) => Count::Param(kernel.scalars[s.0 as usize].name.clone()),
            ir::Expr::Binary(op, a, b) => {
                let divisor = deps::constant(kernel, self.nest.shape, *b).filter(|_| *op == Binary::Div);
                let (a, b) = (self.count_of(*a), divisor.map_or_else(|| self.count_of(*b), Count::Const));
                match (op, a, b) {
                    (Binary::Add, a, b) => Count::Add(Box::new(a), Box::new(b)),
                    (Binary::Sub, a, b) => Count::Sub(Box::new(a), Box::new(b)),
                    (Binary::Mul, a, b) => Count::Mul(Box::new(a), Box::new(b)),
                    (Binary::Min, a, b) => Count::Min(Box::new(a), Box::new(b)),
                    (Binary::Div, a, Count::Const(n)) if n > 0 => Count::Div(Box::new(a), n),
                    (_, a, _) => a,
                }
            }
            _ => Count::Const(1),
        }
    }
}

/// This workgroup's number.
fn flat_key() -> Key {
    Key::Text("flat".into())
}

fn grid_key(axis: AxisId) -> Key {
    Key::Text(format!("grid {}", axis.0))
}

/// A width that leaves no workgroup idle if there is one, else one that leaves few.
fn fold_width(total: &Count, largest: u64, limit: u32) -> u32 {
    if let Count::Const(n) = total
        && let Some(width) = (2..=u64::from(limit))
            .map(|rows| (u64::from(*n) / rows, u64::from(*n) % rows))
            .find_map(|(width, left)| (left == 0 && width <= u64::from(limit) && width > 256).then_some(width as u32))
    {
        return width;
    }
    let rows = largest.div_ceil(u64::from(limit));
    (largest.div_ceil(rows) as u32).next_multiple_of(64).min(limit)
}
