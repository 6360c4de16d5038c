//! Executes compiled steps, workgroup by workgroup.

mod shared;

use super::compile::{Act, Code, Op, Slot, Step, writable};
use super::memory::{Conflict, Touches};
use super::{InterpError, Invocation, Stats, lanes};
use crate::loops::{Builtin, LoopIr, Stmt, Var};
use crate::text;
use std::collections::HashMap;
use std::mem;
use std::ops::Range;
use tilewright_dsl::ir::{Binary, Type};

/// Bits of unwritten workgroup memory: a NaN, and an index out of any range.
const UNWRITTEN: u32 = 0xffff_dead;

/// The invocations that are active.
struct Mask {
    on: Vec<bool>,
    /// From the first active one to the last.
    range: Range<usize>,
    active: usize,
}

impl Mask {
    fn new(on: Vec<bool>) -> Mask {
        let active = on.iter().filter(|x| **x).count();
        let first = on.iter().position(|x| *x).unwrap_or(0);
        let last = on.iter().rposition(|x| *x).map_or(0, |i| i + 1);
        Mask { on, range: first..last, active }
    }

    fn lanes(&self) -> impl Iterator<Item = usize> {
        self.range.clone().filter(|lane| self.on[*lane])
    }

    /// Those of the active ones for which `f` holds; `None` if all.
    fn narrow(&self, f: impl Fn(usize) -> bool) -> Option<Mask> {
        if self.lanes().all(&f) {
            return None;
        }
        Some(Mask::new((0..self.on.len()).map(|lane| self.on[lane] && f(lane)).collect()))
    }
}

pub(super) struct Machine<'a> {
    ir: &'a LoopIr,
    code: &'a Code<'a>,
    buffers: &'a mut [Vec<u32>],
    subgroup_size: u32,
    check: bool,
    lanes: usize,
    slots: Vec<Vec<u32>>,
    shared: Vec<Vec<u32>>,
    /// The workgroup in which each element of workgroup memory was last written, counted from 1.
    born: Vec<Vec<u32>>,
    shared_touches: Vec<Touches>,
    buffer_touches: Vec<Option<Touches>>,
    /// Those of all subgroups, one after the other, row by row.
    fragments: HashMap<Var, Vec<f32>>,
    stats: Stats,
    workgroup: [u32; 2],
    /// Workgroups along x.
    across: u32,
    /// Counts workgroups from 1.
    serial: u32,
    /// Counts barriers and workgroups from 1.
    epoch: u32,
}

/// Where the elements of fragments lie.
struct Spread {
    side: usize,
    /// Whether a column's elements lie next to each other, not a row's.
    columns: bool,
    /// Elements an index counts.
    unit: usize,
    array: usize,
    index: Slot,
    stride: usize,
}

type Done = Result<(), InterpError>;

impl<'a> Machine<'a> {
    pub(super) fn new(
        ir: &'a LoopIr,
        code: &'a Code<'a>,
        params: &[u32],
        buffers: &'a mut [Vec<u32>],
        subgroup_size: u32,
        check: bool,
    ) -> Self {
        let lanes = ir.workgroup as usize;
        let mut slots = vec![vec![0; lanes]; code.slots];
        for (slot, bits) in &code.constants {
            slots[*slot].fill(*bits);
        }
        for (slot, i) in &code.params {
            slots[*slot].fill(params[*i]);
        }
        let lens: Vec<usize> = ir.shared.iter().map(|s| s.len as usize).collect();
        let tracked = |i: usize, b: &Vec<u32>| (check && writable(ir, i)).then_some(b.len());
        let tracked: Vec<_> = buffers.iter().enumerate().map(|(i, b)| tracked(i, b)).collect();
        Machine {
            ir,
            code,
            buffers,
            subgroup_size,
            check,
            lanes,
            slots,
            shared: lens.iter().map(|n| vec![UNWRITTEN; *n]).collect(),
            born: lens.iter().map(|n| vec![0; *n]).collect(),
            shared_touches: lens.iter().map(|n| Touches::new(*n)).collect(),
            buffer_touches: tracked.iter().map(|n| n.map(Touches::new)).collect(),
            fragments: HashMap::new(),
            stats: Stats { written: tracked.iter().map(|n| vec![0; n.unwrap_or(0)]).collect(), barriers: 0 },
            workgroup: [0, 0],
            across: 1,
            serial: 0,
            epoch: 0,
        }
    }

    pub(super) fn run(mut self, dispatch: [u32; 2]) -> Result<Stats, InterpError> {
        let all = Mask::new(vec![true; self.lanes]);
        let code = self.code;
        self.across = dispatch[0];
        for y in 0..dispatch[1] {
            for x in 0..dispatch[0] {
                self.workgroup = [x, y];
                self.serial += 1;
                self.epoch += 1;
                self.shared.iter_mut().for_each(|s| s.fill(UNWRITTEN));
                self.builtins();
                self.block(&code.steps, &all)?;
            }
        }
        Ok(self.stats)
    }

