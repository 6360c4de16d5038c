//! Tiles: elements of a tensor, or values of a `let`, that all invocations bring to workgroup memory together.

mod ahead;
mod element;

use super::axes::{Bound, Mask};
use super::build::{add, bin, div, lt, min, mul, rem, scalar, sub, u};
use super::load::plain_axis;
use super::{Env, Key, Lower};
use crate::apply::{TileOf, TilePlan};
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Stmt, Var};
use std::collections::HashMap;
use tilewright_dsl::ir::{self, AxisId, Binary, ExprId, TensorId, Type};
use tilewright_dsl::schedule::{LevelKind, Place};

/// A tile that is filled at this point of the walk.
pub struct Tile {
    /// What it holds.
    pub what: TileOf,
    array: usize,
    dims: Vec<Dim>,
    /// The line of the schedule.
    plan: TilePlan,
    /// From one row to the next, in elements.
    row: u32,
    /// Whether anything reads it.
    used: bool,
}

/// One dimension of a tile.
#[derive(Clone)]
struct Dim {
    /// The axis that walks along it; `None` where it has one element.
    axis: Option<AxisId>,
    /// Whether its values may lie outside the tensor.
    clamped: bool,
    /// The first of the axis' levels that lies inside the tile; `None` where the whole axis does.
    inner: Option<usize>,
    size: u32,
    /// The first value.
    outside: Expr,
}

/// Elements of a tile; what does not fit 32 bits is far over every device's memory.
fn elements(dims: &[Dim]) -> u32 {
    dims.iter().fold(1u32, |n, d| n.saturating_mul(d.size))
}

/// The coordinates inside a tile of its group of neighbours of that number.
fn coordinates(dims: &[Dim], group: u32, at: &Expr) -> Vec<Expr> {
    let mut rest = at.clone();
    let mut coordinates = Vec::new();
    for (d, dim) in dims.iter().enumerate().rev() {
        let size = if d + 1 == dims.len() { dim.size / group } else { dim.size };
        let (above, below) = split(rest.clone(), size);
        let index = if d == 0 { rest.clone() } else { below };
        rest = above;
        coordinates.push(if d + 1 == dims.len() { mul(index, u(group)) } else { index });
    }
    coordinates.reverse();
    coordinates
}

/// Where the tile's group of neighbours of that number lies, with rows so many elements apart.
fn place(dims: &[Dim], row: u32, group: u32, at: &Expr) -> Expr {
    let last = dims.last().map_or(1, |d| d.size);
    if row == last {
        return mul(at.clone(), u(group));
    }
    let inner = coordinates(dims, group, at).pop().unwrap_or(u(0));
    add(mul(split(at.clone(), last / group).0, u(row)), inner)
}

/// `at / n` and `at % n`; a multiple of n that is added to `at` leaves the rest as it is.
fn split(at: Expr, n: u32) -> (Expr, Expr) {
    match at {
        Expr::Binary(Binary::Add, a, more) => match *more {
            Expr::U32(more) if more % n == 0 => (add(div((*a).clone(), n), u(more / n)), rem(*a, n)),
            more => (div(add((*a).clone(), more.clone()), n), rem(add(*a, more), n)),
        },
        at => (div(at.clone(), n), rem(at, n)),
    }
}

/// The most loads of an invocation that are under way together.
const MOST_ROUNDS: u32 = 8;

/// A tensor whose next tile is on its way.
pub struct Ahead {
    /// The axis whose steps it goes with.
    pub axis: AxisId,
    tensor: TensorId,
    /// A register for each load of an invocation, and one for the scale of what it brings.
    registers: Vec<(Var, Option<Var>)>,
}

