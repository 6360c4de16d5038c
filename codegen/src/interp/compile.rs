//! Turns loop IR into steps that evaluate one operator at a time over all invocations.
//!
//! Every value has a slot: a list of one word an invocation (a vector has one slot a component). A step first computes its
//! expressions into slots, then acts. Slots of a `let` live to the end of their block, others to the end of their statement.

use crate::loops::{Access, Builtin, Expr, Kind, LoopIr, Place, Side, Stmt, Ty, Var};
use crate::text;
use crate::types::{BOOL, F32, TypeError, U32, expect, fragment, place, type_of};
use std::collections::HashMap;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// Index of a slot.
pub(super) type Slot = usize;

/// One operator; the destination is never an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Copy(Slot, Slot),
    Unary(Unary, Type, Slot, Slot),
    Binary(Binary, Type, Slot, Slot, Slot),
    Select(Slot, Slot, Slot, Slot),
    Fma(Slot, Slot, Slot, Slot),
    Unpack(Slot, Slot),
    Pack(Slot, Slot, Slot),
    Shuffle(Slot, Slot, Slot),
    Load { dst: Slot, buffer: usize, index: Slot, width: usize },
    Shared { dst: Slot, array: usize, index: Slot },
    Element { dst: Slot, base: Slot, len: usize, index: Slot },
}

/// A statement.
pub(super) struct Step<'a> {
    pub stmt: &'a Stmt,
    pub ops: Vec<Op>,
    pub act: Act<'a>,
}

/// What a statement does once its expressions are computed.
pub(super) enum Act<'a> {
    Nothing,
    /// Sets a register: destination, source, slots.
    Move(Slot, Slot, usize),
    Zero(Slot, usize),
    SetElement {
        base: Slot,
        len: usize,
        index: Slot,
        value: Slot,
    },
    StoreShared {
        array: usize,
        index: Slot,
        value: Slot,
    },
    Store {
        buffer: usize,
        index: Slot,
        value: Slot,
    },
    For {
        var: Slot,
        start: Slot,
        end: Slot,
        step: Slot,
        body: Vec<Step<'a>>,
    },
    If {
        cond: Slot,
        then: Vec<Step<'a>>,
        or: Vec<Step<'a>>,
    },
    StoreNarrow {
        array: usize,
        index: Slot,
        values: [Slot; 4],
    },
    /// Side and local.
    ZeroFragment(usize, Var),
    LoadFragment {
        side: usize,
        columns: bool,
        var: Var,
        array: usize,
        index: Slot,
        stride: usize,
    },
    MultiplyAdd {
        side: usize,
        sum: Var,
        a: Var,
        b: Var,
    },
    StoreFragment {
        side: usize,
        var: Var,
        array: usize,
        index: Slot,
        stride: usize,
    },
    Barrier,
}

/// A shader, ready to run.
pub(super) struct Code<'a> {
    pub steps: Vec<Step<'a>>,
    /// How many slots there are.
    pub slots: usize,
    /// Slots with one value for the whole run.
    pub constants: Vec<(Slot, u32)>,
    /// Slots of parameters.
    pub params: Vec<(Slot, usize)>,
    /// Slots of built-in values.
    pub builtins: Vec<(Slot, Builtin)>,
}

pub(super) fn compile(ir: &LoopIr) -> Result<Code<'_>, TypeError> {
    let mut fixed = Fixed::default();
    fixed.block(&ir.body);
    let mut compiler = Compiler { ir, vars: HashMap::new(), next: fixed.next, most: fixed.next, fixed, ops: vec![] };
    let steps = compiler.block(&ir.body)?;
    Ok(Code {
        steps,
        slots: compiler.most,
        constants: compiler.fixed.constants.into_iter().map(|(bits, slot)| (slot, bits)).collect(),
        params: compiler.fixed.params.into_iter().map(|(i, slot)| (slot, i)).collect(),
        builtins: compiler.fixed.builtins.into_iter().map(|(b, slot)| (slot, b)).collect(),
    })
}

/// Leaves whose slots are filled once a run or a workgroup.
#[derive(Default)]
struct Fixed {
    next: Slot,
    constants: HashMap<u32, Slot>,
    params: HashMap<usize, Slot>,
    builtins: HashMap<Builtin, Slot>,
}

impl Fixed {
    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            stmt.expressions().into_iter().for_each(|e| self.expr(e));
            stmt.blocks().into_iter().for_each(|b| self.block(b));
        }
    }

    fn expr(&mut self, e: &Expr) {
        let next = self.next;
        let slot = match e {
            Expr::Param(i) => *self.params.entry(*i).or_insert(next),
            Expr::Builtin(b) => *self.builtins.entry(*b).or_insert(next),
            _ => match constant(e) {
                Some(bits) => *self.constants.entry(bits).or_insert(next),
                None => return e.operands().into_iter().for_each(|x| self.expr(x)),
            },
        };
        self.next += usize::from(slot == next);
    }
}

