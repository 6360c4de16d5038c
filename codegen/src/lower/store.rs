//! The kernel's statements: axes are entered, and stores guarded so that each element is written once.

use super::build::{and, bin, div, lt, rem, u};
use super::hoist::roots;
use super::{Env, Lower};
use crate::apply::{last_axis, tensors_guard};
use crate::deps::{AxisSet, any};
use crate::error::ScheduleError;
use crate::loops::{Expr, Stmt as Out};
use tilewright_dsl::ir::{self, AxisId, Binary, ExprId, Stmt, TensorId};
use tilewright_dsl::schedule::Storage;

impl Lower<'_> {
    /// Lowers statements for all copies at hand.
    pub fn statements(&mut self, body: &[Stmt], envs: &[Env]) -> Result<(), ScheduleError> {
        self.hoist(body, envs)?;
        let mut rest = body;
        while let Some(first) = rest.first() {
            if let Stmt::For(axis, inner) = first {
                self.for_axis(*axis, inner, envs)?;
                rest = &rest[1..];
                continue;
            }
            let run = rest.iter().take_while(|s| matches!(s, Stmt::Store(..))).count();
            self.stores(&rest[..run], envs)?;
            rest = &rest[run..];
        }
        Ok(())
    }

    fn for_axis(&mut self, axis: AxisId, inner: &[Stmt], envs: &[Env]) -> Result<(), ScheduleError> {
        let mut inside = AxisSet::of(axis);
        let mut held = self.held(axis);
        collect_axes(inner, &mut |a| {
            inside = inside.union(AxisSet::of(a));
            held |= self.held(a);
        });
        let together = held || self.together(&roots(inner), inside);
        if together {
            self.same_for_all(axis);
        }
        let entered = self.enter(axis, &envs[0], together)?;
        self.chain.push(axis);
        let envs = self.copies(axis, envs);
        self.statements(inner, &envs)?;
        self.chain.pop();
        self.leave(entered);
        Ok(())
    }

    /// Loops with barriers inside must run equally often in all invocations: bounds that differ between lanes must grow with
    /// them, so that all can run as long as the last one.
    pub fn same_for_all(&mut self, axis: AxisId) {
        let decl = self.nest.kernel.axis(axis);
        let differs = |id| {
            let free = self.nest.deps.free(id);
            (0..self.bound.len() as u32).map(AxisId).find(|a| free.has(*a) && self.nest.plan(*a).lanes > 1)
        };
        let other = differs(decl.lo).or_else(|| differs(decl.hi).filter(|_| !grows(self.nest.kernel, decl.hi)));
        if let Some(other) = other {
            let other = self.nest.kernel.axis(other).name.clone();
            self.wrong(ScheduleError::Divergent { axis: decl.name.clone(), other });
        }
    }

    /// Neighbouring stores: all values first, then all writes.
    pub fn stores(&mut self, stores: &[Stmt], envs: &[Env]) -> Result<(), ScheduleError> {
        if self.in_fragments() {
            return self.store_fragments(stores, envs);
        }
        self.prepare(&roots(stores), envs)?;
        let guard = self.one_lane();
        if guard.is_some() {
            self.open();
        }
        // What another invocation writes must not be read where the store is masked: a clamped index is another's element.
        let in_place = roots(stores).iter().any(|id| self.reads_in_place(*id));
        let mut writes = Vec::new();
        for env in envs {
            let mut mask = None;
            for axis in self.chain.clone() {
                mask = self.inside(axis, env, mask);
            }
            mask = self.in_part(env, mask)?;
            let alone = mask.clone().filter(|_| in_place);
            if alone.is_some() {
                self.open();
            }
            let mut own = Vec::new();
            for store in stores {
                let Stmt::Store(tensor, indices, value) = store else { continue };
                if let Some((at, value)) = self.stored(*tensor, indices, *value, env)? {
                    own.push((mask.clone(), Out::Store(self.buffer(*tensor), at, value)));
                }
            }
            let Some(alone) = alone else {
                writes.append(&mut own);
                continue;
            };
            if own.len() > 1 {
                self.name_values(&mut own);
            }
            own.into_iter().for_each(|(_, write)| self.emit(write));
            let body = self.close();
            writes.push((None, Out::If(alone, body, vec![])));
        }
        if writes.len() > 1 {
            self.name_values(&mut writes);
        }
        let mut writes = writes.into_iter().peekable();
        while let Some((mask, write)) = writes.next() {
            let Some(mask) = mask else {
                self.emit(write);
                continue;
            };
            let mut together = vec![write];
            while let Some((_, next)) = writes.next_if(|(m, _)| m.as_ref() == Some(&mask)) {
                together.push(next);
            }
            self.emit(Out::If(mask, together, vec![]));
        }
        if let Some(guard) = guard {
            let inner = self.close();
            self.emit(Out::If(guard, inner, vec![]));
        }
        Ok(())
    }

    /// The word that a copy writes and what it writes; of a packed word, whose halves are neighbouring copies, the first one writes
    /// both and the second one nothing.
    fn stored(
        &mut self,
        tensor: TensorId,
        indices: &[ExprId],
        value: ExprId,
        env: &Env,
    ) -> Result<Option<(Expr, Expr)>, ScheduleError> {
        let kernel = self.nest.kernel;
        let packed = self.nest.layout(tensor).storage != Storage::F32;
        let Some((axis, _)) = last_axis(kernel, indices).filter(|_| packed) else {
            let value = self.value(value, env)?;
            return Ok(Some((self.flat(tensor, indices, env)?, value)));
        };
        let offset = env.get(&axis).copied().unwrap_or(0);
        if offset % 2 == 1 {
            return Ok(None);
        }
        let mut next = env.clone();
        next.insert(axis, offset + 1);
        let (low, high) = (self.value(value, env)?, self.value(value, &next)?);
        let at = self.flat(tensor, indices, env)?;
        Ok(Some((div(at, 2), Expr::PackF16(Box::new(low), Box::new(high)))))
    }

    /// Whether a value is made of elements that the kernel changes in place.
    pub fn reads_in_place(&self, id: ir::ExprId) -> bool {
        let kernel = self.nest.kernel;
        let in_place = |e| matches!(kernel.expr(e), ir::Expr::Load(t, _) if kernel.tensor(*t).role == ir::Role::InOut);
        any(kernel, id, in_place)
    }

    /// With several writes, what one of them reads may be what another one writes: values get names before the first write.
    fn name_values(&mut self, writes: &mut [(Option<Expr>, Out)]) {
        let written = |b: usize| self.ir.buffers[b].access == crate::loops::Access::ReadWrite;
        let reads: Vec<bool> =
            writes.iter().map(|(_, w)| matches!(w, Out::Store(_, _, v) if reads_buffer(v, &written))).collect();
        for ((_, write), reads) in writes.iter_mut().zip(reads) {
            if let Out::Store(buffer, _, value) = write
                && reads
            {
                let elem = self.ir.buffers[*buffer].elem;
                let kind = crate::loops::Kind::Value(super::build::scalar(elem));
                *value = self.bind("next", kind, value.clone());
            }
        }
    }

    /// The test that this invocation is the one that stores, among those that hold the same value.
    fn one_lane(&self) -> Option<Expr> {
        let mut covered: Vec<(u32, u32)> = self
            .chain
            .iter()
            .map(|a| self.nest.plan(*a))
            .filter(|p| p.lanes > 1)
            .map(|p| (p.stride, p.lanes))
            .collect();
        covered.extend(self.element.into_iter().flatten().filter(|lanes| lanes.1 > 1));
        covered.sort_unstable();
        let mut guard = None;
        let mut at = 1;
        for (stride, lanes) in covered {
            if stride > at {
                let gap = rem(div(Self::lane(), at), stride / at);
                guard = Some(and(guard, bin(Binary::Eq, gap, u(0))));
            }
            at = stride * lanes;
        }
        if at < self.nest.workgroup {
            let rest = if at == 1 { bin(Binary::Eq, Self::lane(), u(0)) } else { lt(Self::lane(), u(at)) };
            guard = Some(and(guard, rest));
        }
        guard
    }

    /// Where the tensor is split and its row is loaded: the test that the row lies in this part.
    fn in_part(&mut self, env: &Env, mask: Option<Expr>) -> Result<Option<Expr>, ScheduleError> {
        let Some(part) = self.part.filter(|p| p.axis.is_none()) else { return Ok(mask) };
        let Some(index) = tensors_guard(self.nest.kernel, part.tensor) else { return Ok(mask) };
        let row = self.value(index, env)?;
        let rows = self.nest.layout(part.tensor).dims[0];
        // The whole tensor's clamp comes first: an id beyond it belongs to the last part.
        let row = super::build::min(row, u(rows - 1));
        let from = bin(Binary::Ge, row.clone(), u(part.start));
        Ok(Some(and(Some(and(mask, from)), lt(row, u(part.start + part.rows)))))
    }
}

/// Whether a bound can only grow with the axes in it.
fn grows(kernel: &ir::Kernel, id: ir::ExprId) -> bool {
    match kernel.expr(id) {
        ir::Expr::Axis(_) | ir::Expr::U32(_) | ir::Expr::Extent(_) | ir::Expr::Scalar(_) => true,
        ir::Expr::Binary(Binary::Add | Binary::Mul | Binary::Min | Binary::Max, a, b) => {
            grows(kernel, *a) && grows(kernel, *b)
        }
        _ => false,
    }
}

fn reads_buffer(e: &Expr, written: &dyn Fn(usize) -> bool) -> bool {
    matches!(e, Expr::Load { buffer, .. } if written(*buffer))
        || e.operands().into_iter().any(|x| reads_buffer(x, written))
}

fn collect_axes(body: &[Stmt], found: &mut impl FnMut(AxisId)) {
    for stmt in body {
        if let Stmt::For(axis, inner) = stmt {
            found(*axis);
            collect_axes(inner, found);
        }
    }
}
