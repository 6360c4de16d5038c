//! The fold over a reduction's lanes: serial or a tree in workgroup memory, or shuffles inside subgroups first.

use super::Lower;
use super::build::{add, bin, div, lt, min, mul, rem, scalar, sub, u};
use super::merge::{Acc, Element, Slot};
use crate::error::ScheduleError;
use crate::loops::{Builtin, Expr, Kind, Stmt};
use crate::target::Subgroups;
use tilewright_dsl::ir::{self, AxisId, ExprId, Monoid, Reduce, Type};
use tilewright_dsl::schedule::Fold;

/// Workgroup arrays of a fold: one a field, with `rows` rows of `width` entries.
struct Arrays {
    fields: Vec<(usize, u32)>,
    width: u32,
}

impl<'n> Lower<'n> {
    /// Folds the accumulators of all copies at once. Afterwards every lane of the axis has the result, or the first one
    /// alone where nobody else reads it.
    pub fn fold_lanes(&mut self, id: ExprId, reduce: &Reduce, accs: &[Acc]) -> Result<(), ScheduleError> {
        let monoid = self.nest.kernel.monoid(reduce.monoid);
        let plan = self.nest.plan(reduce.axis);
        let (lanes, stride) = (plan.lanes, plan.stride);
        let all = self.read_by_all(id, reduce.axis);
        match (self.nest.fold(reduce.axis), self.nest.target.subgroups) {
            (Fold::Subgroup, Some(sizes)) => self.fold_subgroup(monoid, accs, (lanes, stride), sizes),
            (Fold::Serial, _) => self.fold_serial(monoid, accs, lanes, stride),
            _ => self.fold_tree(monoid, accs, lanes, stride, all),
        }
    }

    /// Whether more than the first lane of the axis reads the result.
    fn read_by_all(&self, id: ExprId, axis: AxisId) -> bool {
        let kernel = self.nest.kernel;
        let in_reduction = kernel.exprs.iter().any(|e| match e {
            ir::Expr::Reduce(r) => {
                let decl = kernel.axis(r.axis);
                r.body.iter().chain([&decl.lo, &decl.hi]).any(|b| reads(kernel, *b, id))
            }
            _ => false,
        });
        let plan = self.nest.plan(axis);
        let (from, to) = (plan.stride, plan.stride * plan.lanes);
        let mut shared = in_reduction;
        stores(&kernel.body, &mut vec![], &mut |chain, value| {
            let overlaps = |a: &AxisId| {
                let p = self.nest.plan(*a);
                p.lanes > 1 && p.stride < to && from < p.stride * p.lanes
            };
            shared |= reads(kernel, value, id) && chain.iter().any(overlaps);
        });
        shared
    }

    fn arrays(&mut self, monoid: &Monoid, accs: &[Acc], width: u32) -> Arrays {
        let mut again = self.loops > 0;
        let mut fields = Vec::new();
        for (f, field) in monoid.fields.iter().enumerate() {
            let slots = match &accs[0][f] {
                Slot::One(_) => 1,
                Slot::Copies(r) => r.len() as u32,
                Slot::Array(_, n) => *n,
            };
            let len = width * slots * accs.len() as u32;
            let taken: Vec<usize> = fields.iter().map(|x: &(usize, u32)| x.0).collect();
            let free = self.pool.iter().copied().find(|i| {
                let s = &self.ir.shared[*i];
                s.elem == field.ty && s.len == len && !taken.contains(i)
            });
            let index = match free {
                Some(i) => {
                    again |= self.folded.contains(&i);
                    i
                }
                None => {
                    let name = if monoid.fields.len() == 1 { "fold".into() } else { format!("fold_{}", field.name) };
                    let i = self.shared(&name, field.ty, len);
                    self.pool.push(i);
                    i
                }
            };
            fields.push((index, slots));
            self.folded.insert(index);
        }
        if again {
            // Others may still read what an earlier fold left here.
            self.emit(Stmt::Barrier);
        }
        Arrays { fields, width }
    }

