//! Tiles whose next step is loaded to registers while this one is used.

use super::element::narrowed;
use super::*;

impl Lower<'_> {
    /// The group of neighbours that an invocation brings in a round.
    pub(super) fn turn(&self, round: u32) -> Expr {
        add(Self::lane(), u(round * self.nest.workgroup))
    }

    /// Writes a group of neighbours to its place in a tile.
    pub(super) fn put(&mut self, tile: &Tile, plan: &TilePlan, group: u32, at: Expr, values: Vec<Expr>) {
        let place = place(&tile.dims, tile.row, group, &at);
        if self.ir.shared[tile.array].narrow {
            let along = coordinates(&tile.dims, group, &at).pop().unwrap_or(u(0));
            // One factor of zero is enough; the other one's clamped elements are the tensor's own.
            let left = |p: &crate::apply::Product| TileOf::Tensor(p.left.tensor) == tile.what;
            let masked = self.nest.products.iter().any(left);
            if let Some(last) = tile.dims.last() {
                self.store_narrow(tile.array, &place, last, masked, along, values);
            }
            return;
        }
        for (i, value) in values.into_iter().enumerate() {
            let value = if plan.narrow { narrowed(value) } else { value };
            self.emit(Stmt::StoreShared(tile.array, add(place.clone(), u(i as u32)), value));
        }
    }

    /// Before a loop whose steps' tiles are loaded a step ahead: loads those of the first step into registers.
    pub fn begin_ahead(&mut self, axis: AxisId, level: usize, env: &Env) -> Result<(), ScheduleError> {
        for plan in self.ahead_at(axis, level) {
            let TileOf::Tensor(tensor) = plan.what else { continue };
            let (dims, group) = self.describe(&plan, tensor, env)?;
            let groups = elements(&dims) / group;
            let rounds = groups / self.nest.workgroup;
            if group == 1 || rounds == 0 || rounds > MOST_ROUNDS || groups != rounds * self.nest.workgroup {
                self.wrong(self.refuse(
                    &plan,
                    "its groups of neighbours are not shared out evenly, a few for each invocation",
                    "drop `ahead`, or choose levels whose product is a multiple of what the workgroup loads at once",
                ));
                continue;
            }
            let name = format!("{}_next", self.nest.kernel.tensor(tensor).name);
            let mut registers = Vec::new();
            for round in 0..rounds {
                let coordinates = coordinates(&dims, group, &self.turn(round));
                let (row, column) = self.element_number(tensor, &dims, group, coordinates);
                let (load, ty, scale) = self.group_words(tensor, row, column, group);
                let register = self.var(&name, Kind::Value(ty));
                self.emit(Stmt::Declare(register, load));
                let scale = scale.map(|scale| {
                    let register = self.var("scale_next", Kind::Value(scalar(Type::F32)));
                    self.emit(Stmt::Declare(register, scale));
                    register
                });
                registers.push((register, scale));
            }
            self.ahead.push(Ahead { axis, tensor, registers });
        }
        Ok(())
    }

    /// Loads the next step's tiles into registers, where `inside` says that there is one.
    pub fn go_ahead(&mut self, axis: AxisId, level: usize, inside: Expr, env: &Env) -> Result<(), ScheduleError> {
        let plans = self.ahead_at(axis, level);
        if plans.is_empty() {
            return Ok(());
        }
        self.open();
        for plan in plans {
            let TileOf::Tensor(tensor) = plan.what else { continue };
            let Some(registers) = self.ahead.iter().find(|a| a.tensor == tensor).map(|a| a.registers.clone()) else {
                continue;
            };
            let (dims, group) = self.describe(&plan, tensor, env)?;
            for (round, register) in registers.into_iter().enumerate() {
                let coordinates = coordinates(&dims, group, &self.turn(round as u32));
                let (row, column) = self.element_number(tensor, &dims, group, coordinates);
                let (load, _, scale) = self.group_words(tensor, row, column, group);
                self.emit(Stmt::Assign(register.0, load));
                if let (Some(register), Some(scale)) = (register.1, scale) {
                    self.emit(Stmt::Assign(register, scale));
                }
            }
        }
        let body = self.close();
        self.emit(Stmt::If(inside, body, vec![]));
        Ok(())
    }

    pub(super) fn ahead_at(&self, axis: AxisId, level: usize) -> Vec<TilePlan> {
        let here = |t: &&TilePlan| t.axis == axis && t.level == level && t.ahead && t.place == Place::Workgroup;
        self.nest.tiles.iter().filter(here).cloned().collect()
    }
}
