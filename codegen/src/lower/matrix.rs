//! Products of fragments: accumulators that a subgroup holds together, and the way from them to single elements.
//!
//! A reduction with a `matrix` level gives one fragment of sums for each copy. Its factors are read from narrow tiles, a row of
//! which goes along the reduction's axis, so that a left fragment lies by rows and a right one by columns. Values are stored
//! element by element: every fragment goes through workgroup memory of its subgroup, and what the kernel does with a sum
//! (a bias, a residual) is done there on one element an invocation, behind the guards of ragged edges. VK_KHR_cooperative_matrix;
//! Markidis et al. 2018 (arXiv:1803.04014).

use super::axes::{Bound, Mask};
use super::build::{add, div, mul, rem, scalar, u};
use super::hoist::roots;
use super::{Env, Key, Lower};
use crate::apply::{Factor, Product, TileOf, has_matrix};
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Place, Side, Stmt, Var};
use tilewright_dsl::ir::{self, AxisId, ExprId, Reduce, Type};

impl Lower<'_> {
    /// How a reduction is multiplied by fragments, if it is.
    pub fn product(&self, id: ExprId) -> Option<Product> {
        self.nest.products.iter().find(|p| p.reduce == id).copied()
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
        product: &Product,
        reduce: &Reduce,
        bounds: &Env,
        members: &[Env],
    ) -> Result<(), ScheduleError> {
        let mut sums = Vec::new();
        for _ in members {
            let sum = self.var("sum", Kind::Fragment(Side::Sum, product.side));
            self.emit(Stmt::DeclareFragment(sum));
            sums.push(sum);
        }
        self.same_for_all(reduce.axis);
        let entered = self.enter(reduce.axis, bounds, true)?;
        let left = self.fragments(&product.left, Side::Left, product, members);
        let right = self.fragments(&product.right, Side::Right, product, members);
        for (member, sum) in members.iter().zip(&sums) {
            let of =
                |all: &[(Option<u32>, Var)], axis| all.iter().find(|f| f.0 == member.get(&axis).copied()).map(|f| f.1);
            if let (Some(a), Some(b)) = (of(&left, product.left.axis), of(&right, product.right.axis)) {
                self.emit(Stmt::MultiplyAdd(*sum, a, b));
            }
        }
        self.leave(entered);
        for (member, sum) in members.iter().zip(sums) {
            self.remember(Key::Fragment(product.reduce, member.clone()), Expr::Var(sum));
        }
        Ok(())
    }

    /// Loads a factor's fragments for all copies of its axis.
    fn fragments(
        &mut self,
        factor: &Factor,
        side: Side,
        product: &Product,
        members: &[Env],
    ) -> Vec<(Option<u32>, Var)> {
        let mut loaded: Vec<(Option<u32>, Var)> = Vec::new();
        let name = self.nest.kernel.tensor(factor.tensor).name.clone();
        for member in members {
            let copy = member.get(&factor.axis).copied();
            if loaded.iter().any(|f| f.0 == copy) {
                continue;
            }
            let Some((array, index, stride)) = self.fragment_at(TileOf::Tensor(factor.tensor), member) else {
                continue;
            };
            let var = self.var(&format!("{name}_part"), Kind::Fragment(side, product.side));
            self.emit(Stmt::LoadFragment(var, Place { array, index, stride }));
            loaded.push((copy, var));
        }
        loaded
    }

    /// Stores the elements of all fragments, one fragment of each subgroup at a time.
    pub fn store_fragments(&mut self, stores: &[ir::Stmt], envs: &[Env]) -> Result<(), ScheduleError> {
        let roots = roots(stores);
        self.prepare(&roots, envs)?;
        let products = self.nest.products.iter().copied().filter(|p| roots.iter().any(|r| self.contains(*r, p.reduce)));
        let products: Vec<Product> = products.collect();
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
        for (i, env) in envs.iter().enumerate() {
            if i > 0 || self.loops > 0 {
                // Others of the subgroup may still read the last fragment's elements.
                self.emit(Stmt::Barrier);
            }
            for (product, array) in products.iter().zip(&arrays) {
                let key = Key::Fragment(product.reduce, self.restrict(product.reduce, env));
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
            for (axis, step) in moved {
                let old = self.bound(axis);
                let mask = if old.mask == Mask::None { Mask::None } else { Mask::All };
                let name = self.nest.kernel.axis(axis).name.rsplit('.').next().unwrap_or_default().to_string();
                let base = self.bind_u32(&name, add(old.base.clone(), step));
                self.bound[axis.0 as usize] =
                    Some(Bound { base, mask, prefix: vec![], steps: vec![], any: true, ..old });
            }
            for (product, array) in products.iter().zip(&arrays) {
                let read = Expr::Shared(*array, Box::new(add(own.clone(), at.clone())));
                let value = self.bind_f32("total", read);
                let key = Key::Field(product.reduce, 0, self.restrict(product.reduce, env));
                self.remember(key, value);
            }
            self.element = Some(width);
            let stored = self.stores(stores, std::slice::from_ref(env));
            self.element = None;
            let body = self.close();
            for (axis, old) in kept {
                self.bound[axis.0 as usize] = Some(old);
            }
            stored?;
            let start = rem(Self::lane(), width);
            self.emit(Stmt::For { var: element, start, end: u(all), step: u(width), body });
        }
        Ok(())
    }

    /// Whether a value is made of another one.
    fn contains(&self, id: ExprId, part: ExprId) -> bool {
        crate::deps::any(self.nest.kernel, id, |e| e == part)
    }
}
