//! Projections of queries, keys and values as one tensor: the rows of the three, one after the other.

use std::ops::Range;

use tilewright_dsl::schedule::Storage;

use super::WeightSource;
use crate::error::ModelError;
use crate::stores::Stores;

const STACKED: &str = "qkv_proj";
const PARTS: [&str; 3] = ["q_proj", "k_proj", "v_proj"];

/// A source that also knows stacked projections by the name `qkv_proj`.
pub struct Stacked<'s>(pub &'s dyn WeightSource);

impl Stacked<'_> {
    /// The tensors of a checkpoint whose rows, one after the other, are those of the tensor of that name.
    pub fn sources(name: &str) -> Vec<String> {
        if name.contains(STACKED) {
            PARTS.iter().map(|part| name.replace(STACKED, part)).collect()
        } else {
            vec![name.into()]
        }
    }
}

impl WeightSource for Stacked<'_> {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        let mut sources = Self::sources(name).into_iter();
        let mut shape = self.0.shape(&sources.next().unwrap_or_default())?;
        for part in sources {
            shape[0] += self.0.shape(&part)?[0];
        }
        Ok(shape)
    }

    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        let sources = Self::sources(name);
        if let [one] = &sources[..] {
            return self.0.rows_f32(one, rows, out);
        }
        let columns = out.len() / rows.len().max(1);
        let (mut first, mut rest) = (0, out);
        for part in &sources {
            let count = self.0.shape(part)?[0];
            let (start, end) = (rows.start.max(first), rows.end.min(first + count));
            if start < end {
                let (own, more) = rest.split_at_mut((end - start) * columns);
                self.0.rows_f32(part, start - first..end - first, own)?;
                rest = more;
            }
            first += count;
        }
        Ok(())
    }

    fn rows_encoded(&self, name: &str, rows: Range<usize>, storage: Storage) -> Result<Option<Vec<u32>>, ModelError> {
        let (mut first, mut all) = (0, Vec::new());
        for part in Self::sources(name) {
            let count = self.0.shape(&part)?[0];
            let (start, end) = (rows.start.max(first), rows.end.min(first + count));
            if start < end {
                let Some(mut words) = self.0.rows_encoded(&part, start - first..end - first, storage)? else {
                    return Ok(None);
                };
                all.append(&mut words);
            }
            first += count;
        }
        Ok(Some(all))
    }

    fn stores(&self) -> Stores {
        self.0.stores()
    }

    fn tied(&self) -> bool {
        self.0.tied()
    }
}