    fn at(arrays: &Arrays, field: usize, acc: usize, slot: Expr, entry: Expr) -> Expr {
        let rows = add(u(acc as u32 * arrays.fields[field].1), slot);
        add(mul(rows, u(arrays.width)), entry)
    }

    /// Writes the accumulators to an entry of the arrays.
    fn publish(&mut self, accs: &[Acc], arrays: &Arrays, entry: &Expr) {
        for (a, acc) in accs.iter().enumerate() {
            for (f, slot) in acc.iter().enumerate() {
                let array = arrays.fields[f].0;
                match slot {
                    Slot::One(var) => {
                        let at = Self::at(arrays, f, a, u(0), entry.clone());
                        self.emit(Stmt::StoreShared(array, at, Expr::Var(*var)));
                    }
                    Slot::Copies(registers) => {
                        for (i, (_, var)) in registers.iter().enumerate() {
                            let at = Self::at(arrays, f, a, u(i as u32), entry.clone());
                            self.emit(Stmt::StoreShared(array, at, Expr::Var(*var)));
                        }
                    }
                    Slot::Array(var, len) => {
                        let i = self.var("i", Kind::Value(scalar(Type::U32)));
                        let at = Self::at(arrays, f, a, Expr::Var(i), entry.clone());
                        let value = Expr::Element(*var, Box::new(Expr::Var(i)));
                        let body = vec![Stmt::StoreShared(array, at, value)];
                        self.emit(Stmt::For { var: i, start: u(0), end: u(*len), step: u(1), body });
                    }
                }
            }
        }
    }

    /// Merges an entry of the arrays into the accumulators.
    fn absorb(&mut self, monoid: &Monoid, accs: &[Acc], arrays: &Arrays, entry: &Expr) -> Result<(), ScheduleError> {
        for (a, acc) in accs.iter().enumerate() {
            let read = |f: usize, slot: Expr| {
                Expr::Shared(arrays.fields[f].0, Box::new(Self::at(arrays, f, a, slot, entry.clone())))
            };
            let scalars: Vec<Option<Expr>> =
                acc.iter().enumerate().map(|(f, s)| matches!(s, Slot::One(_)).then(|| read(f, u(0)))).collect();
            self.merge(monoid, acc, &scalars, None, &mut |_, f, element| {
                Ok(match element {
                    Element::Copy(i) => read(f, u(*i)),
                    Element::At(i) => read(f, i.clone()),
                })
            })?;
        }
        Ok(())
    }

    /// Sets the accumulators to an entry of the arrays.
    fn take(&mut self, accs: &[Acc], arrays: &Arrays, entry: &Expr) {
        for (a, acc) in accs.iter().enumerate() {
            for (f, slot) in acc.iter().enumerate() {
                let read = |slot: Expr| {
                    Expr::Shared(arrays.fields[f].0, Box::new(Self::at(arrays, f, a, slot, entry.clone())))
                };
                match slot {
                    Slot::One(var) => self.emit(Stmt::Assign(*var, read(u(0)))),
                    Slot::Copies(registers) => {
                        for (i, (_, var)) in registers.iter().enumerate() {
                            self.emit(Stmt::Assign(*var, read(u(i as u32))));
                        }
                    }
                    Slot::Array(var, len) => {
                        let i = self.var("i", Kind::Value(scalar(Type::U32)));
                        let body = vec![Stmt::SetElement(*var, Expr::Var(i), read(Expr::Var(i)))];
                        self.emit(Stmt::For { var: i, start: u(0), end: u(*len), step: u(1), body });
                    }
                }
            }
        }
    }

