//! Codes: what the elements of int8 and nf4 tensors mean, and how a sum takes their scales out of its terms.
//!
//! An int8 code becomes the lowest bits of an f32 of 2^23, from which that is subtracted: exact, and no conversion. An nf4
//! code is looked up in workgroup memory, which holds the levels once for each of up to 32 lanes, so that lanes never meet in a bank.
//! An element is `meaning * scale`; where a sum adds elements of one scale in a row, its terms are added without it and multiplied
//! by it once. That reorders rounding and changes no value. How rows are made of codes and scales is `dsl::storage`'s to say.

use super::build::{add, bin, div, lt, mul, rem, scalar, u};
use super::load::in_units;
use super::merge::{Acc, Slot};
use super::{Env, Key, Lower};
use crate::apply::TileOf;
use crate::deps::{self, AxisSet};
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, Stmt, Var};
use tilewright_dsl::ir::{self, Binary, ExprId, Reduce, TensorId, Type};
use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::quantised::{BIAS, BLOCK, LEVELS};

/// The table of levels in workgroup memory: level `i` lies at `i << shift`, once for each of `1 << shift` lanes.
pub struct Levels {
    array: usize,
    shift: u32,
    /// This invocation's copy.
    copy: Expr,
}

/// Most copies of the table: as many as workgroup memory has banks.
const COPIES: u32 = 32;

