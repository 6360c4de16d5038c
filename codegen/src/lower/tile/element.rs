//! Elements of tiles: where they lie, and the halves that fragments are made of.

use super::*;

impl Lower<'_> {
    /// An element of a tensor from its tile, if it is held.
    pub fn tile_element(&mut self, tensor: TensorId, _: &[ExprId], env: &Env) -> Result<Option<Expr>, ScheduleError> {
        Ok(self.tile_at(TileOf::Tensor(tensor), env))
    }

    /// A value from its tile, if it is held.
    pub fn tile_value(&mut self, id: ExprId, env: &Env) -> Result<Option<Expr>, ScheduleError> {
        Ok(self.tile_at(TileOf::Value(id), env))
    }

    /// Where the fragment of a copy lies in a narrow tile: array, index in fours, and the distance of rows in the same unit.
    pub fn fragment_at(&mut self, what: TileOf, env: &Env) -> Option<(usize, Expr, u32)> {
        let tile = self.tiles.iter_mut().rev().find(|t| t.what == what)?;
        tile.used = true;
        let (array, dims, row) = (tile.array, tile.dims.clone(), tile.row);
        let mut at = u(0);
        for (d, dim) in dims.iter().enumerate() {
            let local = self.local(dim, env);
            at = if d + 1 == dims.len() {
                add(mul(at, u(row / 4)), quarter(local))
            } else {
                add(mul(at, u(dim.size)), local)
            };
        }
        Some((array, at, row / 4))
    }

    /// Whether a tensor's tile is read by fragments.
    pub(super) fn feeds_fragments(&self, tensor: TensorId) -> bool {
        self.nest.products.iter().any(|p| p.left.tensor == tensor || p.right.tensor == tensor)
    }

    /// Narrows a group of values to their place. With `masked`, those beyond the axis' end are zeros, so that they add nothing.
    pub(super) fn store_narrow(
        &mut self,
        array: usize,
        place: &Expr,
        dim: &Dim,
        masked: bool,
        along: Expr,
        values: Vec<Expr>,
    ) {
        let end = dim.axis.map(|a| self.bound(a).hi).filter(|_| dim.clamped && masked);
        let first = self.bind_u32("at", quarter(place.clone()));
        let from = end.is_some().then(|| self.bind_u32("from", add(dim.outside.clone(), along)));
        for (group, four) in values.chunks_exact(4).enumerate() {
            let value = |i: usize| {
                let value = four[i].clone();
                match (&end, &from) {
                    (Some(end), Some(from)) => {
                        let inside = lt(add(from.clone(), u((group * 4 + i) as u32)), end.clone());
                        Expr::Select(Box::new(inside), Box::new(value), Box::new(Expr::F32(0.0)))
                    }
                    _ => value,
                }
            };
            let four = Box::new([value(0), value(1), value(2), value(3)]);
            let index = add(first.clone(), u(group as u32));
            self.emit(Stmt::StoreNarrow(array, index, four));
        }
    }

    pub(super) fn tile_at(&mut self, what: TileOf, env: &Env) -> Option<Expr> {
        let tile = self.tiles.iter_mut().rev().find(|t| t.what == what)?;
        tile.used = true;
        let (array, dims, row) = (tile.array, tile.dims.clone(), tile.row);
        let mut at = u(0);
        for (d, dim) in dims.iter().enumerate() {
            let size = if d + 1 == dims.len() { row } else { dim.size };
            at = add(mul(at, u(size)), self.local(dim, env));
        }
        let read = Expr::Shared(array, Box::new(at));
        let key = Key::Text(format!("{read:?}"));
        if let Some(known) = self.recall(&key) {
            return Some(known);
        }
        let value = self.bind_f32("held", read);
        self.remember(key, value.clone());
        Some(value)
    }
}

/// A fourth of a multiple of four.
fn quarter(e: Expr) -> Expr {
    match e {
        Expr::Binary(Binary::Add, a, b) => add(quarter(*a), quarter(*b)),
        Expr::Binary(Binary::Mul, a, n) => match *n {
            Expr::U32(n) if n % 4 == 0 => mul(*a, u(n / 4)),
            n => div(mul(*a, n), 4),
        },
        e => div(e, 4),
    }
}

/// An f32 rounded to f16 and back, on every device.
pub(super) fn narrowed(value: Expr) -> Expr {
    let packed = Expr::PackF16(Box::new(value), Box::new(Expr::F32(0.0)));
    Expr::Component(Box::new(Expr::UnpackF16(Box::new(packed))), 0)
}