    fn fold_tree(
        &mut self,
        monoid: &Monoid,
        accs: &[Acc],
        lanes: u32,
        stride: u32,
        all: bool,
    ) -> Result<(), ScheduleError> {
        let arrays = self.arrays(monoid, accs, self.nest.workgroup);
        let lane = Self::lane();
        let index = self.lane_index(stride, lanes);
        let index = self.bind_u32("fold_lane", index);
        self.publish(accs, &arrays, &lane);
        let mut half = lanes / 2;
        while half > 0 {
            self.emit(Stmt::Barrier);
            self.open();
            self.absorb(monoid, accs, &arrays, &add(lane.clone(), u(half * stride)))?;
            if half > 1 || all {
                self.publish(accs, &arrays, &lane);
            }
            let body = self.close();
            self.emit(Stmt::If(lt(index.clone(), u(half)), body, vec![]));
            half /= 2;
        }
        if all {
            self.emit(Stmt::Barrier);
            let first = self.first_lane(lanes, stride);
            self.take(accs, &arrays, &first);
        }
        Ok(())
    }

    /// The first lane of this invocation's group along the axis.
    fn first_lane(&self, lanes: u32, stride: u32) -> Expr {
        let index = mul(self.lane_index(stride, lanes), u(stride));
        if stride * lanes == self.nest.workgroup && stride == 1 { u(0) } else { sub(Self::lane(), index) }
    }

    fn fold_serial(&mut self, monoid: &Monoid, accs: &[Acc], lanes: u32, stride: u32) -> Result<(), ScheduleError> {
        let arrays = self.arrays(monoid, accs, self.nest.workgroup);
        self.publish(accs, &arrays, &Self::lane());
        self.emit(Stmt::Barrier);
        let first = self.first_lane(lanes, stride);
        let first = self.bind_u32("first", first);
        self.take(accs, &arrays, &first);
        let other = self.var("other", Kind::Value(scalar(Type::U32)));
        self.open();
        self.loops += 1;
        self.absorb(monoid, accs, &arrays, &add(first, mul(Expr::Var(other), u(stride))))?;
        self.loops -= 1;
        let body = self.close();
        self.emit(Stmt::For { var: other, start: u(1), end: u(lanes), step: u(1), body });
        Ok(())
    }

    /// Lanes lie `stride` apart, a power of two: as many of them as one subgroup holds shuffle, and what is left of each such
    /// group meets in workgroup memory, an entry for each invocation beneath the axis.
    fn fold_subgroup(
        &mut self,
        monoid: &Monoid,
        accs: &[Acc],
        (lanes, stride): (u32, u32),
        sizes: Subgroups,
    ) -> Result<(), ScheduleError> {
        let least = (sizes.min / stride).clamp(1, lanes);
        // How many lanes shuffle: within the subgroup, and no more than the axis has.
        let near = if least == lanes || sizes.min == sizes.max {
            u(least)
        } else {
            let held = div(Expr::Builtin(Builtin::SubgroupSize), stride);
            let held = if stride > sizes.min { bin(ir::Binary::Max, held, u(1)) } else { held };
            self.bind_u32("near", min(held, u(lanes)))
        };
        let mut next = 1;
        while next < lanes && next * stride < sizes.max {
            let certain = next * stride < sizes.min;
            if !certain {
                self.open();
            }
            for acc in accs {
                self.shuffle(monoid, acc, next * stride)?;
            }
            if !certain {
                let body = self.close();
                self.emit(Stmt::If(lt(u(next), near.clone()), body, vec![]));
            }
            next *= 2;
        }
        if least == lanes {
            return Ok(());
        }
        let arrays = self.arrays(monoid, accs, self.nest.workgroup / least);
        let (along, beneath) = (div(Self::lane(), stride), rem(Self::lane(), stride));
        let (group, index) = match &near {
            Expr::U32(n) => (div(Self::lane(), stride * n), rem(along, *n)),
            near => {
                let of = |op| bin(op, along.clone(), near.clone());
                (of(ir::Binary::Div), of(ir::Binary::Rem))
            }
        };
        let group = self.bind_u32("near_group", add(mul(group, u(stride)), beneath.clone()));
        self.open();
        self.publish(accs, &arrays, &group);
        let body = self.close();
        self.emit(Stmt::If(bin(ir::Binary::Eq, index, u(0)), body, vec![]));
        self.emit(Stmt::Barrier);
        let count = match &near {
            Expr::U32(n) => u(lanes / n),
            near => bin(ir::Binary::Div, u(lanes), near.clone()),
        };
        let count = self.bind_u32("near_groups", count);
        let outer = if lanes * stride == self.nest.workgroup { u(0) } else { div(Self::lane(), lanes * stride) };
        let first = add(mul(outer, mul(count.clone(), u(stride))), beneath);
        let first = if first == u(0) { first } else { self.bind_u32("first", first) };
        // From the identity on, so that the loop runs at least once at every subgroup size.
        self.reset(monoid, accs);
        let other = self.var("other", Kind::Value(scalar(Type::U32)));
        self.open();
        self.absorb(monoid, accs, &arrays, &add(first, mul(Expr::Var(other), u(stride))))?;
        let body = self.close();
        self.emit(Stmt::For { var: other, start: u(0), end: count, step: u(1), body });
        Ok(())
    }

