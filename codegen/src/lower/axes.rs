//! Entering an axis: levels become indices, loops, masks and copies.

use super::build::{add, and, cheap, div, lt, min, mul, rem, sub, u};
use super::{Env, Key, Lower};
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Stmt, Var};
use tilewright_dsl::ir::{AxisId, Type};
use tilewright_dsl::schedule::LevelKind;

/// Where an axis' value may lie outside its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mask {
    /// Nowhere.
    None,
    /// At copies with an offset.
    Copies,
    /// Everywhere: the body runs on clamped values.
    All,
}

/// How an entered axis is indexed.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Its value, but for the copy's offset.
    pub base: Expr,
    /// Its first value.
    pub lo: Expr,
    /// One past its last value.
    pub hi: Expr,
    /// Its value up to and including each level (0 for what comes later); empty in the strided form.
    pub prefix: Vec<Expr>,
    /// What each level alone adds; empty in the strided form.
    pub steps: Vec<Expr>,
    /// Number of the step in the serial levels: which element of a private array.
    pub slot: Expr,
    /// Where it may lie outside.
    pub mask: Mask,
    /// Whether the value is any one, so that it need not begin a group of neighbours.
    pub any: bool,
    /// The copy that a condition around the code at hand has found inside, beyond what `mask` says.
    pub tested: u32,
}

/// What has to be closed when an axis is left, outermost first.
pub struct Entered {
    axis: AxisId,
    closers: Vec<Closer>,
    tiles: usize,
}

enum Closer {
    For { var: Var, start: Expr, end: Expr, step: u32 },
    If(Expr),
}

