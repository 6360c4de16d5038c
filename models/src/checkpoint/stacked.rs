//! Projections of queries, keys and values as one tensor: the rows of the three, one after the other.

use std::ops::Range;

use super::WeightSource;
use crate::error::ModelError;

const STACKED: &str = "qkv_proj";
const PARTS: [&str; 3] = ["q_proj", "k_proj", "v_proj"];

/// A source that also knows stacked projections by the name `qkv_proj`.
pub struct Stacked<'s>(pub &'s dyn WeightSource);

impl WeightSource for Stacked<'_> {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        if !name.contains(STACKED) {
            return self.0.shape(name);
        }
        let mut shape = self.0.shape(&name.replace(STACKED, PARTS[0]))?;
        for part in &PARTS[1..] {
            shape[0] += self.0.shape(&name.replace(STACKED, part))?[0];
        }
        Ok(shape)
    }

    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        if !name.contains(STACKED) {
            return self.0.rows_f32(name, rows, out);
        }
        let columns = out.len() / rows.len().max(1);
        let (mut first, mut rest) = (0, out);
        for part in PARTS {
            let part = name.replace(STACKED, part);
            let count = self.0.shape(&part)?[0];
            let (start, end) = (rows.start.max(first), rows.end.min(first + count));
            if start < end {
                let (own, more) = rest.split_at_mut((end - start) * columns);
                self.0.rows_f32(&part, start - first..end - first, own)?;
                rest = more;
            }
            first += count;
        }
        Ok(())
    }

    fn tied(&self) -> bool {
        self.0.tied()
    }
}
