//! A monoid's identity and merge as statements on accumulators.

use super::build::{self, binary};
use super::{Env, Lower};
use crate::apply::adds;
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Stmt, Var};
use std::collections::{HashMap, HashSet};
use tilewright_dsl::ir::{self, AxisId, ExprId, Monoid, Side, Type};
use tilewright_dsl::schedule::LevelKind;

/// The accumulator of one field.
#[derive(Clone)]
pub enum Slot {
    /// A register.
    One(Var),
    /// A register for each copy of the array axis: offset and register.
    Copies(Vec<(u32, Var)>),
    /// A private array of that many elements.
    Array(Var, u32),
}

/// The accumulators of one copy of a reduction: one slot a field.
pub type Acc = Vec<Slot>;

/// Where the right operand's elements of an array field come from.
pub enum Element {
    /// A register's copy, by its number.
    Copy(u32),
    /// A private array's element.
    At(Expr),
}

/// Gives the right operand's element of an array field.
pub type Elements<'a, 'n> = &'a mut dyn FnMut(&mut Lower<'n>, usize, &Element) -> Result<Expr, ScheduleError>;

impl<'n> Lower<'n> {
    /// Fresh accumulators with the identity.
    pub fn accumulators(&mut self, name: &str, monoid: &Monoid, array: Option<AxisId>) -> Acc {
        let mut acc = Vec::new();
        for (f, field) in monoid.fields.iter().enumerate() {
            let identity = self.identity(monoid, f);
            let label = if monoid.fields.len() == 1 { name.to_string() } else { format!("{name}_{}", field.name) };
            let kind = Kind::Value(build::scalar(field.ty));
            let slot = match array.filter(|_| field.array) {
                None => {
                    let var = self.var(&label, kind);
                    self.emit(Stmt::Declare(var, identity));
                    Slot::One(var)
                }
                Some(axis) => {
                    let plan = self.nest.plan(axis).clone();
                    let copies = plan.copies();
                    // What only a run tells has room for the most that it can tell.
                    let most = plan.extent.or_else(|| self.nest.most(axis));
                    let steps = (0..plan.levels.len())
                        .filter(|i| plan.levels[*i].kind == LevelKind::Serial)
                        .map(|i| plan.count(i, most).unwrap_or(1))
                        .fold(1u32, u32::saturating_mul);
                    if steps > 1 {
                        let len = steps.saturating_mul(copies.len() as u32);
                        let var = self.var(&label, Kind::Array(field.ty, len));
                        self.emit(Stmt::DeclareArray(var));
                        // It begins with zeros.
                        let zero = matches!(identity, Expr::F32(x) if x.to_bits() == 0) || identity == build::u(0);
                        if !zero {
                            let at = self.var("i", Kind::Value(build::scalar(Type::U32)));
                            let body = vec![Stmt::SetElement(var, Expr::Var(at), identity)];
                            let (start, end, step) = (build::u(0), build::u(len), build::u(1));
                            self.emit(Stmt::For { var: at, start, end, step, body });
                        }
                        Slot::Array(var, len)
                    } else {
                        let registers = copies.iter().map(|o| {
                            let var = self.var(&label, kind);
                            self.emit(Stmt::Declare(var, identity.clone()));
                            (*o, var)
                        });
                        Slot::Copies(registers.collect())
                    }
                }
            };
            acc.push(slot);
        }
        acc
    }

    /// The identity of a field.
    pub fn identity(&mut self, monoid: &Monoid, field: usize) -> Expr {
        self.monoid_value(monoid, monoid.identity[field], &[], &[], &mut HashMap::new())
    }

