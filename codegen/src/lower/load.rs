//! Loads: where an element lies, which neighbours come with it, and what its storage means.

use super::axes::Mask;
use super::build::{add, bin, div, min, mul, rem, scalar, sub, u};
use super::codes::scaled;
use super::{Env, Key, Lower};
use crate::deps;
use crate::error::ScheduleError;
use crate::loops::{Expr, Kind, LoopIr, Stmt, Ty};
use crate::shape::Extent;
use tilewright_dsl::ir::{self, AxisId, Binary, ExprId, Role, TensorId, Type};
use tilewright_dsl::schedule::Storage;

/// The neighbours that one load brings: the axis, the component at hand, and the last index of component 0.
struct Neighbours {
    component: u32,
    count: u32,
    first: Expr,
}

impl Lower<'_> {
    /// One element of a tensor.
    pub fn load(&mut self, id: ExprId, tensor: TensorId, indices: &[ExprId], env: &Env) -> Result<Expr, ScheduleError> {
        if let Some(near) = self.tile_element(tensor, indices, env)? {
            return Ok(near);
        }
        let key = Key::Value(id, self.restrict(id, env));
        let value = match self.neighbours(tensor, indices, env)? {
            Some(group) => {
                let row = self.row(tensor, indices, env)?;
                self.load_vector(tensor, row, group)
            }
            None => {
                let row = self.row(tensor, indices, env)?;
                let last = self.index(tensor, indices, indices.len() - 1, env)?;
                self.load_scalar(tensor, row, last)
            }
        };
        self.remember(key, value.clone());
        Ok(value)
    }

    /// The element number of an element in its buffer.
    pub fn flat(&mut self, tensor: TensorId, indices: &[ExprId], env: &Env) -> Result<Expr, ScheduleError> {
        let row = self.row(tensor, indices, env)?;
        let last = self.index(tensor, indices, indices.len() - 1, env)?;
        Ok(add(row, last))
    }

    /// The element number of an innermost row's first element.
    pub fn row(&mut self, tensor: TensorId, indices: &[ExprId], env: &Env) -> Result<Expr, ScheduleError> {
        let mut at = Vec::new();
        for d in 0..indices.len() - 1 {
            at.push(self.index(tensor, indices, d, env)?);
        }
        Ok(self.row_of(tensor, at))
    }

    /// Indices of all dimensions but the last as an element number.
    pub fn row_of(&self, tensor: TensorId, indices: Vec<Expr>) -> Expr {
        let layout = self.nest.layout(tensor);
        let mut at = u(0);
        for (d, index) in indices.into_iter().enumerate() {
            at = add(mul(at, u(layout.dims[d])), index);
        }
        mul(at, u(layout.stride))
    }

    /// One index: clamped where it is loaded, counted from the part's first row where the tensor is split.
    fn index(&mut self, tensor: TensorId, indices: &[ExprId], d: usize, env: &Env) -> Result<Expr, ScheduleError> {
        let mut value = self.value(indices[d], env)?;
        let mut rows = self.nest.layout(tensor).dims[d];
        let loaded = deps::is_loaded(self.nest.kernel, indices[d]);
        let extent = self.nest.kernel.tensor(tensor).dims[d];
        // The capacity's own clamp stays below: a run-time extent of 0 has no last index.
        if loaded && let Some(end) = self.run_time(extent) {
            value = min(value, sub(end, u(1)));
        }
        if d == 0
            && let Some(part) = self.part.filter(|p| p.tensor == tensor)
        {
            value = sub(value, u(part.start));
            rows = part.rows;
        }
        if loaded {
            value = min(value, u(rows - 1));
        }
        Ok(value)
    }

    /// An extent that only a run tells.
    fn run_time(&self, extent: ir::ExtentId) -> Option<Expr> {
        let name = &self.nest.kernel.extents[extent.0 as usize];
        matches!(self.nest.shape.get(name), Some(Extent::Param { .. })).then(|| self.param(name))
    }

    /// Whether this load is one component of a vector.
    fn neighbours(
        &mut self,
        tensor: TensorId,
        indices: &[ExprId],
        env: &Env,
    ) -> Result<Option<Neighbours>, ScheduleError> {
        let kernel = self.nest.kernel;
        let decl = kernel.tensor(tensor);
        let last = indices[indices.len() - 1];
        let (axis, rest) = match kernel.expr(last) {
            ir::Expr::Axis(a) => (*a, None),
            ir::Expr::Binary(Binary::Add, a, b) => match (kernel.expr(*a), kernel.expr(*b)) {
                (ir::Expr::Axis(x), _) => (*x, Some(*b)),
                (_, ir::Expr::Axis(x)) => (*x, Some(*a)),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let plan = self.nest.plan(axis);
        let count = plan.vector();
        let least = self.nest.layout(tensor).storage.per_word().max(2);
        let moves = |i: &ExprId| self.nest.deps.free(*i).has(axis);
        if decl.role != Role::In || count < least || indices.iter().rev().skip(1).any(moves) {
            return Ok(None);
        }
        let rest = match rest {
            None => u(0),
            Some(r) => match deps::constant(kernel, self.nest.shape, r) {
                Some(n) if n % count == 0 => u(n),
                _ => return Ok(None),
            },
        };
        let bound = self.bound(axis);
        if bound.any || !matches!(bound.lo, Expr::U32(n) if n % count == 0) {
            return Ok(None);
        }
        let offset = env.get(&axis).copied().unwrap_or(0);
        let component = offset % count;
        let group = offset - component;
        let extent = plan.extent;
        // A vector that begins inside its row ends inside the row's padding.
        let outside = bound.mask == Mask::All || (bound.mask == Mask::Copies && ![0, bound.tested].contains(&group));
        let mut first = add(bound.base, u(group));
        if outside {
            // Whole groups alone can be clamped.
            match extent.filter(|n| n % count == 0) {
                Some(n) => first = min(first, u(n - count)),
                None => return Ok(None),
            }
        }
        Ok(Some(Neighbours { component, count, first: add(first, rest) }))
    }

    fn load_vector(&mut self, tensor: TensorId, row: Expr, group: Neighbours) -> Expr {
        let storage = self.nest.layout(tensor).storage;
        let per_word = storage.per_word();
        let width = (group.count / per_word).min(4);
        let chunk = group.component / (width * per_word);
        let at = group.component % (width * per_word);
        let unit = width * per_word;
        let scale = storage.quantised().then(|| self.scale(tensor, &row, &group.first));
        let mut inner = add(div_aligned(group.first, unit), u(chunk));
        let stride = self.nest.layout(tensor).stride;
        if chunk > 0 && !stride.is_multiple_of(group.count) {
            // The padding is shorter than the group: what lies beyond is masked, and must not be read either.
            inner = min(inner, u(stride / unit - 1));
        }
        let index = add(in_units(row, unit), inner);
        let words = self.words(tensor, index, width as u8);
        self.decode(storage, &words, at, width, scale.as_ref())
    }

    fn load_scalar(&mut self, tensor: TensorId, row: Expr, last: Expr) -> Expr {
        let storage = self.nest.layout(tensor).storage;
        if storage.quantised() {
            return self.load_code(tensor, row, last);
        }
        let at = add(row, last);
        if storage == Storage::F32 {
            return self.words(tensor, at, 1);
        }
        let at = self.bind_u32("at", at);
        let word = self.words(tensor, div(at.clone(), 2), 1);
        let odd = bin(Binary::Eq, rem(at.clone(), 2), u(1));
        match at {
            Expr::U32(n) => self.decode(storage, &word, n % 2, 1, None),
            _ => {
                let (low, high) = (self.decode(storage, &word, 0, 1, None), self.decode(storage, &word, 1, 1, None));
                Expr::Select(Box::new(odd), Box::new(high), Box::new(low))
            }
        }
    }

    /// Words of a tensor, loaded once a scope.
    pub fn words(&mut self, tensor: TensorId, index: Expr, width: u8) -> Expr {
        let buffer = self.buffer(tensor);
        let load = Expr::Load { buffer, index: Box::new(index), width };
        let key = Key::Text(format!("{load:?}"));
        if let Some(known) = self.recall(&key) {
            return known;
        }
        let decl = self.nest.kernel.tensor(tensor);
        let elem = self.ir.buffers[buffer].elem;
        let short = if width == 1 { format!("{}_at", decl.name) } else { format!("{}{width}", decl.name) };
        let value = self.bind(&short, Kind::Value(Ty { elem, width }), load);
        self.remember(key, value.clone());
        value
    }

    /// Element number `at` of loaded words, with the scale that it needs if it is a code.
    pub fn decode(&mut self, storage: Storage, words: &Expr, at: u32, width: u32, scale: Option<&Expr>) -> Expr {
        let component = |i: u32| match width {
            1 => words.clone(),
            _ => Expr::Component(Box::new(words.clone()), i as u8),
        };
        match storage {
            Storage::F32 => component(at),
            Storage::F16 => {
                let unpack = Expr::UnpackF16(Box::new(component(at / 2)));
                let key = Key::Text(format!("{unpack:?}"));
                let pair = self.recall(&key).unwrap_or_else(|| {
                    let pair = self.bind("pair", Kind::Value(Ty { elem: Type::F32, width: 2 }), unpack);
                    self.remember(key, pair.clone());
                    pair
                });
                Expr::Component(Box::new(pair), (at % 2) as u8)
            }
            Storage::Bf16 => {
                let word = component(at / 2);
                let bits = if at.is_multiple_of(2) {
                    bin(Binary::Shl, word, u(16))
                } else {
                    bin(Binary::And, word, u(0xffff_0000))
                };
                Expr::FromBits(Box::new(bits))
            }
            Storage::Int8 | Storage::Nf4 => {
                let per_word = storage.per_word();
                let meaning = self.code(storage, component(at / per_word), u(at % per_word));
                scaled(meaning, scale)
            }
        }
    }

    /// The words of a whole aligned group of elements at a column of a row, as one load with their type, and their scale.
    pub fn group_words(&mut self, tensor: TensorId, row: Expr, last: Expr, count: u32) -> (Expr, Ty, Option<Expr>) {
        let (buffer, width) = (self.buffer(tensor), self.group_width(tensor, count));
        let scale = self.nest.layout(tensor).storage.quantised().then(|| self.scale_word(tensor, &row, &last));
        let load = Expr::Load { buffer, index: Box::new(div(add(row, last), count)), width: width as u8 };
        (load, Ty { elem: self.ir.buffers[buffer].elem, width: width as u8 }, scale)
    }

    /// The elements of such words.
    pub fn decode_group(&mut self, tensor: TensorId, words: &Expr, scale: Option<&Expr>, count: u32) -> Vec<Expr> {
        let (storage, width) = (self.nest.layout(tensor).storage, self.group_width(tensor, count));
        (0..count).map(|i| self.decode(storage, words, i, width, scale)).collect()
    }

    fn group_width(&self, tensor: TensorId, count: u32) -> u32 {
        (count / self.nest.layout(tensor).storage.per_word()).max(1)
    }

    /// A whole aligned group of elements at a column of a row that the group divides, for filling tiles.
    pub fn load_group(&mut self, tensor: TensorId, row: Expr, last: Expr, count: u32) -> Vec<Expr> {
        if count == 1 {
            return vec![self.load_scalar(tensor, row, last)];
        }
        let scale = self.nest.layout(tensor).storage.quantised().then(|| self.scale(tensor, &row, &last));
        let words = self.words(tensor, div(add(row, last), count), self.group_width(tensor, count) as u8);
        self.decode_group(tensor, &words, scale.as_ref(), count)
    }

    /// A name for an f32 value.
    pub fn bind_f32(&mut self, name: &str, value: Expr) -> Expr {
        self.bind(name, Kind::Value(scalar(Type::F32)), value)
    }
}

/// The element number of a row's first element, a multiple of `unit`, in units.
pub fn in_units(row: Expr, unit: u32) -> Expr {
    match row {
        Expr::Binary(Binary::Mul, r, s) => match *s {
            Expr::U32(n) => mul(*r, u(n / unit)),
            s => div(mul(*r, s), unit),
        },
        row => div(row, unit),
    }
}

/// `e / n` where `e` is a multiple of n: a constant part is divided by itself.
fn div_aligned(e: Expr, n: u32) -> Expr {
    match e {
        Expr::Binary(Binary::Add, x, c) if matches!(*c, Expr::U32(_)) => {
            let Expr::U32(c) = *c else { return div(*x, n) };
            add(div(*x, n), u(c / n))
        }
        e => div(e, n),
    }
}

/// The index of an axis in a load's indices, if it stands there alone.
pub fn plain_axis(kernel: &ir::Kernel, id: ExprId) -> Option<AxisId> {
    match kernel.expr(id) {
        ir::Expr::Axis(a) => Some(*a),
        _ => None,
    }
}

/// Sets each binding's element to its widest access.
pub fn widen(ir: &mut LoopIr) {
    fn of_expr(e: &Expr, widths: &mut [u8]) {
        if let Expr::Load { buffer, width, .. } = e {
            widths[*buffer] = widths[*buffer].max(*width);
        }
        e.operands().into_iter().for_each(|x| of_expr(x, widths));
    }
    fn of_block(body: &[Stmt], widths: &mut [u8]) {
        for stmt in body {
            stmt.expressions().into_iter().for_each(|e| of_expr(e, widths));
            stmt.blocks().into_iter().for_each(|block| of_block(block, widths));
        }
    }
    let mut widths = vec![1u8; ir.buffers.len()];
    of_block(&ir.body, &mut widths);
    for (buffer, width) in ir.buffers.iter_mut().zip(widths) {
        buffer.width = width;
    }
}