impl Lower<'_> {
    /// First and one-past-last value of an axis, and its extent where it is fixed. A split tensor's axis covers the part.
    fn range(&mut self, axis: AxisId, env: &Env) -> Result<(Expr, Expr, Option<u32>), ScheduleError> {
        if let Some(part) = self.part.filter(|p| p.axis == Some(axis)) {
            return Ok((u(part.start), u(part.start + part.rows), Some(part.rows)));
        }
        let decl = self.nest.kernel.axis(axis);
        let (lo, hi) = (decl.lo, decl.hi);
        let lo = self.value(lo, env)?;
        let hi = self.value(hi, env)?;
        Ok((lo, hi, self.nest.plan(axis).extent))
    }

    /// Enters an axis. With `together`, all invocations stay in step, so that the body may hold barriers.
    pub fn enter(&mut self, axis: AxisId, env: &Env, together: bool) -> Result<Entered, ScheduleError> {
        let plan = self.nest.plan(axis).clone();
        let name = self.nest.kernel.axis(axis).name.rsplit('.').next().unwrap_or_default().to_string();
        let (lo, hi, extent) = self.range(axis, env)?;
        let hi = if cheap(&hi) { hi } else { self.bind_u32(&format!("{name}_end"), hi) };
        let last = if together { self.last_end(axis, &name, env)? } else { None };
        // Lanes that end earlier go on with the others, masked.
        let exact = plan.covers(extent) && last.is_none();
        let most = last.unwrap_or(hi.clone());
        let mut entered = Entered { axis, closers: vec![], tiles: self.tiles.len() };
        let serial: Vec<usize> = (0..plan.levels.len()).filter(|i| plan.levels[*i].kind == LevelKind::Serial).collect();
        let copies = plan.copies().len() > 1;
        let strided = !together && serial == [0] && (plan.levels[0].size != Some(1));
        let mut base = lo.clone();
        let (mut prefix, mut steps) = (Vec::new(), Vec::new());
        let mut slot = u(0);
        for (i, level) in plan.levels.iter().enumerate() {
            let before = base.clone();
            let mut next = None;
            let step = match level.kind {
                LevelKind::Grid => self.grid_index(axis),
                LevelKind::Lanes => self.lane_index(plan.stride, plan.lanes),
                LevelKind::Serial if strided => u(0),
                LevelKind::Serial => {
                    let count = match plan.count(i, extent) {
                        Some(n) => u(n),
                        None => {
                            let length = sub(most.clone(), lo.clone());
                            div(add(length, u(level.weight - 1)), level.weight)
                        }
                    };
                    let label = level
                        .name
                        .clone()
                        .unwrap_or_else(|| if plan.levels.len() == 1 { name.clone() } else { format!("{name}_step") });
                    if count == u(1) {
                        u(0)
                    } else {
                        let count = self.bind_u32(&format!("{label}_count"), count);
                        self.at_step(axis, i, &base, [&lo, &most]);
                        self.begin_ahead(axis, i, env)?;
                        next = Some(count.clone());
                        let var = self.var(&label, Kind::Value(super::build::scalar(Type::U32)));
                        entered.closers.push(Closer::For { var, start: u(0), end: count, step: 1 });
                        self.open();
                        self.loops += 1;
                        slot = match level.size {
                            Some(n) => add(mul(slot, u(n)), Expr::Var(var)),
                            None => Expr::Var(var),
                        };
                        Expr::Var(var)
                    }
                }
                LevelKind::Unroll | LevelKind::Vector | LevelKind::Matrix => u(0),
            };
            let index = step.clone();
            let step = mul(step, u(level.weight));
            base = add(base, step.clone());
            steps.push(step);
            prefix.push(base.clone());
            self.bound[axis.0 as usize] = Some(Bound {
                base: base.clone(),
                lo: lo.clone(),
                hi: most.clone(),
                prefix: prefix.clone(),
                steps: steps.clone(),
                slot: slot.clone(),
                mask: Mask::None,
                any: false,
                tested: 0,
            });
            self.fill_tiles(axis, i, env)?;
            if let Some(count) = next {
                let following = add(index, u(1));
                let there = add(before, mul(following.clone(), u(level.weight)));
                let now = self.at_step(axis, i, &there, [&lo, &most]);
                self.go_ahead(axis, i, lt(following, count), env)?;
                self.bound[axis.0 as usize] = now;
            }
        }
        let mut mask = if exact { Mask::None } else { Mask::All };
        if strided {
            let step = plan.levels[0].weight;
            // A loop that runs exactly once is no loop.
            if plan.count(0, extent) == Some(1) && exact {
                mask = Mask::None;
            } else {
                let var = self.var(&name, Kind::Value(super::build::scalar(Type::U32)));
                entered.closers.push(Closer::For { var, start: base, end: hi.clone(), step });
                self.open();
                self.loops += 1;
                base = Expr::Var(var);
                slot = div(sub(base.clone(), lo.clone()), step);
                mask = if exact || !copies { Mask::None } else { Mask::Copies };
            }
            prefix.clear();
            steps.clear();
        } else {
            base = self.bind_u32(&name, base);
            if mask == Mask::All && !together {
                entered.closers.push(Closer::If(lt(base.clone(), hi.clone())));
                self.open();
                mask = if copies { Mask::Copies } else { Mask::None };
            }
        }
        self.bound[axis.0 as usize] = Some(Bound { base, lo, hi, prefix, steps, slot, mask, any: false, tested: 0 });
        Ok(entered)
    }

    /// Lets an axis stand at a value of one of its levels, for as long as a tile there is looked at; how it stood is given back.
    fn at_step(&mut self, axis: AxisId, level: usize, value: &Expr, [lo, hi]: [&Expr; 2]) -> Option<Bound> {
        let now = self.bound[axis.0 as usize].clone();
        let old = self.bound(axis);
        let mut prefix = old.prefix.clone();
        prefix.truncate(level);
        prefix.push(value.clone());
        let (base, lo, hi) = (value.clone(), lo.clone(), hi.clone());
        self.bound[axis.0 as usize] = Some(Bound { base, lo, hi, prefix, ..old });
        now
    }

    /// Where the end of an axis differs between lanes: the end for the last of them, which is the same in all.
    fn last_end(&mut self, axis: AxisId, name: &str, env: &Env) -> Result<Option<Expr>, ScheduleError> {
        let hi = self.nest.kernel.axis(axis).hi;
        let free = self.nest.deps.free(hi);
        let moved: Vec<AxisId> =
            (0..self.bound.len() as u32).map(AxisId).filter(|a| free.has(*a) && self.nest.plan(*a).lanes > 1).collect();
        if moved.is_empty() {
            return Ok(None);
        }
        let kept = self.forget(&moved);
        let mut outer = Vec::new();
        for a in &moved {
            let old = self.bound(*a);
            let plan = self.nest.plan(*a);
            let inner = plan.levels.iter().position(|l| l.kind == LevelKind::Lanes).unwrap_or(0);
            let span: u32 = plan.levels[inner..].iter().filter_map(|l| l.size).product();
            let first = if inner == 0 { old.lo.clone() } else { old.prefix.get(inner - 1).cloned().unwrap_or(u(0)) };
            let last = min(add(first, u(span - 1)), sub(old.hi.clone(), u(1)));
            self.bound[a.0 as usize] = Some(Bound { base: last, mask: Mask::None, any: true, ..old.clone() });
            outer.push((*a, old));
        }
        let mut env = env.clone();
        env.retain(|a, _| !moved.contains(a));
        let end = self.value(hi, &env)?;
        for (a, old) in outer {
            self.bound[a.0 as usize] = Some(old);
        }
        self.scopes = kept;
        Ok(Some(self.bind_u32(&format!("{name}_last"), end)))
    }

    /// Leaves an axis: closes its loops and masks, drops its tiles.
    pub fn leave(&mut self, entered: Entered) {
        for closer in entered.closers.into_iter().rev() {
            let body = self.close();
            match closer {
                Closer::For { var, start, end, step } => {
                    self.loops -= 1;
                    self.emit(Stmt::For { var, start, end, step: u(step), body });
                }
                Closer::If(cond) => self.emit(Stmt::If(cond, body, vec![])),
            }
        }
        self.drop_tiles(entered.tiles);
        self.ahead.retain(|a| a.axis != entered.axis);
        self.bound[entered.axis.0 as usize] = None;
    }

    /// The index of this invocation along an axis with that stride.
    pub fn lane_index(&self, stride: u32, lanes: u32) -> Expr {
        if lanes == 1 {
            return u(0);
        }
        let whole = stride * lanes == self.nest.workgroup;
        let index = div(Self::lane(), stride);
        if whole { index } else { rem(index, lanes) }
    }

    /// How an entered axis is indexed.
    pub fn bound(&self, axis: AxisId) -> Bound {
        self.bound[axis.0 as usize].clone().unwrap_or(Bound {
            base: u(0),
            lo: u(0),
            hi: u(0),
            prefix: vec![],
            steps: vec![],
            slot: u(0),
            mask: Mask::None,
            any: false,
            tested: 0,
        })
    }

    /// The value of an axis at a copy, inside its range.
    pub fn axis_value(&mut self, axis: AxisId, env: &Env) -> Expr {
        let offset = env.get(&axis).copied().unwrap_or(0);
        let bound = self.bound(axis);
        let surely_inside = self.surely_inside(axis, offset);
        let raw = add(bound.base, u(offset));
        if surely_inside {
            return raw;
        }
        let key = Key::Axis(axis, offset);
        if let Some(known) = self.recall(&key) {
            return known;
        }
        let name = self.nest.kernel.axis(axis).name.rsplit('.').next().unwrap_or_default().to_string();
        let value = self.bind_u32(&format!("{name}_in"), min(raw, sub(bound.hi, u(1))));
        self.remember(key, value.clone());
        value
    }

    /// Whether an axis lies inside its range at a copy; `None` where it always does.
    pub fn inside(&self, axis: AxisId, env: &Env, so_far: Option<Expr>) -> Option<Expr> {
        let offset = env.get(&axis).copied().unwrap_or(0);
        if self.surely_inside(axis, offset) {
            return so_far;
        }
        let bound = self.bound(axis);
        match lt(add(bound.base, u(self.entry(axis, offset))), bound.hi) {
            Expr::Bool(true) => so_far,
            test => Some(and(so_far, test)),
        }
    }

    /// Whether a copy lies inside its axis' range wherever the code at hand runs.
    pub fn surely_inside(&self, axis: AxisId, offset: u32) -> bool {
        let bound = self.bound(axis);
        match bound.mask {
            Mask::None => true,
            Mask::Copies => [0, bound.tested].contains(&self.entry(axis, offset)),
            Mask::All => false,
        }
    }

    /// The copy whose place inside the range decides about this one: the first of its vector, where those come whole.
    pub fn entry(&self, axis: AxisId, offset: u32) -> u32 {
        let plan = self.nest.plan(axis);
        let part = self.part.filter(|p| p.axis == Some(axis)).map(|p| p.rows);
        let whole = part.or(plan.extent).is_some_and(|n| n.is_multiple_of(plan.vector()));
        if whole { offset - offset % plan.vector() } else { offset }
    }

    /// All copies of these axes, on top of those at hand.
    pub fn copies(&self, axis: AxisId, envs: &[Env]) -> Vec<Env> {
        let offsets = self.nest.plan(axis).copies();
        if offsets.len() == 1 {
            return envs.to_vec();
        }
        envs.iter()
            .flat_map(|e| {
                offsets.iter().map(|o| {
                    let mut env = e.clone();
                    env.insert(axis, *o);
                    env
                })
            })
            .collect()
    }
}