impl Lower<'_> {
    /// Fills the tiles that are held at this level of the axis.
    pub fn fill_tiles(&mut self, axis: AxisId, level: usize, env: &Env) -> Result<(), ScheduleError> {
        let here: Vec<TilePlan> = self
            .nest
            .tiles
            .iter()
            .filter(|t| t.axis == axis && t.level == level && t.place == Place::Workgroup)
            .cloned()
            .collect();
        for tensors in [true, false] {
            let kind: Vec<&TilePlan> = here.iter().filter(|t| matches!(t.what, TileOf::Tensor(_)) == tensors).collect();
            if kind.is_empty() {
                continue;
            }
            if self.loops > 0 {
                // Others may still read the last step's tile.
                self.emit(Stmt::Barrier);
            }
            let mut filled = Vec::new();
            for plan in kind {
                let tile = match plan.what {
                    TileOf::Tensor(tensor) => self.fill_tensor(plan, tensor, env),
                    TileOf::Value(value) => self.fill_value(plan, value, env),
                };
                match tile {
                    Ok(tile) => filled.push(tile),
                    // The values are made without the tile, so that what else is wrong is found too.
                    Err(error) => self.wrong(error),
                }
            }
            self.tiles.extend(filled);
            self.emit(Stmt::Barrier);
        }
        Ok(())
    }

    /// Drops the tiles that were filled since; one that nothing read is a mistake.
    pub fn drop_tiles(&mut self, from: usize) {
        for tile in self.tiles.split_off(from) {
            if !tile.used {
                let error = self.refuse(
                    &tile.plan,
                    "nothing inside the level reads it",
                    "name a level around its use, or drop the line",
                );
                self.wrong(error);
            }
        }
    }

    fn refuse(&self, plan: &TilePlan, why: &'static str, instead: &'static str) -> ScheduleError {
        let (what, at) = self.nest.tile_names(plan);
        ScheduleError::NoTile { what, at, why, instead }
    }

    /// Whether an axis' values may lie outside its range where a tile is filled.
    fn loose(&self, axis: AxisId) -> bool {
        !self.nest.plan(axis).exact || self.part.is_some_and(|p| p.axis == Some(axis))
    }

    /// How an axis lies in a tile.
    fn dim(&self, plan: &TilePlan, axis: AxisId) -> Result<Dim, ScheduleError> {
        let levels = &self.nest.plan(axis).levels;
        let product = |from: usize| levels[from..].iter().map(|l| l.size).product::<Option<u32>>();
        let bound = self.bound[axis.0 as usize].clone();
        let Some(bound) = bound else {
            let Some(size) = self.nest.plan(axis).extent else {
                return Err(self.refuse(
                    plan,
                    "an axis inside it has a run-time extent",
                    "split the axis: hold the tile at a `serial as NAME` level with sized levels inside",
                ));
            };
            return Ok(Dim { axis: Some(axis), clamped: false, inner: None, size, outside: u(0) });
        };
        let inner = if axis == plan.axis {
            plan.level + 1
        } else {
            levels.iter().position(|l| !matches!(l.kind, LevelKind::Grid | LevelKind::Serial)).unwrap_or(levels.len())
        };
        let Some(size) = product(inner) else {
            return Err(self.refuse(
                plan,
                "a level inside it has no fixed size",
                "give the levels inside sizes, and let the outermost one be open",
            ));
        };
        let outside = match inner {
            0 => bound.lo,
            i => match bound.prefix.get(i - 1) {
                Some(e) => e.clone(),
                None => {
                    return Err(self.refuse(
                        plan,
                        "the steps of an axis inside it do not lie one after the other",
                        "hold it at a level of that axis, or list the axis without a `serial` level",
                    ));
                }
            },
        };
        let clamped = self.loose(axis);
        Ok(Dim { axis: (size > 1).then_some(axis), clamped, inner: Some(inner), size, outside })
    }

    /// Where a copy of an axis lies in a tile.
    fn local(&mut self, dim: &Dim, env: &Env) -> Expr {
        let Some(axis) = dim.axis else { return u(0) };
        let steps = self.bound(axis).steps;
        match dim.inner {
            Some(inner) if !steps.is_empty() => {
                let offset = u(env.get(&axis).copied().unwrap_or(0));
                add(steps.get(inner..).unwrap_or(&[]).iter().cloned().fold(u(0), add), offset)
            }
            Some(_) => {
                // A clamped value may lie before a tile that begins behind the axis' end.
                let value = self.axis_value(axis, env);
                let value = if dim.clamped { bin(Binary::Max, value, dim.outside.clone()) } else { value };
                sub(value, dim.outside.clone())
            }
            None => sub(self.axis_value(axis, env), self.bound(axis).lo),
        }
    }

    /// Workgroup memory for a tile, and the distance of its rows.
    fn allocate(&mut self, name: &str, dims: &[Dim], narrow: bool) -> (usize, u32) {
        let last = dims.last().map_or(1, |d| d.size);
        let row = if narrow { last + PAD } else { row(dims) };
        let len = (elements(dims) / last).saturating_mul(row);
        let array = self.shared(&format!("{name}_tile"), Type::F32, len);
        self.ir.shared[array].narrow = narrow;
        (array, row)
    }

    /// Runs `body` for every group of `group` neighbours of a tile, spread over the invocations; `body` gets the group's number.
    fn spread(
        &mut self,
        dims: &[Dim],
        group: u32,
        body: impl FnOnce(&mut Self, Expr) -> Result<(), ScheduleError>,
    ) -> Result<(), ScheduleError> {
        let total = elements(dims) / group;
        let workgroup = self.nest.workgroup;
        let looped = total > workgroup;
        let var = self.var("fill", Kind::Value(scalar(Type::U32)));
        self.open();
        let at = if looped { Expr::Var(var) } else { Self::lane() };
        body(self, at)?;
        let inner = self.close();
        if looped {
            self.emit(Stmt::For { var, start: Self::lane(), end: u(total), step: u(workgroup), body: inner });
        } else if total < workgroup {
            self.emit(Stmt::If(lt(Self::lane(), u(total)), inner, vec![]));
        } else {
            for stmt in inner {
                self.emit(stmt);
            }
        }
        Ok(())
    }

    /// How a tensor's tile lies, and how many neighbours of it one load brings.
    fn describe(&mut self, plan: &TilePlan, tensor: TensorId, env: &Env) -> Result<(Vec<Dim>, u32), ScheduleError> {
        let kernel = self.nest.kernel;
        if !kernel.exprs.iter().any(|e| matches!(e, ir::Expr::Load(t, _) if *t == tensor)) {
            return Err(self.refuse(plan, "it is never read", "drop the line: a tile is for what is read"));
        }
        let mut patterns: Vec<&Vec<ExprId>> = kernel
            .exprs
            .iter()
            .filter_map(|e| match e {
                ir::Expr::Load(t, indices) if *t == tensor => Some(indices),
                _ => None,
            })
            .collect();
        let alike = |a: &[ExprId], b: &[ExprId]| {
            let same = |(x, y): (&ExprId, &ExprId)| kernel.expr(*x) == kernel.expr(*y);
            a.len() == b.len() && a.iter().zip(b).all(same)
        };
        patterns.dedup_by(|a, b| alike(a, b));
        let [indices] = patterns[..] else {
            return Err(self.refuse(
                plan,
                "it is read in several ways",
                "drop the line: a tile serves one pattern of indices",
            ));
        };
        if kernel.tensor(tensor).elem != Type::F32 {
            return Err(self.refuse(plan, "its elements are integers", "drop the line: only f32 tensors can be held"));
        }
        let mut dims = Vec::new();
        for index in indices {
            dims.push(match plain_axis(kernel, *index) {
                Some(axis) => self.dim(plan, axis)?,
                None => {
                    let free = self.nest.deps.free(*index);
                    let varies = (0..self.bound.len() as u32).map(AxisId).filter(|a| free.has(*a)).any(|a| {
                        let p = self.nest.plan(a);
                        self.bound[a.0 as usize].is_none() || p.lanes > 1 || p.copies().len() > 1 || a == plan.axis
                    });
                    if varies {
                        return Err(self.refuse(
                            plan,
                            "an index is computed from an axis inside it",
                            "hold it at a level inside that axis, or put the axis on `grid` or `serial`",
                        ));
                    }
                    let loose = |a: u32| free.has(AxisId(a)) && self.loose(AxisId(a));
                    let clamped = crate::deps::is_loaded(kernel, *index) || (0..self.bound.len() as u32).any(loose);
                    Dim { axis: None, clamped, inner: None, size: 1, outside: self.value(*index, env)? }
                }
            });
        }
        let layout = self.nest.layout(tensor);
        let last = dims.len() - 1;
        let most = 4 * layout.storage.per_word();
        let aligned = |n: u32| {
            dims[last].size % n == 0
                && !layout.written
                && dims[last].axis.is_some_and(|a| {
                    matches!(self.bound(a).lo, Expr::U32(lo) if lo % n == 0) || self.bound[a.0 as usize].is_none()
                })
        };
        let least = layout.storage.per_word().max(2);
        // Codes come in wide groups: narrower ones that keep all invocations busy are better, and `ahead` needs even shares.
        let shared = |n: &u32| (elements(&dims) / n).is_multiple_of(self.nest.workgroup);
        let sizes = [most, most / 2, if layout.storage.quantised() { most / 4 } else { 2 }];
        let mut fitting = sizes.into_iter().filter(|n| *n >= least && aligned(*n));
        let even = fitting.clone().find(|n| layout.storage.quantised() && shared(n));
        let group = even.or_else(|| fitting.next()).unwrap_or(1);
        Ok((dims, group))
    }

    /// The element number of its row, and the column, of what lies at these coordinates of a tile.
    fn element_number(&mut self, tensor: TensorId, dims: &[Dim], group: u32, coordinates: Vec<Expr>) -> (Expr, Expr) {
        let layout = self.nest.layout(tensor).clone();
        let parts = self.part.filter(|p| p.tensor == tensor);
        let last = dims.len() - 1;
        let mut at = Vec::new();
        for (d, (dim, inside)) in dims.iter().zip(coordinates).enumerate() {
            let mut rows = layout.dims[d];
            let mut index = add(dim.outside.clone(), inside);
            if let (0, Some(part)) = (d, parts) {
                index = sub(index, u(part.start));
                rows = part.rows;
            }
            let limit = if d == last { (rows - 1) / group * group } else { rows - 1 };
            let clamped = dim.clamped || (d == 0 && parts.is_some());
            at.push(if clamped { min(index, u(limit)) } else { index });
        }
        let inner = at.pop().unwrap_or(u(0));
        (self.row_of(tensor, at), inner)
    }

    fn fill_tensor(&mut self, plan: &TilePlan, tensor: TensorId, env: &Env) -> Result<Tile, ScheduleError> {
        let (dims, group) = self.describe(plan, tensor, env)?;
        let fragments = self.feeds_fragments(tensor);
        if fragments && group < 4 {
            return Err(self.refuse(
                plan,
                "its rows are not read by four elements at once",
                "let the levels inside it have a multiple of 4 values, and store nothing to the tensor",
            ));
        }
        let (array, row) = self.allocate(&self.nest.kernel.tensor(tensor).name.clone(), &dims, fragments);
        let tile = Tile { what: plan.what, array, dims: dims.clone(), plan: plan.clone(), row, used: false };
        let rounds = elements(&dims) / group / self.nest.workgroup;
        if let Some(registers) = self.ahead.iter().position(|a| a.tensor == tensor) {
            let registers = self.ahead[registers].registers.clone();
            for (round, register) in registers.into_iter().enumerate() {
                let (words, scale) = (Expr::Var(register.0), register.1.map(Expr::Var));
                let values = self.decode_group(tensor, &words, scale.as_ref(), group);
                self.put(&tile, plan, group, self.turn(round as u32), values);
            }
            return Ok(tile);
        }
        if rounds > 0 && rounds <= MOST_ROUNDS && elements(&dims) / group == rounds * self.nest.workgroup {
            // All loads first, so that they are under way together.
            let mut loaded = Vec::new();
            for round in 0..rounds {
                let coordinates = coordinates(&dims, group, &self.turn(round));
                let (row, column) = self.element_number(tensor, &dims, group, coordinates);
                loaded.push(self.load_group(tensor, row, column, group));
            }
            for (round, values) in (0..rounds).zip(loaded) {
                self.put(&tile, plan, group, self.turn(round), values);
            }
            return Ok(tile);
        }
        self.spread(&dims, group, |this, at| {
            let coordinates = coordinates(&dims, group, &at);
            let (row, column) = this.element_number(tensor, &dims, group, coordinates);
            let values = this.load_group(tensor, row, column, group);
            this.put(&tile, plan, group, at, values);
            Ok(())
        })?;
        Ok(tile)
    }

    fn fill_value(&mut self, plan: &TilePlan, value: ExprId, env: &Env) -> Result<Tile, ScheduleError> {
        let free = self.nest.deps.free(value);
        let mut dims = Vec::new();
        let mut moved = Vec::new();
        for axis in (0..self.bound.len() as u32).map(AxisId).filter(|a| free.has(*a)) {
            if self.bound[axis.0 as usize].is_none() {
                return Err(self.refuse(
                    plan,
                    "it depends on an axis that lies inside the level",
                    "hold it at a level of that axis",
                ));
            }
            let dim = self.dim(plan, axis)?;
            if dim.axis.is_some() || dim.clamped {
                dims.push(dim);
                moved.push(axis);
            }
        }
        if self.nest.kernel.type_of(value) != Type::F32 {
            return Err(self.refuse(plan, "only f32 values can be held", "drop the line"));
        }
        if self.spreads_lanes(value, &moved) {
            return Err(self.refuse(
                plan,
                "a reduction inside it has lanes, and its values are spread over all of them",
                "make the reduction's levels `serial`, `unroll` or `vector`",
            ));
        }
        let name = self.nest.kernel.lets.iter().find(|l| l.value == value).map(|l| l.name.clone()).unwrap_or_default();
        let (array, row) = self.allocate(&name, &dims, false);
        let tile = dims.clone();
        self.spread(&dims, 1, |this, at| {
            let (place, coordinates) = (place(&tile, row, 1, &at), coordinates(&tile, 1, &at));
            let kept = this.forget(&moved);
            let mut outer = Vec::new();
            for ((dim, inside), axis) in tile.iter().zip(coordinates).zip(moved.iter().copied()) {
                let old = this.bound(axis);
                let mut index = add(dim.outside.clone(), inside);
                if dim.clamped {
                    index = min(index, sub(old.hi.clone(), u(1)));
                }
                let name = this.nest.kernel.axis(axis).name.clone();
                let base = this.bind_u32(&name, index);
                let bound = Bound { base, mask: Mask::None, prefix: vec![], steps: vec![], any: true, ..old.clone() };
                this.bound[axis.0 as usize] = Some(bound);
                outer.push((axis, old));
            }
            // The tile's coordinates are whole values: no copy is added to them.
            let env: Env = env.iter().filter(|(a, _)| !moved.contains(a)).map(|(a, o)| (*a, *o)).collect();
            this.prepare(&[value], std::slice::from_ref(&env))?;
            let result = this.value(value, &env)?;
            this.emit(Stmt::StoreShared(array, place, result));
            for (axis, old) in outer {
                this.bound[axis.0 as usize] = Some(old);
            }
            this.scopes = kept;
            Ok(())
        })?;
        Ok(Tile { what: plan.what, array, dims, plan: plan.clone(), row, used: false })
    }

    /// Forgets what depends on axes that mean other elements for a while; gives what was known.
    pub fn forget(&mut self, moved: &[AxisId]) -> Vec<HashMap<Key, Expr>> {
        let kept = self.scopes.clone();
        let stale = |id: ExprId| moved.iter().any(|a| self.nest.deps.free(id).has(*a));
        for scope in &mut self.scopes {
            scope.retain(|key, _| match key {
                Key::Fragment(id, ..)
                | Key::Value(id, _)
                | Key::Field(id, ..)
                | Key::Register(id, ..)
                | Key::Array(id, ..) => !stale(*id),
                Key::Axis(axis, _) => !moved.contains(axis),
                Key::Text(_) => true,
            });
        }
        kept
    }

    /// Whether a value is made by invocations together, each time that one of the tile's axes moves.
    fn spreads_lanes(&self, id: ExprId, moved: &[AxisId]) -> bool {
        crate::deps::any(self.nest.kernel, id, |id| match self.nest.kernel.expr(id) {
            ir::Expr::Reduce(r) => {
                let stale = moved.iter().any(|a| self.nest.deps.free(id).has(*a));
                self.nest.plan(r.axis).lanes > 1 && (stale || self.recall_reduce(id).is_none())
            }
            _ => false,
        })
    }

    fn recall_reduce(&self, id: ExprId) -> Option<Expr> {
        self.recall(&Key::Field(id, 0, Env::new()))
    }
}

/// Elements after each row of a narrow tile: rows of fragments then begin in different banks of workgroup memory.
const PAD: u32 = 8;

/// The distance of a tile's rows: odd, so that lanes that walk over rows meet different banks of workgroup memory.
fn row(dims: &[Dim]) -> u32 {
    let last = dims.last().map_or(1, |d| d.size);
    if last > 1 && elements(dims) > last { last | 1 } else { last }
}