    /// Merges a right operand into an accumulator: `scalars` holds its scalar fields, `elements` makes those of arrays.
    /// With `axis`, private arrays are walked by entering it; without, by their element number.
    pub fn merge(
        &mut self,
        monoid: &Monoid,
        acc: &Acc,
        scalars: &[Option<Expr>],
        axis: Option<AxisId>,
        elements: Elements<'_, 'n>,
    ) -> Result<(), ScheduleError> {
        let left: Vec<Option<Expr>> = acc
            .iter()
            .map(|s| match s {
                Slot::One(v) => Some(Expr::Var(*v)),
                _ => None,
            })
            .collect();
        if adds(monoid) {
            // Fields of sums do not meet: each accumulates by itself, and a product becomes a multiply-accumulate.
            for (slot, value) in acc.iter().zip(scalars) {
                if let (Slot::One(var), Some(value)) = (slot, value) {
                    let sum = binary(ir::Binary::Add, Type::F32, Expr::Var(*var), value.clone());
                    self.emit(Stmt::Assign(*var, sum));
                }
            }
            return Ok(());
        }
        let scalars: Vec<Option<Expr>> = scalars
            .iter()
            .enumerate()
            .map(|(f, s)| {
                s.clone().map(|s| {
                    let field = &monoid.fields[f];
                    self.bind(&format!("{}_new", field.name), Kind::Value(build::scalar(field.ty)), s)
                })
            })
            .collect();
        let mut known = HashMap::new();
        let mut next = Vec::new();
        for (f, slot) in acc.iter().enumerate() {
            if let Slot::One(var) = slot {
                let value = self.monoid_value(monoid, monoid.merge[f], &left, &scalars, &mut known);
                let single = monoid.fields.len() == 1;
                let kind = Kind::Value(build::scalar(monoid.fields[f].ty));
                let value = if single { value } else { self.bind(&monoid.fields[f].name, kind, value) };
                next.push((*var, value));
            }
        }
        for (f, slot) in acc.iter().enumerate() {
            if !matches!(slot, Slot::One(_)) {
                self.name_scalars(monoid, monoid.merge[f], [&left, &scalars], &mut known, &mut HashSet::new());
            }
        }
        let arrays = acc.iter().any(|s| !matches!(s, Slot::One(_)));
        let entered = match axis.filter(|_| arrays) {
            Some(axis) => Some(self.enter(axis, &Env::new(), false)?),
            None => None,
        };
        for (f, slot) in acc.iter().enumerate() {
            match slot {
                Slot::One(_) => {}
                Slot::Copies(registers) => {
                    for (i, (_, var)) in registers.iter().enumerate() {
                        let right = elements(self, f, &Element::Copy(i as u32))?;
                        let value = self.merged(monoid, f, &left, &scalars, &known, Expr::Var(*var), right);
                        self.emit(Stmt::Assign(*var, value));
                    }
                }
                Slot::Array(array, len) => {
                    let set = |this: &mut Self, slot: Expr, right: Expr| {
                        let old = Expr::Element(*array, Box::new(slot.clone()));
                        let value = this.merged(monoid, f, &left, &scalars, &known, old, right);
                        this.emit(Stmt::SetElement(*array, slot, value));
                    };
                    if let Some(axis) = axis {
                        for (i, offset) in self.nest.plan(axis).copies().into_iter().enumerate() {
                            let slot = self.private_slot(axis, offset);
                            let right = elements(self, f, &Element::Copy(i as u32))?;
                            set(self, slot, right);
                        }
                        continue;
                    }
                    let at = self.var("i", Kind::Value(build::scalar(Type::U32)));
                    self.open();
                    let right = elements(self, f, &Element::At(Expr::Var(at)))?;
                    set(self, Expr::Var(at), right);
                    let body = self.close();
                    let (start, end, step) = (build::u(0), build::u(*len), build::u(1));
                    self.emit(Stmt::For { var: at, start, end, step, body });
                }
            }
        }
        if let Some(entered) = entered {
            self.leave(entered);
        }
        for (var, value) in next {
            if value != Expr::Var(var) {
                self.emit(Stmt::Assign(var, value));
            }
        }
        Ok(())
    }

    /// One element of an array field after the merge.
    #[allow(clippy::too_many_arguments)]
    fn merged(
        &mut self,
        monoid: &Monoid,
        field: usize,
        left: &[Option<Expr>],
        right: &[Option<Expr>],
        known: &HashMap<u32, Expr>,
        old: Expr,
        new: Expr,
    ) -> Expr {
        let (mut left, mut right) = (left.to_vec(), right.to_vec());
        left[field] = Some(old);
        right[field] = Some(new);
        self.monoid_value(monoid, monoid.merge[field], &left, &right, &mut known.clone())
    }

