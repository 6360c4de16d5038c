//! Products of fragments: accumulators that a subgroup holds together, and the way from them to single elements.
//!
//! A reduction with a `matrix` level gives one fragment of sums for each copy. Its factors are read from narrow tiles, a row of
//! which goes along the reduction's axis, so that a left fragment lies by rows and a right one by columns. Values are stored
//! element by element: every fragment goes through workgroup memory of its subgroup, and what the kernel does with a sum
//! (a bias, a residual) is done there on one element an invocation, where that lies inside ragged edges. VK_KHR_cooperative_matrix;
//! Markidis et al. 2018 (arXiv:1803.04014).

use super::axes::{Bound, Mask};
use super::build::{add, and, bin, div, lt, mul, rem, scalar, sub, u};
use super::hoist::roots;
use super::{Env, Key, Lower};
use crate::apply::{Factor, Product, TileOf, has_matrix};
use crate::deps;
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Place, Side, Stmt, Var};
use tilewright_dsl::ir::{self, AxisId, Binary, ExprId, Reduce, TensorId, Type};

impl Lower<'_> {
    /// How the sums of a reduction are multiplied by fragments, if they are.
    pub fn products_of(&self, id: ExprId) -> Vec<Product> {
        self.nest.products.iter().filter(|p| p.reduce == id).copied().collect()
    }

    /// Whether what is made beneath the entered axes are fragments.
    pub fn in_fragments(&self) -> bool {
        self.element.is_none() && self.chain.iter().any(|a| has_matrix(self.nest.plan(*a)))
    }

    /// Whether a value is one of a fragment's elements, which are made one by one.
    pub fn of_elements(&self, id: ExprId) -> bool {
        let free = self.nest.deps.free(id);
        self.in_fragments() && self.chain.iter().any(|a| free.has(*a) && has_matrix(self.nest.plan(*a)))
    }

    /// Multiplies and adds up for these copies, and remembers their fragments.
    pub fn multiply(
        &mut self,
        products: &[Product],
        reduce: &Reduce,
        bounds: &Env,
        members: &[Env],
    ) -> Result<(), ScheduleError> {
        let mut sums = Vec::new();
        for product in products {
            for member in members {
                let sum = self.var("sum", Kind::Fragment(Side::Sum, product.side));
                self.emit(Stmt::DeclareFragment(sum));
                sums.push((product, member, sum));
            }
        }
        self.same_for_all(reduce.axis);
        let entered = self.enter(reduce.axis, bounds, true)?;
        let mut loaded = Vec::new();
        for (product, member, sum) in &sums {
            let a = self.fragment(&product.left, Side::Left, product.side, member, &mut loaded);
            let b = self.fragment(&product.right, Side::Right, product.side, member, &mut loaded);
            if let (Some(a), Some(b)) = (a, b) {
                self.emit(Stmt::MultiplyAdd(*sum, a, b));
            }
        }
        self.leave(entered);
        for (product, member, sum) in sums {
            self.remember(Key::Fragment(product.reduce, product.field, member.clone()), Expr::Var(sum));
        }
        Ok(())
    }

    /// A factor's fragment for a copy of its axis, loaded once a step.
    fn fragment(
        &mut self,
        factor: &Factor,
        side: Side,
        size: u32,
        member: &Env,
        loaded: &mut Vec<(TensorId, Option<u32>, Var)>,
    ) -> Option<Var> {
        let copy = member.get(&factor.axis).copied();
        if let Some(known) = loaded.iter().find(|f| (f.0, f.1) == (factor.tensor, copy)) {
            return Some(known.2);
        }
        let (array, index, stride) = self.fragment_at(TileOf::Tensor(factor.tensor), member)?;
        let name = &self.nest.kernel.tensor(factor.tensor).name;
        let name = format!("{}_part", name.rsplit('.').next().unwrap_or(name));
        let var = self.var(&name, Kind::Fragment(side, size));
        self.emit(Stmt::LoadFragment(var, Place { array, index, stride }));
        loaded.push((factor.tensor, copy, var));
        Some(var)
    }

    /// Stores the elements of all fragments, one fragment of each subgroup at a time.
    pub fn store_fragments(&mut self, stores: &[ir::Stmt], envs: &[Env]) -> Result<(), ScheduleError> {
        let roots = roots(stores);
        self.prepare(&roots, envs)?;
        let used = deps::all(self.nest.kernel, roots);
        let products: Vec<Product> = self.nest.products.iter().copied().filter(|p| used.contains(&p.reduce)).collect();
        let Some(first) = products.first().copied() else { return Ok(()) };
        let width = self.nest.width;
        let (side, all) = (first.side, first.side * first.side);
        let subgroups = self.nest.workgroup / width;
        let mut arrays = Vec::new();
        for _ in &products {
            let array = self.shared("sums", Type::F32, subgroups * all);
            arrays.push(array);
        }
        let own = self.bind_u32("own", mul(div(Self::lane(), width), u(all)));
        // Subgroups along the reduction hold parts of the same sums; they share what follows.
        let along = self.reduced(first.reduce).map(|axis| self.nest.plan(axis).clone());
        let (parts, apart) = along.map_or((1, width), |plan| (plan.lanes, plan.stride));
        let part = if parts == 1 { u(0) } else { self.lane_index(apart, parts) };
        let part = self.bind_u32("part", part);
        let shared = sub(own.clone(), mul(part.clone(), u(apart / width * all)));
        let shared = self.bind_u32("first", shared);
        for (i, env) in envs.iter().enumerate() {
            if i > 0 || self.loops > 0 {
                // Others of the subgroup may still read the last fragment's elements.
                self.emit(Stmt::Barrier);
            }
            for (product, array) in products.iter().zip(&arrays) {
                let key = Key::Fragment(product.reduce, product.field, self.restrict(product.reduce, env));
                let Some(Expr::Var(sum)) = self.recall(&key) else { continue };
                let place = Place { array: *array, index: own.clone(), stride: side };
                self.emit(Stmt::StoreFragment(sum, place));
            }
            self.emit(Stmt::Barrier);
            let element = self.var("element", Kind::Value(scalar(Type::U32)));
            self.open();
            let at = Expr::Var(element);
            let moved = [(first.left.axis, div(at.clone(), side)), (first.right.axis, rem(at.clone(), side))];
            let kept: Vec<(AxisId, Bound)> = moved.iter().map(|(axis, _)| (*axis, self.bound(*axis))).collect();
            let mut inside = None;
            for (axis, step) in moved {
                let old = self.bound(axis);
                let name = self.nest.kernel.axis(axis).name.rsplit('.').next().unwrap_or_default().to_string();
                let base = self.bind_u32(&name, add(old.base.clone(), step));
                if old.mask != Mask::None {
                    let offset = env.get(&axis).copied().unwrap_or(0);
                    inside = Some(and(inside, lt(add(base.clone(), u(offset)), old.hi.clone())));
                }
                self.bound[axis.0 as usize] =
                    Some(Bound { base, mask: Mask::None, prefix: vec![], steps: vec![], any: true, ..old });
            }
            self.open();
            for (product, array) in products.iter().zip(&arrays) {
                let read = |i: u32| {
                    let from = add(add(shared.clone(), u(i * (apart / width) * all)), at.clone());
                    Expr::Shared(*array, Box::new(from))
                };
                let total = (1..parts).fold(read(0), |sum, i| bin(Binary::Add, sum, read(i)));
                let value = self.bind_f32("total", total);
                let key = Key::Field(product.reduce, product.field, self.restrict(product.reduce, env));
                self.remember(key, value);
            }
            self.element = Some([(1, width), (apart, parts)]);
            let stored = self.stores(stores, std::slice::from_ref(env));
            self.element = None;
            let within = self.close();
            match inside {
                Some(inside) => self.emit(Stmt::If(inside, within, vec![])),
                None => within.into_iter().for_each(|stmt| self.emit(stmt)),
            }
            let body = self.close();
            for (axis, old) in kept {
                self.bound[axis.0 as usize] = Some(old);
            }
            stored?;
            let start = add(rem(Self::lane(), width), mul(part.clone(), u(width)));
            self.emit(Stmt::For { var: element, start, end: u(all), step: u(width * parts), body });
        }
        Ok(())
    }

    /// The axis of a reduction.
    fn reduced(&self, id: ExprId) -> Option<AxisId> {
        match self.nest.kernel.expr(id) {
            ir::Expr::Reduce(reduce) => Some(reduce.axis),
            _ => None,
        }
    }
}