fn constant(e: &Expr) -> Option<u32> {
    match e {
        Expr::F32(x) => Some(x.to_bits()),
        Expr::U32(x) => Some(*x),
        Expr::Bool(x) => Some((*x).into()),
        _ => None,
    }
}

struct Compiler<'a> {
    ir: &'a LoopIr,
    vars: HashMap<Var, Slot>,
    next: Slot,
    most: Slot,
    fixed: Fixed,
    ops: Vec<Op>,
}

impl<'a> Compiler<'a> {
    fn block(&mut self, body: &'a [Stmt]) -> Result<Vec<Step<'a>>, TypeError> {
        let mark = self.next;
        let mut steps = Vec::new();
        for stmt in body {
            let act = self.stmt(stmt)?;
            if let Some((ops, act)) = act {
                steps.push(Step { stmt, ops, act });
            }
        }
        self.next = mark;
        Ok(steps)
    }

    /// The operators that come first, then the deed.
    fn stmt(&mut self, stmt: &'a Stmt) -> Result<Option<(Vec<Op>, Act<'a>)>, TypeError> {
        let before = self.next;
        let mut kept = before;
        let act = match stmt {
            Stmt::Let(v, e) | Stmt::Declare(v, e) => {
                let ty = type_of(self.ir, e)?;
                expect(self.ir, &Expr::Var(*v), ty)?;
                let slot = self.take(ty.width.into());
                kept = self.next;
                self.into(e, slot)?;
                self.vars.insert(*v, slot);
                Act::Nothing
            }
            Stmt::DeclareArray(v) => {
                let (_, len) = self.array(*v)?;
                let slot = self.take(len);
                kept = self.next;
                self.vars.insert(*v, slot);
                Act::Zero(slot, len)
            }
            Stmt::Assign(v, e) => {
                let ty = type_of(self.ir, e)?;
                expect(self.ir, &Expr::Var(*v), ty)?;
                let dst = self.var(*v)?;
                let src = self.take(ty.width.into());
                self.into(e, src)?;
                Act::Move(dst, src, ty.width.into())
            }
            Stmt::SetElement(v, index, value) => {
                let (elem, len) = self.array(*v)?;
                let base = self.var(*v)?;
                expect(self.ir, value, Ty { elem, width: 1 })?;
                let (index, value) = (self.index(index)?, self.slot(value)?);
                Act::SetElement { base, len, index, value }
            }
            Stmt::StoreShared(array, index, value) => {
                expect(self.ir, value, type_of(self.ir, &Expr::Shared(*array, Box::new(Expr::U32(0))))?)?;
                let (index, value) = (self.index(index)?, self.slot(value)?);
                Act::StoreShared { array: *array, index, value }
            }
            Stmt::Store(buffer, index, value) => {
                let word = Expr::Load { buffer: *buffer, index: Box::new(Expr::U32(0)), width: 1 };
                expect(self.ir, value, type_of(self.ir, &word)?)?;
                let (index, value) = (self.index(index)?, self.slot(value)?);
                Act::Store { buffer: *buffer, index, value }
            }
            Stmt::For { var, start, end, step, body } => {
                expect(self.ir, &Expr::Var(*var), U32)?;
                let slot = self.take(1);
                let (start, end, step) = (self.index(start)?, self.index(end)?, self.index(step)?);
                // A bound that is a register must keep its value while the body assigns to it.
                let (end, step) = (self.copy(end), self.copy(step));
                self.vars.insert(*var, slot);
                let ops = std::mem::take(&mut self.ops);
                let body = self.block(body)?;
                self.ops = ops;
                Act::For { var: slot, start, end, step, body }
            }
            Stmt::If(cond, then, or) => {
                expect(self.ir, cond, BOOL)?;
                let cond = self.slot(cond)?;
                let ops = std::mem::take(&mut self.ops);
                let (then, or) = (self.block(then)?, self.block(or)?);
                self.ops = ops;
                Act::If { cond, then, or }
            }
            Stmt::StoreNarrow(array, index, values) => {
                place(self.ir, &Place { array: *array, index: index.clone(), stride: 1 }, true)?;
                values.iter().try_for_each(|e| expect(self.ir, e, F32))?;
                let index = self.index(index)?;
                let [x, y, z, w] = &**values;
                let values = [self.slot(x)?, self.slot(y)?, self.slot(z)?, self.slot(w)?];
                Act::StoreNarrow { array: *array, index, values }
            }
            Stmt::DeclareFragment(v) => Act::ZeroFragment(fragment(self.ir, *v, &[Side::Sum])? as usize, *v),
            Stmt::LoadFragment(v, at) => {
                let side = fragment(self.ir, *v, &[Side::Left, Side::Right])? as usize;
                let columns = fragment(self.ir, *v, &[Side::Right]).is_ok();
                place(self.ir, at, true)?;
                let index = self.index(&at.index)?;
                Act::LoadFragment { side, columns, var: *v, array: at.array, index, stride: at.stride as usize }
            }
            Stmt::MultiplyAdd(sum, a, b) => {
                let side = fragment(self.ir, *sum, &[Side::Sum])?;
                for (v, part) in [(a, Side::Left), (b, Side::Right)] {
                    fragment(self.ir, *v, &[part])?;
                }
                Act::MultiplyAdd { side: side as usize, sum: *sum, a: *a, b: *b }
            }
            Stmt::StoreFragment(v, at) => {
                let side = fragment(self.ir, *v, &[Side::Sum])? as usize;
                place(self.ir, at, false)?;
                let index = self.index(&at.index)?;
                Act::StoreFragment { side, var: *v, array: at.array, index, stride: at.stride as usize }
            }
            Stmt::Barrier => Act::Barrier,
            Stmt::Comment(_) => return Ok(None),
        };
        self.next = kept;
        Ok(Some((std::mem::take(&mut self.ops), act)))
    }

    fn take(&mut self, n: usize) -> Slot {
        let slot = self.next;
        self.next += n;
        self.most = self.most.max(self.next);
        slot
    }

    fn copy(&mut self, from: Slot) -> Slot {
        let slot = self.take(1);
        self.ops.push(Op::Copy(slot, from));
        slot
    }

    fn index(&mut self, e: &Expr) -> Result<Slot, TypeError> {
        expect(self.ir, e, U32)?;
        self.slot(e)
    }

    fn var(&self, v: Var) -> Result<Slot, TypeError> {
        let undeclared = || TypeError {
            text: text::expr(self.ir, &Expr::Var(v)),
            found: "used outside its block".into(),
            expected: "a declaration before it".into(),
        };
        self.vars.get(&v).copied().ok_or_else(undeclared)
    }

    fn array(&self, v: Var) -> Result<(Type, usize), TypeError> {
        match self.ir.vars.get(v.0 as usize).map(|d| d.kind) {
            Some(Kind::Array(elem, len)) => Ok((elem, len as usize)),
            _ => Err(TypeError {
                text: text::expr(self.ir, &Expr::Var(v)),
                found: "no array".into(),
                expected: "a private array".into(),
            }),
        }
    }

    /// Where the value of an expression that is known to be well typed lies.
    fn slot(&mut self, e: &Expr) -> Result<Slot, TypeError> {
        let fixed = match e {
            Expr::Var(v) => return self.var(*v),
            Expr::Component(a, c) => return Ok(self.slot(a)? + usize::from(*c)),
            Expr::Param(i) => self.fixed.params.get(i),
            Expr::Builtin(b) => self.fixed.builtins.get(b),
            _ => constant(e).and_then(|bits| self.fixed.constants.get(&bits)),
        };
        if let Some(slot) = fixed {
            return Ok(*slot);
        }
        let slot = self.take(type_of(self.ir, e)?.width.into());
        self.into(e, slot)?;
        Ok(slot)
    }

    /// Computes an expression into a slot.
    fn into(&mut self, e: &Expr, dst: Slot) -> Result<(), TypeError> {
        let op = match e {
            Expr::F32(_) | Expr::U32(_) | Expr::Bool(_) | Expr::Builtin(_) | Expr::Param(_) | Expr::Component(..) => {
                Op::Copy(dst, self.slot(e)?)
            }
            Expr::Var(_) => {
                let (from, width) = (self.slot(e)?, usize::from(type_of(self.ir, e)?.width));
                self.ops.extend((1..width).map(|c| Op::Copy(dst + c, from + c)));
                Op::Copy(dst, from)
            }
            Expr::FromBits(a) => Op::Copy(dst, self.slot(a)?),
            Expr::Load { buffer, index, width } => {
                Op::Load { dst, buffer: *buffer, index: self.slot(index)?, width: (*width).into() }
            }
            Expr::Shared(array, index) => Op::Shared { dst, array: *array, index: self.slot(index)? },
            Expr::Element(v, index) => {
                let (_, len) = self.array(*v)?;
                Op::Element { dst, base: self.var(*v)?, len, index: self.slot(index)? }
            }
            Expr::UnpackF16(a) => Op::Unpack(dst, self.slot(a)?),
            Expr::PackF16(a, b) => Op::Pack(dst, self.slot(a)?, self.slot(b)?),
            Expr::Unary(op, a) => Op::Unary(*op, type_of(self.ir, a)?.elem, dst, self.slot(a)?),
            Expr::Binary(op, a, b) => Op::Binary(*op, type_of(self.ir, a)?.elem, dst, self.slot(a)?, self.slot(b)?),
            Expr::Select(c, yes, no) => Op::Select(dst, self.slot(c)?, self.slot(yes)?, self.slot(no)?),
            Expr::Fma(a, b, c) => Op::Fma(dst, self.slot(a)?, self.slot(b)?, self.slot(c)?),
            Expr::ShuffleXor(a, mask) => Op::Shuffle(dst, self.slot(a)?, self.slot(mask)?),
        };
        self.ops.push(op);
        Ok(())
    }
}

/// Whether a buffer may be written, hence raced on.
pub(super) fn writable(ir: &LoopIr, buffer: usize) -> bool {
    ir.buffers.get(buffer).is_some_and(|b| b.access == Access::ReadWrite)
}
