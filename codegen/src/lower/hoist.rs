//! Where reductions and lets are computed: as soon as all axes that they depend on are entered.

use super::{Env, Key, Lower};
use crate::apply::TileOf;
use crate::deps::{AxisSet, operands};
use crate::error::ScheduleError;
use std::collections::HashSet;
use tilewright_dsl::ir::{AxisId, Expr, ExprId, Stmt};
use tilewright_dsl::schedule::Place;

impl Lower<'_> {
    /// Axes that are entered.
    pub fn entered(&self) -> AxisSet {
        (0..self.bound.len() as u32)
            .map(AxisId)
            .filter(|a| self.bound[a.0 as usize].is_some())
            .fold(AxisSet::default(), |s, a| s.union(AxisSet::of(a)))
    }

    /// The axis inside which a `compute` line wants a value.
    fn moved(&self, id: ExprId) -> Option<AxisId> {
        let reduce = match self.nest.kernel.expr(id) {
            Expr::Field(r, _) => *r,
            _ => id,
        };
        self.nest.tiles.iter().find(|t| t.what == TileOf::Value(id) || t.what == TileOf::Value(reduce)).map(|t| t.axis)
    }

    /// Computes what these statements need and what depends on entered axes alone.
    pub fn hoist(&mut self, body: &[Stmt], envs: &[Env]) -> Result<(), ScheduleError> {
        let mut found = Vec::new();
        let (entered, mut seen) = (self.entered(), HashSet::new());
        for id in roots(body) {
            self.ready(id, entered, &mut found, &mut seen);
        }
        for id in found {
            self.prepare(&[id], envs)?;
            if !matches!(self.nest.kernel.expr(id), Expr::Reduce(_)) {
                for env in envs {
                    self.value(id, env)?;
                }
            }
        }
        Ok(())
    }

    /// Reductions and lets inside an expression that can be computed now.
    fn ready(&self, id: ExprId, entered: AxisSet, found: &mut Vec<ExprId>, seen: &mut HashSet<ExprId>) {
        if !seen.insert(id) {
            return;
        }
        let kernel = self.nest.kernel;
        let is_let = kernel.lets.iter().any(|l| l.value == id) && !matches!(kernel.expr(id), Expr::Load(..));
        // Elements that are changed in place are read behind the store's mask.
        let is_let = is_let && !self.reads_in_place(id) && !self.of_elements(id);
        let due = self.nest.deps.free(id).within(entered) && self.moved(id).is_none_or(|a| entered.has(a));
        if due && (is_let || matches!(kernel.expr(id), Expr::Reduce(_))) {
            found.push(id);
            return;
        }
        for operand in operands(kernel, kernel.expr(id)) {
            self.ready(operand, entered, found, seen);
        }
    }

    /// Computes the reductions that these values need.
    pub fn prepare(&mut self, ids: &[ExprId], envs: &[Env]) -> Result<(), ScheduleError> {
        let mut needed = Vec::new();
        let (entered, mut seen) = (self.entered(), HashSet::new());
        for id in ids {
            self.needed(*id, entered, &mut needed, &mut seen);
        }
        for id in needed {
            let mut distinct: Vec<Env> = Vec::new();
            for env in envs {
                let env = self.restrict(id, env);
                let known = [Key::Field(id, 0, env.clone()), Key::Fragment(id, 0, env.clone())];
                if !distinct.contains(&env) && known.iter().all(|key| self.recall(key).is_none()) {
                    distinct.push(env);
                }
            }
            // A reduction without scalar fields is known by its arrays.
            distinct.retain(|env| {
                let array = self.recall(&Key::Array(id, 0, env.clone()));
                array.is_none() && self.recall(&Key::Register(id, 0, env.clone(), 0)).is_none()
            });
            if !distinct.is_empty() {
                self.reduce(id, &distinct)?;
            }
        }
        Ok(())
    }

    /// Reductions inside an expression that are to be computed here, operands first.
    fn needed(&self, id: ExprId, entered: AxisSet, needed: &mut Vec<ExprId>, seen: &mut HashSet<ExprId>) {
        if !seen.insert(id) || self.tiles.iter().any(|t| t.what == TileOf::Value(id)) {
            return;
        }
        let kernel = self.nest.kernel;
        let reduces = matches!(kernel.expr(id), Expr::Reduce(_));
        if reduces && !self.nest.deps.free(id).within(entered) {
            return;
        }
        for operand in operands(kernel, kernel.expr(id)) {
            self.needed(operand, entered, needed, seen);
        }
        if reduces {
            needed.push(id);
        }
    }

    /// Whether computing these values inside `inside` needs all invocations together.
    pub fn together(&self, ids: &[ExprId], inside: AxisSet) -> bool {
        let mut seen = HashSet::new();
        ids.iter().any(|id| self.cooperative(*id, inside, &mut seen))
    }

    fn cooperative(&self, id: ExprId, inside: AxisSet, seen: &mut HashSet<(ExprId, AxisSet)>) -> bool {
        if !seen.insert((id, inside)) {
            return false;
        }
        let kernel = self.nest.kernel;
        if let Expr::Reduce(reduce) = kernel.expr(id) {
            let free = self.nest.deps.free(id);
            let within = free.minus(inside) != free || self.moved(id).is_some_and(|a| inside.has(a));
            if !within {
                return false;
            }
            if self.nest.plan(reduce.axis).lanes > 1 || self.held(reduce.axis) {
                return true;
            }
            let inside = inside.union(AxisSet::of(reduce.axis));
            return reduce.body.iter().any(|b| self.cooperative(*b, inside, seen));
        }
        operands(kernel, kernel.expr(id)).into_iter().any(|o| self.cooperative(o, inside, seen))
    }

    /// Whether a tile is filled at one of the axis' levels.
    pub fn held(&self, axis: AxisId) -> bool {
        self.nest.tiles.iter().any(|t| t.axis == axis && t.place == Place::Workgroup)
    }
}

/// All values and indices that statements store.
pub fn roots(body: &[Stmt]) -> Vec<ExprId> {
    body.iter()
        .flat_map(|s| match s {
            Stmt::For(_, inner) => roots(inner),
            Stmt::Store(_, indices, value) => indices.iter().copied().chain([*value]).collect(),
        })
        .collect()
}
