//! A reduction: accumulators, the loops over its axis, merges, and the fold over its lanes.

use super::axes::Mask;
use super::build::{add, lt, scalar, u};
use super::merge::{Acc, Slot};
use super::{Env, Key, Lower};
use crate::apply::adds;
use crate::deps::AxisSet;
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Stmt};
use std::collections::{BTreeMap, HashMap};
use tilewright_dsl::ir::{self, AxisId, ExprId, Reduce};
use tilewright_dsl::schedule::LevelKind;

impl Lower<'_> {
    /// Computes a reduction for these copies, and remembers its fields.
    pub fn reduce(&mut self, id: ExprId, envs: &[Env]) -> Result<(), ScheduleError> {
        let kernel = self.nest.kernel;
        let ir::Expr::Reduce(reduce) = kernel.expr(id) else { return Ok(()) };
        let decl = kernel.axis(reduce.axis);
        // Copies whose bounds differ cannot share a loop.
        let mut groups: BTreeMap<Env, Vec<Env>> = BTreeMap::new();
        for env in envs {
            let mut bounds = self.restrict(decl.lo, env);
            bounds.append(&mut self.restrict(decl.hi, env));
            groups.entry(bounds).or_default().push(env.clone());
        }
        for (bounds, members) in groups {
            self.reduce_group(id, reduce, &bounds, &members)?;
        }
        Ok(())
    }

    fn reduce_group(
        &mut self,
        id: ExprId,
        reduce: &Reduce,
        bounds: &Env,
        members: &[Env],
    ) -> Result<(), ScheduleError> {
        let products = self.products_of(id);
        if !products.is_empty() {
            return self.multiply(&products, reduce, bounds, members);
        }
        let kernel = self.nest.kernel;
        let monoid = kernel.monoid(reduce.monoid);
        let axis = reduce.axis;
        let name = kernel
            .lets
            .iter()
            .find(|l| l.value == id || matches!(kernel.expr(l.value), ir::Expr::Field(r, _) if *r == id))
            .map_or_else(|| monoid.name.to_lowercase(), |l| l.name.rsplit('.').next().unwrap_or(&l.name).to_string());
        let accs: Vec<Acc> = members.iter().map(|_| self.accumulators(&name, monoid, reduce.array)).collect();
        let together = self.held(axis) || self.together(&reduce.body, AxisSet::of(axis));
        if together {
            self.same_for_all(axis);
        }
        self.early_scales(reduce, self.entered(), members)?;
        let entered = self.enter(axis, bounds, together)?;
        self.steps(reduce, members, &accs)?;
        self.leave(entered);
        if self.nest.plan(axis).lanes > 1 {
            self.fold_lanes(id, reduce, &accs)?;
        }
        for (env, acc) in members.iter().zip(&accs) {
            for (f, slot) in acc.iter().enumerate() {
                let (key, value) = match slot {
                    Slot::One(var) => (Key::Field(id, f, env.clone()), Expr::Var(*var)),
                    Slot::Array(var, _) => (Key::Array(id, f, env.clone()), Expr::Var(*var)),
                    Slot::Copies(registers) => {
                        for (offset, var) in registers {
                            self.remember(Key::Register(id, f, env.clone(), *offset), Expr::Var(*var));
                        }
                        continue;
                    }
                };
                self.remember(key, value);
            }
        }
        Ok(())
    }

    /// One step of the loops: all copies of the axis, for all copies of the result.
    fn steps(&mut self, reduce: &Reduce, members: &[Env], accs: &[Acc]) -> Result<(), ScheduleError> {
        let axis = reduce.axis;
        let plan = self.nest.plan(axis).clone();
        let vector = plan.vector() as usize;
        let offsets = plan.copies();
        let mask = self.bound(axis).mask;
        // Where barriers may follow, values are made on clamped indices, all of them together; only the merges are masked.
        if mask != Mask::Copies {
            let each = (mask == Mask::All).then_some(mask);
            return self.batch(reduce, members, accs, &offsets, each);
        }
        let whole_groups = plan.extent.is_some_and(|n| (n as usize).is_multiple_of(vector));
        for group in offsets.chunks(vector) {
            let bound = self.bound(axis);
            let inside = lt(add(bound.base, u(group[0])), bound.hi);
            let apart = group[0] > 0;
            if apart {
                self.open();
                self.test(axis, group[0]);
            }
            let each = (!whole_groups).then_some(mask);
            self.batch(reduce, members, accs, group, each)?;
            if apart {
                self.test(axis, 0);
                let body = self.close();
                self.emit(Stmt::If(inside, body, vec![]));
            }
        }
        Ok(())
    }

    /// Notes that a condition around what follows has found this copy of an axis inside its range; 0 ends it.
    fn test(&mut self, axis: AxisId, offset: u32) {
        if let Some(bound) = &mut self.bound[axis.0 as usize] {
            bound.tested = offset;
        }
    }

    /// Values of these offsets, then their merges; with `each`, merges outside the range are left out.
    fn batch(
        &mut self,
        reduce: &Reduce,
        members: &[Env],
        accs: &[Acc],
        offsets: &[u32],
        each: Option<Mask>,
    ) -> Result<(), ScheduleError> {
        let kernel = self.nest.kernel;
        let monoid = kernel.monoid(reduce.monoid);
        let copies = self.nest.plan(reduce.axis).copies().len() > 1;
        let mut points = Vec::new();
        for offset in offsets {
            for (env, acc) in members.iter().zip(accs) {
                let mut env = env.clone();
                if copies {
                    env.insert(reduce.axis, *offset);
                }
                points.push((env, acc, *offset));
            }
        }
        let envs: Vec<Env> = points.iter().map(|p| p.0.clone()).collect();
        let elements = self.early(reduce, &envs)?;
        let scalars: Vec<ExprId> = (0..reduce.body.len())
            .filter(|f| reduce.array.is_none() || !monoid.fields[*f].array)
            .map(|f| reduce.body[f])
            .collect();
        self.prepare(&scalars, &envs)?;
        let mut values = Vec::new();
        for (env, ..) in &points {
            let mut row = Vec::new();
            for (f, body) in reduce.body.iter().enumerate() {
                let scalar = reduce.array.is_none() || !monoid.fields[f].array;
                row.push(if scalar { Some(self.value(*body, env)?) } else { None });
            }
            values.push(row);
        }
        if each.is_none() && !self.scales.is_empty() && adds(monoid) {
            self.add_terms(&points, values);
            return Ok(());
        }
        for (point, ((env, acc, offset), row)) in points.into_iter().zip(values).enumerate() {
            let masked = match each {
                Some(Mask::All) => true,
                Some(Mask::Copies) => !self.surely_inside(reduce.axis, offset),
                _ => false,
            };
            if masked {
                self.open();
            }
            self.merge(monoid, acc, &row, reduce.array, &mut |this, field, element| {
                if let super::merge::Element::Copy(i) = element
                    && let Some(known) = elements.get(&(point, field, *i))
                {
                    return Ok(known.clone());
                }
                let mut env = env.clone();
                if let (super::merge::Element::Copy(i), Some(array)) = (element, reduce.array) {
                    let all = this.nest.plan(array).copies();
                    if all.len() > 1 {
                        env.insert(array, all[*i as usize]);
                    }
                }
                this.prepare(&[reduce.body[field]], std::slice::from_ref(&env))?;
                this.value(reduce.body[field], &env)
            })?;
            if masked {
                let body = self.close();
                let bound = self.bound(reduce.axis);
                self.emit(Stmt::If(lt(add(bound.base, u(offset)), bound.hi), body, vec![]));
            }
        }
        Ok(())
    }

    /// Elements of array fields that can be loaded before the scalar fields are computed, by point, field and copy: a merge may
    /// stand behind a condition or a barrier, where a device begins its loads too late. What is loaded here lies on clamped
    /// indices.
    fn early(&mut self, reduce: &Reduce, envs: &[Env]) -> Result<HashMap<(usize, usize, u32), Expr>, ScheduleError> {
        let mut found = HashMap::new();
        let Some(array) = reduce.array else { return Ok(found) };
        let plan = self.nest.plan(array);
        let whole = plan.exact && plan.levels.iter().all(|l| l.kind != LevelKind::Serial || l.size == Some(1));
        let kernel = self.nest.kernel;
        let fields = kernel.monoid(reduce.monoid).fields.iter().enumerate().filter(|(_, f)| f.array);
        let loads: Vec<usize> =
            fields.map(|(f, _)| f).filter(|f| matches!(kernel.expr(reduce.body[*f]), ir::Expr::Load(..))).collect();
        if !whole || loads.is_empty() || plan.lanes == 1 {
            return Ok(found);
        }
        let copies = plan.copies();
        let entered = self.enter(array, &Env::new(), false)?;
        for (point, env) in envs.iter().enumerate() {
            for field in &loads {
                for (i, offset) in copies.iter().enumerate() {
                    let mut env = env.clone();
                    if copies.len() > 1 {
                        env.insert(array, *offset);
                    }
                    let value = self.value(reduce.body[*field], &env)?;
                    let ty = kernel.monoid(reduce.monoid).fields[*field].ty;
                    let name = &kernel.monoid(reduce.monoid).fields[*field].name;
                    let value = self.bind(&format!("{name}_next"), Kind::Value(scalar(ty)), value);
                    found.insert((point, *field, i as u32), value);
                }
            }
        }
        self.leave(entered);
        Ok(found)
    }
}
