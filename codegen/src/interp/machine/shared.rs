//! Workgroup memory and what the invocations of a subgroup tell each other.

use super::*;

impl<'a> Machine<'a> {
    pub(super) fn store_narrow(
        &mut self,
        array: usize,
        index: Slot,
        values: [Slot; 4],
        mask: &Mask,
        stmt: &Stmt,
    ) -> Done {
        let (name, len) = (&self.ir.shared[array].name, self.shared[array].len());
        for lane in mask.lanes() {
            let first = u64::from(self.slots[index][lane]) * 4;
            let Some(first) = usize::try_from(first).ok().filter(|i| i + 4 <= len) else {
                return Err(self.outside(name, first, len, lane, stmt));
            };
            for (i, value) in values.into_iter().enumerate() {
                let narrow = lanes::narrow(self.slots[value][lane]);
                self.write_shared(array, first + i, narrow, lane, stmt)?;
            }
        }
        Ok(())
    }

    /// One element that an invocation reads.
    pub(super) fn read_shared(&mut self, array: usize, i: usize, lane: usize, stmt: &Stmt) -> Result<u32, InterpError> {
        if self.check {
            let name = &self.ir.shared[array].name;
            if self.born[array][i] != self.serial {
                let (array, by, statement) = (name.clone(), self.invocation(lane), self.quote(stmt));
                return Err(InterpError::Unwritten { array, index: i as u64, by, statement });
            }
            let who = self.who(lane);
            let touch = self.shared_touches[array].read(i, who, self.epoch);
            touch.map_err(|c| self.race(name, i, c, who, "reads", stmt))?;
        }
        Ok(self.shared[array][i])
    }

    /// One element that an invocation writes.
    pub(super) fn write_shared(&mut self, array: usize, i: usize, value: u32, lane: usize, stmt: &Stmt) -> Done {
        if self.check {
            let name = &self.ir.shared[array].name;
            let who = self.who(lane);
            let touch = self.shared_touches[array].write(i, who, self.epoch);
            touch.map_err(|c| self.race(name, i, c, who, "writes", stmt))?;
            self.born[array][i] = self.serial;
        }
        self.shared[array][i] = value;
        Ok(())
    }

    pub(super) fn load_shared(&mut self, dst: Slot, array: usize, index: Slot, mask: &Mask, stmt: &Stmt) -> Done {
        let (name, len) = (&self.ir.shared[array].name, self.shared[array].len());
        for lane in mask.lanes() {
            let i = self.inside(name, len, index, lane, stmt)?;
            self.slots[dst][lane] = self.read_shared(array, i, lane, stmt)?;
        }
        Ok(())
    }

    pub(super) fn store_shared(&mut self, array: usize, index: Slot, value: Slot, mask: &Mask, stmt: &Stmt) -> Done {
        let (name, len) = (&self.ir.shared[array].name, self.shared[array].len());
        for lane in mask.lanes() {
            let i = self.inside(name, len, index, lane, stmt)?;
            self.write_shared(array, i, self.slots[value][lane], lane, stmt)?;
        }
        Ok(())
    }

    pub(super) fn shuffle(&mut self, dst: Slot, a: Slot, by: Slot, mask: &Mask, stmt: &Stmt) -> Done {
        self.all_active(mask, stmt)?;
        let size = self.subgroup_size as usize;
        for lane in 0..self.lanes {
            let xor = self.slots[by][lane];
            let (first, inside) = (lane / size * size, (lane % size) ^ xor as usize);
            if xor != self.slots[by][0] || inside >= size || first + inside >= self.lanes {
                let (by, statement) = (self.invocation(lane), self.quote(stmt));
                return Err(InterpError::Shuffle { mask: xor, size: self.subgroup_size, by, statement });
            }
            self.slots[dst][lane] = self.slots[a][first + inside];
        }
        Ok(())
    }
}