impl Lower<'_> {
    /// Fills the table of levels, if there are codes that need it.
    pub fn fill_levels(&mut self) {
        if self.nest.tensors.iter().all(|t| t.storage != Storage::Nf4) {
            return;
        }
        let shift = self.nest.workgroup.clamp(1, COPIES).ilog2();
        let copies = 1 << shift;
        let array = self.shared("levels", Type::F32, LEVELS.len() as u32 * copies);
        self.open();
        for (i, level) in LEVELS.iter().enumerate() {
            let at = add(Self::lane(), u((i as u32) << shift));
            self.emit(Stmt::StoreShared(array, at, Expr::F32(*level)));
        }
        let fill = self.close();
        if self.nest.workgroup == copies {
            // Each invocation reads what it wrote itself.
            fill.into_iter().for_each(|stmt| self.emit(stmt));
        } else {
            self.emit(Stmt::If(lt(Self::lane(), u(copies)), fill, vec![]));
            self.emit(Stmt::Barrier);
        }
        let copy = if copies == 1 { u(0) } else { Self::lane() };
        let copy = if self.nest.workgroup == copies { copy } else { self.bind_u32("copy", rem(Self::lane(), copies)) };
        self.levels = Some(Levels { array, shift, copy });
    }

    /// The element of a quantised tensor at a column of a row.
    pub fn load_code(&mut self, tensor: TensorId, row: Expr, last: Expr) -> Expr {
        let storage = self.nest.layout(tensor).storage;
        let per_word = storage.per_word();
        let (row, last) = (self.bind_u32("row", row), self.bind_u32("column", last));
        let scale = self.scale(tensor, &row, &last);
        let word = self.words(tensor, add(in_units(row, per_word), div(last.clone(), per_word)), 1);
        let meaning = self.code(storage, word, rem(last, per_word));
        scaled(meaning, Some(&scale))
    }

    /// What code number `at` of a word means, without its scale.
    pub fn code(&mut self, storage: Storage, word: Expr, at: Expr) -> Expr {
        let bits = 32 / storage.per_word();
        let mask = (1u32 << bits) - 1;
        let meaning = match (storage, &self.levels) {
            (Storage::Nf4, Some(levels)) => {
                // The code is moved at once to where it counts copies of the table.
                let moved = match (&at, levels.shift) {
                    (Expr::U32(n), shift) if n * bits >= shift => shifted(Binary::Shr, word, u(n * bits - shift)),
                    (Expr::U32(n), shift) => shifted(Binary::Shl, word, u(shift - n * bits)),
                    (_, shift) => shifted(Binary::Shl, shifted(Binary::Shr, word, mul(at.clone(), u(bits))), u(shift)),
                };
                let level = bin(Binary::And, moved, u(mask << levels.shift));
                let index = if levels.copy == u(0) { level } else { bin(Binary::Or, level, levels.copy.clone()) };
                Expr::Shared(levels.array, Box::new(index))
            }
            _ => {
                let top = at == u(32 / bits - 1);
                let moved = shifted(Binary::Shr, word, mul(at, u(bits)));
                let byte = if top { moved } else { bin(Binary::And, moved, u(mask)) };
                let large = Expr::FromBits(Box::new(bin(Binary::Or, byte, u(LARGE.to_bits()))));
                bin(Binary::Sub, large, Expr::F32(LARGE + BIAS as f32))
            }
        };
        let key = Key::Text(format!("{meaning:?}"));
        if let Some(known) = self.recall(&key) {
            return known;
        }
        let value = self.bind_f32("code", meaning);
        self.remember(key, value.clone());
        value
    }

    /// The scale of the elements at a column of a row, loaded once a scope.
    pub fn scale(&mut self, tensor: TensorId, row: &Expr, last: &Expr) -> Expr {
        let load = self.scale_word(tensor, row, last);
        let key = Key::Text(format!("{load:?}"));
        if let Some(known) = self.recall(&key) {
            return known;
        }
        let value = self.bind_f32(&format!("{}_scale", self.nest.kernel.tensor(tensor).name), load);
        if let Expr::Var(var) = value {
            self.scales.insert(var);
        }
        self.remember(key, value.clone());
        value
    }

    /// The load of a scale.
    pub fn scale_word(&mut self, tensor: TensorId, row: &Expr, last: &Expr) -> Expr {
        let layout = self.nest.layout(tensor);
        let first = layout.storage.element_words(layout.dims.last().copied().unwrap_or(1));
        let block = if layout.storage == Storage::Nf4 { div(last.clone(), BLOCK) } else { u(0) };
        let at = add(add(in_units(row.clone(), layout.storage.per_word()), block), u(first));
        Expr::FromBits(Box::new(Expr::Load { buffer: self.buffer(tensor), index: Box::new(at), width: 1 }))
    }

    /// Loads the scales that a reduction's steps share before its loops begin.
    pub fn early_scales(&mut self, reduce: &Reduce, entered: AxisSet, envs: &[Env]) -> Result<(), ScheduleError> {
        let kernel = self.nest.kernel;
        let mut loads: Vec<(TensorId, &[ExprId])> = Vec::new();
        for id in deps::all(kernel, reduce.body.to_vec()) {
            let ir::Expr::Load(tensor, indices) = kernel.expr(id) else { continue };
            let held = self.nest.tiles.iter().any(|t| t.what == TileOf::Tensor(*tensor));
            let rows = &indices[..indices.len() - 1];
            let known = rows.iter().all(|i| self.nest.deps.free(*i).within(entered));
            if self.nest.layout(*tensor).storage == Storage::Int8
                && !held
                && known
                && !loads.contains(&(*tensor, indices))
            {
                loads.push((*tensor, indices));
            }
        }
        for env in envs {
            for (tensor, indices) in &loads {
                let row = self.row(*tensor, indices, env)?;
                self.scale(*tensor, &row, &u(0));
            }
        }
        Ok(())
    }

    /// Adds terms to sums, by point and field; those that share a scale in a row are multiplied by it together.
    pub fn add_terms(&mut self, points: &[(Env, &Acc, u32)], values: Vec<Vec<Option<Expr>>>) {
        let mut open: Vec<(Var, Var, Expr)> = Vec::new();
        for ((_, acc, _), row) in points.iter().zip(values) {
            for (slot, value) in acc.iter().zip(row) {
                let (Slot::One(sum), Some(value)) = (slot, value) else { continue };
                let Some((term, scale)) = self.without_scale(&value) else {
                    self.add_to(*sum, value);
                    continue;
                };
                if let Some(at) = open.iter().position(|o| o.0 == *sum) {
                    if open[at].2 == scale {
                        self.add_to(open[at].1, term);
                        continue;
                    }
                    let (sum, part, scale) = open.remove(at);
                    self.add_to(sum, bin(Binary::Mul, Expr::Var(part), scale));
                }
                let part = self.var("terms", Kind::Value(scalar(Type::F32)));
                self.emit(Stmt::Declare(part, term));
                open.push((*sum, part, scale));
            }
        }
        for (sum, part, scale) in open {
            self.add_to(sum, bin(Binary::Mul, Expr::Var(part), scale));
        }
    }

    fn add_to(&mut self, sum: Var, value: Expr) {
        self.emit(Stmt::Assign(sum, super::build::binary(Binary::Add, Type::F32, Expr::Var(sum), value)));
    }

    /// A product without the scale that is one of its factors, and the scale.
    fn without_scale(&self, value: &Expr) -> Option<(Expr, Expr)> {
        let Expr::Binary(Binary::Mul, a, b) = value else { return None };
        let is_scale = |e: &Expr| matches!(e, Expr::Var(v) if self.scales.contains(v));
        match (is_scale(a), is_scale(b)) {
            (true, _) => Some(((**b).clone(), (**a).clone())),
            (_, true) => Some(((**a).clone(), (**b).clone())),
            _ => match (self.without_scale(a), self.without_scale(b)) {
                (Some((rest, scale)), _) => Some((bin(Binary::Mul, rest, (**b).clone()), scale)),
                (_, Some((rest, scale))) => Some((bin(Binary::Mul, (**a).clone(), rest), scale)),
                _ => None,
            },
        }
    }
}

/// The f32 whose lowest bits count by 1.
const LARGE: f32 = 8_388_608.0;

/// A meaning times its scale.
pub fn scaled(meaning: Expr, scale: Option<&Expr>) -> Expr {
    match scale {
        Some(scale) => bin(Binary::Mul, meaning, scale.clone()),
        None => meaning,
    }
}

fn shifted(op: Binary, word: Expr, by: Expr) -> Expr {
    if by == u(0) { word } else { bin(op, word, by) }
}