    /// Computes the parts of an array field's merge that are the same for all elements, so that they stand outside its loop.
    fn name_scalars(
        &mut self,
        monoid: &Monoid,
        id: ExprId,
        [left, right]: [&[Option<Expr>]; 2],
        known: &mut HashMap<u32, Expr>,
        seen: &mut HashSet<ExprId>,
    ) {
        if !seen.insert(id) {
            return;
        }
        let expr = &monoid.exprs[id.0 as usize];
        if !of_element(monoid, id) {
            if !matches!(expr, ir::Expr::Part(..) | ir::Expr::F32(_) | ir::Expr::U32(_) | ir::Expr::Bool(_)) {
                let value = self.monoid_value(monoid, id, left, right, known);
                let kind = Kind::Value(build::scalar(type_of(monoid, id)));
                let value = self.bind("w", kind, value);
                known.insert(id.0, value);
            }
            return;
        }
        for operand in parts(expr) {
            self.name_scalars(monoid, operand, [left, right], known, seen);
        }
    }

    fn monoid_value(
        &mut self,
        monoid: &Monoid,
        id: ExprId,
        left: &[Option<Expr>],
        right: &[Option<Expr>],
        known: &mut HashMap<u32, Expr>,
    ) -> Expr {
        if let Some(value) = known.get(&id.0) {
            return value.clone();
        }
        let expr = &monoid.exprs[id.0 as usize];
        let mut of = |this: &mut Self, e: ExprId| this.monoid_value(monoid, e, left, right, known);
        let value = match expr {
            ir::Expr::F32(bits) => Expr::F32(f32::from_bits(*bits)),
            ir::Expr::U32(n) => Expr::U32(*n),
            ir::Expr::Bool(b) => Expr::Bool(*b),
            ir::Expr::Part(Side::A, f) => left.get(*f).cloned().flatten().unwrap_or(Expr::U32(0)),
            ir::Expr::Part(Side::B, f) => right.get(*f).cloned().flatten().unwrap_or(Expr::U32(0)),
            ir::Expr::Unary(op, a) => Expr::Unary(*op, Box::new(of(self, *a))),
            ir::Expr::Binary(op, a, b) => {
                let (x, y) = (of(self, *a), of(self, *b));
                binary(*op, type_of(monoid, *a), x, y)
            }
            ir::Expr::Select(c, a, b) => {
                let (c, a, b) = (of(self, *c), of(self, *a), of(self, *b));
                Expr::Select(Box::new(c), Box::new(a), Box::new(b))
            }
            _ => Expr::U32(0),
        };
        let uses = monoid.exprs.iter().flat_map(parts).chain(monoid.merge.iter().copied()).filter(|p| *p == id).count();
        if uses > 1 && !build::cheap(&value) {
            let kind = Kind::Value(build::scalar(type_of(monoid, id)));
            let value = self.bind("m", kind, value);
            known.insert(id.0, value.clone());
            return value;
        }
        value
    }
}

fn parts(expr: &ir::Expr) -> Vec<ExprId> {
    match expr {
        ir::Expr::Unary(_, a) => vec![*a],
        ir::Expr::Binary(_, a, b) => vec![*a, *b],
        ir::Expr::Select(a, b, c) => vec![*a, *b, *c],
        _ => vec![],
    }
}

/// Whether a monoid's expression differs between the elements of an array.
fn of_element(monoid: &Monoid, id: ExprId) -> bool {
    let mut differs: Vec<bool> = Vec::new();
    for expr in &monoid.exprs[..=id.0 as usize] {
        let own = matches!(expr, ir::Expr::Part(_, f) if monoid.fields[*f].array);
        differs.push(own || parts(expr).into_iter().any(|p| differs[p.0 as usize]));
    }
    differs[id.0 as usize]
}

fn type_of(monoid: &Monoid, id: ExprId) -> Type {
    use ir::{Binary, Unary};
    match &monoid.exprs[id.0 as usize] {
        ir::Expr::U32(_) => Type::U32,
        ir::Expr::Bool(_) => Type::Bool,
        ir::Expr::Part(_, f) => monoid.fields[*f].ty,
        ir::Expr::Unary(Unary::Bits | Unary::ToU32, _) => Type::U32,
        ir::Expr::Unary(Unary::Not, _) => Type::Bool,
        ir::Expr::Binary(Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge, ..) => Type::Bool,
        ir::Expr::Binary(_, a, _) | ir::Expr::Select(_, a, _) => type_of(monoid, *a),
        _ => Type::F32,
    }
}