    fn builtins(&mut self) {
        for (slot, builtin) in &self.code.builtins {
            let values = &mut self.slots[*slot];
            for (lane, value) in (0u32..).zip(values) {
                *value = match builtin {
                    Builtin::LocalIndex => lane,
                    Builtin::WorkgroupX => self.workgroup[0],
                    Builtin::WorkgroupY => self.workgroup[1],
                    Builtin::SubgroupSize => self.subgroup_size,
                    Builtin::SubgroupInvocation => lane % self.subgroup_size,
                };
            }
        }
    }

    fn block(&mut self, steps: &'a [Step<'a>], mask: &Mask) -> Done {
        for step in steps {
            for op in &step.ops {
                self.op(op, mask, step.stmt)?;
            }
            self.act(step, mask)?;
        }
        Ok(())
    }

    fn act(&mut self, step: &'a Step<'a>, mask: &Mask) -> Done {
        match &step.act {
            Act::Nothing => {}
            Act::Move(dst, src, width) => (0..*width).for_each(|c| self.assign(dst + c, src + c, mask)),
            Act::Zero(base, len) => {
                for slot in *base..base + len {
                    mask.lanes().for_each(|lane| self.slots[slot][lane] = 0);
                }
            }
            Act::SetElement { base, len, index, value } => {
                for lane in mask.lanes() {
                    let i = self.slots[*index][lane] as usize;
                    if i >= *len {
                        return Err(self.outside("a private array", i as u64, *len, lane, step.stmt));
                    }
                    self.slots[base + i][lane] = self.slots[*value][lane];
                }
            }
            Act::StoreShared { array, index, value } => self.store_shared(*array, *index, *value, mask, step.stmt)?,
            Act::Store { buffer, index, value } => self.store(*buffer, *index, *value, mask, step.stmt)?,
            Act::For { var, start, end, step: by, body } => {
                self.assign_copy(*var, *start, mask);
                self.repeat([*var, *end, *by], body, mask, step.stmt)?;
            }
            Act::If { cond, then, or } => {
                let cond: Vec<bool> = self.slots[*cond].iter().map(|c| *c != 0).collect();
                let yes = mask.narrow(|lane| cond[lane]);
                match &yes {
                    None => return self.block(then, mask),
                    Some(some) if some.active > 0 => self.block(then, some)?,
                    Some(_) => return self.block(or, mask),
                }
                if !or.is_empty() {
                    let no = Mask::new((0..self.lanes).map(|lane| mask.on[lane] && !cond[lane]).collect());
                    self.block(or, &no)?;
                }
            }
            Act::StoreNarrow { array, index, values } => self.store_narrow(*array, *index, *values, mask, step.stmt)?,
            Act::ZeroFragment(side, var) => {
                self.all_active(mask, step.stmt)?;
                let all = self.lanes.div_ceil(self.subgroup_size as usize) * side * side;
                self.fragments.insert(*var, vec![0.0; all]);
            }
            Act::LoadFragment { side, columns, var, array, index, stride } => {
                self.all_active(mask, step.stmt)?;
                let at =
                    Spread { side: *side, columns: *columns, unit: 4, array: *array, index: *index, stride: *stride };
                let mut values = Vec::new();
                for (who, i) in self.elements(&at, step.stmt)? {
                    let bits = self.read_shared(*array, i, who, step.stmt)?;
                    values.push(f32::from_bits(bits));
                }
                self.fragments.insert(*var, values);
            }
            Act::MultiplyAdd { side, sum, a, b } => {
                self.all_active(mask, step.stmt)?;
                let mut sums = self.fragments.remove(sum).unwrap_or_default();
                if let (Some(a), Some(b)) = (self.fragments.get(a), self.fragments.get(b)) {
                    lanes::multiply_add(*side, &mut sums, a, b);
                }
                self.fragments.insert(*sum, sums);
            }
            Act::StoreFragment { side, var, array, index, stride } => {
                self.all_active(mask, step.stmt)?;
                let at = Spread { side: *side, columns: false, unit: 1, array: *array, index: *index, stride: *stride };
                let values = self.fragments.get(var).cloned().unwrap_or_default();
                for ((who, i), value) in self.elements(&at, step.stmt)?.into_iter().zip(values) {
                    self.write_shared(*array, i, value.to_bits(), who, step.stmt)?;
                }
            }
            Act::Barrier => {
                self.all_active(mask, step.stmt)?;
                self.epoch += 1;
                self.stats.barriers += 1;
            }
        }
        Ok(())
    }

    fn repeat(&mut self, [var, end, by]: [Slot; 3], body: &'a [Step<'a>], mask: &Mask, stmt: &Stmt) -> Done {
        let mut narrowed: Option<Mask> = None;
        loop {
            let current = narrowed.as_ref().unwrap_or(mask);
            let (counter, last) = (&self.slots[var], &self.slots[end]);
            if let Some(some) = current.narrow(|lane| counter[lane] < last[lane]) {
                if some.active == 0 {
                    return Ok(());
                }
                narrowed = Some(some);
            }
            let current = narrowed.as_ref().unwrap_or(mask);
            if current.active == 0 {
                return Ok(());
            }
            self.block(body, current)?;
            for lane in current.lanes() {
                let step = self.slots[by][lane];
                match self.slots[var][lane].checked_add(step) {
                    Some(next) if step > 0 => self.slots[var][lane] = next,
                    _ => return Err(InterpError::Endless { by: self.invocation(lane), statement: self.quote(stmt) }),
                }
            }
        }
    }

    /// `src` is not read again.
    fn assign(&mut self, dst: Slot, src: Slot, mask: &Mask) {
        if mask.active == self.lanes { self.slots.swap(dst, src) } else { self.assign_copy(dst, src, mask) }
    }

    fn assign_copy(&mut self, dst: Slot, src: Slot, mask: &Mask) {
        let mut d = mem::take(&mut self.slots[dst]);
        let s = &self.slots[src];
        mask.lanes().for_each(|lane| d[lane] = s[lane]);
        self.slots[dst] = d;
    }

    /// Computes one operator. Plain arithmetic is done for inactive invocations too, where it is harmless.
    fn op(&mut self, op: &Op, mask: &Mask, stmt: &Stmt) -> Done {
        let r = || mask.range.clone();
        match *op {
            Op::Copy(dst, a) => self.with(dst, |m, d| d[r()].copy_from_slice(&m.slots[a][r()])),
            Op::Unary(op, ty, dst, a) => self.with(dst, |m, d| lanes::unary(op, ty, &mut d[r()], &m.slots[a][r()])),
            Op::Binary(op, ty, dst, a, b) => {
                if ty == Type::U32 && matches!(op, Binary::Div | Binary::Rem) {
                    let zero = mask.lanes().find(|lane| self.slots[b][*lane] == 0);
                    if let Some(lane) = zero {
                        let (by, statement) = (self.invocation(lane), self.quote(stmt));
                        return Err(InterpError::DivisionByZero { by, statement });
                    }
                }
                self.with(dst, |m, d| lanes::binary(op, ty, &mut d[r()], &m.slots[a][r()], &m.slots[b][r()]));
            }
            Op::Select(dst, c, yes, no) => self.with(dst, |m, d| {
                lanes::select(&mut d[r()], &m.slots[c][r()], &m.slots[yes][r()], &m.slots[no][r()]);
            }),
            Op::Fma(dst, a, b, c) => self.with(dst, |m, d| {
                lanes::fma(&mut d[r()], &m.slots[a][r()], &m.slots[b][r()], &m.slots[c][r()]);
            }),
            Op::Unpack(dst, a) => {
                for (slot, shift) in [(dst, 0), (dst + 1, 16)] {
                    self.with(slot, |m, d| lanes::unpack(&mut d[r()], &m.slots[a][r()], shift));
                }
            }
            Op::Pack(dst, a, b) => self.with(dst, |m, d| lanes::pack(&mut d[r()], &m.slots[a][r()], &m.slots[b][r()])),
            Op::Shuffle(dst, a, by) => self.shuffle(dst, a, by, mask, stmt)?,
            Op::Load { dst, buffer, index, width } => self.load(dst, buffer, index, width, mask, stmt)?,
            Op::Shared { dst, array, index } => self.load_shared(dst, array, index, mask, stmt)?,
            Op::Element { dst, base, len, index } => {
                for lane in mask.lanes() {
                    let i = self.slots[index][lane] as usize;
                    if i >= len {
                        return Err(self.outside("a private array", i as u64, len, lane, stmt));
                    }
                    self.slots[dst][lane] = self.slots[base + i][lane];
                }
            }
        }
        Ok(())
    }

    /// Lends a slot out to be filled from the others.
    fn with(&mut self, dst: Slot, f: impl FnOnce(&Self, &mut [u32])) {
        let mut d = mem::take(&mut self.slots[dst]);
        f(self, &mut d);
        self.slots[dst] = d;
    }

    fn load(&mut self, dst: Slot, buffer: usize, index: Slot, width: usize, mask: &Mask, stmt: &Stmt) -> Done {
        let len = self.buffers[buffer].len();
        for lane in mask.lanes() {
            let first = u64::from(self.slots[index][lane]) * width as u64;
            let Some(first) = usize::try_from(first).ok().filter(|i| i + width <= len) else {
                return Err(self.outside(&self.ir.buffers[buffer].name, first, len, lane, stmt));
            };
            for c in 0..width {
                self.slots[dst + c][lane] = self.buffers[buffer][first + c];
            }
            if self.check && self.buffer_touches[buffer].is_some() {
                let who = self.who(lane);
                for i in first..first + width {
                    let touch = self.buffer_touches[buffer].as_mut().map_or(Ok(()), |t| t.read(i, who, 1));
                    touch.map_err(|c| self.race(&self.ir.buffers[buffer].name, i, c, who, "reads", stmt))?;
                }
            }
        }
        Ok(())
    }

    fn store(&mut self, buffer: usize, index: Slot, value: Slot, mask: &Mask, stmt: &Stmt) -> Done {
        let (name, len) = (&self.ir.buffers[buffer].name, self.buffers[buffer].len());
        if !writable(self.ir, buffer) {
            return Err(InterpError::ReadOnly { array: name.clone(), statement: self.quote(stmt) });
        }
        for lane in mask.lanes() {
            let i = self.inside(name, len, index, lane, stmt)?;
            if self.check {
                let who = self.who(lane);
                let touch = self.buffer_touches[buffer].as_mut().map_or(Ok(()), |t| t.write(i, who, 1));
                touch.map_err(|c| self.race(name, i, c, who, "writes", stmt))?;
                let count = &mut self.stats.written[buffer][i];
                *count = count.saturating_add(1);
            }
            self.buffers[buffer][i] = self.slots[value][lane];
        }
        Ok(())
    }

    /// The elements of each subgroup's fragment, row by row: who touches it, and where it lies.
    fn elements(&self, at: &Spread, stmt: &Stmt) -> Result<Vec<(usize, usize)>, InterpError> {
        let size = self.subgroup_size as usize;
        let len = self.shared[at.array].len();
        let mut all = Vec::new();
        for first in (0..self.lanes).step_by(size) {
            let index = self.slots[at.index][first];
            let others = first..self.lanes.min(first + size);
            if let Some(lane) = others.clone().find(|lane| self.slots[at.index][*lane] != index) {
                let (by, statement) = (self.invocation(lane), self.quote(stmt));
                return Err(InterpError::Apart { by, statement });
            }
            for (row, column) in (0..at.side).flat_map(|r| (0..at.side).map(move |c| (r, c))) {
                let (outer, inner) = if at.columns { (column, row) } else { (row, column) };
                let i = (index as usize + outer * at.stride) * at.unit + inner;
                if i >= len {
                    let name = &self.ir.shared[at.array].name;
                    return Err(self.outside(name, i as u64, len, first, stmt));
                }
                all.push((first, i));
            }
        }
        Ok(all)
    }

    fn all_active(&self, mask: &Mask, stmt: &Stmt) -> Done {
        if mask.active == self.lanes {
            return Ok(());
        }
        let (workgroup, statement) = (self.workgroup, self.quote(stmt));
        Err(InterpError::Divergent { active: mask.active, all: self.lanes, workgroup, statement })
    }

    fn quote(&self, stmt: &Stmt) -> String {
        text::line(self.ir, stmt)
    }

    /// A number for each invocation of the dispatch.
    fn who(&self, lane: usize) -> u32 {
        (self.serial - 1).wrapping_mul(self.lanes as u32).wrapping_add(lane as u32)
    }

    fn invocation(&self, lane: usize) -> Invocation {
        Invocation { workgroup: self.workgroup, lane: lane as u32 }
    }

    /// The index that an invocation has for an array of that length.
    fn inside(&self, array: &str, len: usize, index: Slot, lane: usize, stmt: &Stmt) -> Result<usize, InterpError> {
        let i = self.slots[index][lane] as usize;
        if i < len { Ok(i) } else { Err(self.outside(array, i as u64, len, lane, stmt)) }
    }

    fn outside(&self, array: &str, index: u64, len: usize, lane: usize, stmt: &Stmt) -> InterpError {
        let (by, statement) = (self.invocation(lane), self.quote(stmt));
        InterpError::OutOfBounds { array: array.to_owned(), index, len, by, statement }
    }

    fn race(
        &self,
        array: &str,
        index: usize,
        conflict: Conflict,
        who: u32,
        does: &'static str,
        stmt: &Stmt,
    ) -> InterpError {
        let invocation = |who: u32| {
            let (group, lane) = (who / self.lanes as u32, who % self.lanes as u32);
            Invocation { workgroup: [group % self.across, group / self.across], lane }
        };
        InterpError::Race {
            array: array.to_owned(),
            index: index as u64,
            first: invocation(conflict.first),
            did: conflict.did,
            second: invocation(who),
            does,
            statement: self.quote(stmt),
        }
    }
}