    /// Sets the accumulators to the identity.
    fn reset(&mut self, monoid: &Monoid, accs: &[Acc]) {
        for acc in accs {
            for (f, slot) in acc.iter().enumerate() {
                let identity = self.identity(monoid, f);
                match slot {
                    Slot::One(var) => self.emit(Stmt::Assign(*var, identity)),
                    Slot::Copies(registers) => {
                        for (_, var) in registers {
                            self.emit(Stmt::Assign(*var, identity.clone()));
                        }
                    }
                    Slot::Array(var, len) => {
                        let i = self.var("i", Kind::Value(scalar(Type::U32)));
                        let body = vec![Stmt::SetElement(*var, Expr::Var(i), identity)];
                        self.emit(Stmt::For { var: i, start: u(0), end: u(*len), step: u(1), body });
                    }
                }
            }
        }
    }

    /// Merges the accumulators of the invocation whose subgroup index differs in `mask`.
    fn shuffle(&mut self, monoid: &Monoid, acc: &Acc, mask: u32) -> Result<(), ScheduleError> {
        let of = |e: Expr| Expr::ShuffleXor(Box::new(e), Box::new(u(mask)));
        let mut scalars = Vec::new();
        for (f, slot) in acc.iter().enumerate() {
            scalars.push(match slot {
                Slot::One(var) => {
                    let field = &monoid.fields[f];
                    let kind = Kind::Value(scalar(field.ty));
                    Some(self.bind(&format!("{}_near", field.name), kind, of(Expr::Var(*var))))
                }
                _ => None,
            });
        }
        self.merge(monoid, acc, &scalars, None, &mut |_, f, element| {
            Ok(match (&acc[f], element) {
                (Slot::Copies(registers), Element::Copy(i)) => of(Expr::Var(registers[*i as usize].1)),
                (Slot::Array(var, _), Element::At(i)) => of(Expr::Element(*var, Box::new(i.clone()))),
                _ => u(0),
            })
        })
    }
}

fn reads(kernel: &ir::Kernel, from: ExprId, id: ExprId) -> bool {
    crate::deps::any(kernel, from, |e| e == id)
}

fn stores(body: &[ir::Stmt], chain: &mut Vec<AxisId>, found: &mut impl FnMut(&[AxisId], ExprId)) {
    for stmt in body {
        match stmt {
            ir::Stmt::For(axis, inner) => {
                chain.push(*axis);
                stores(inner, chain, found);
                chain.pop();
            }
            ir::Stmt::Store(_, indices, value) => {
                for id in indices.iter().chain([value]) {
                    found(chain, *id);
                }
            }
        }
    }
}
