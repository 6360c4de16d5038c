//! How tensors lie in buffers that several kernels share.

use super::*;

/// A program with the layouts that a refused schedule asks for as far as they are possible, so that what is wrong with these
/// is found as well. It never runs.
pub(super) fn wish(program: &mut Program, refused: &Schedule) {
    for layout in program.tensors.iter_mut().filter(|t| !t.written && !t.integer) {
        if let Some((_, storage)) = refused.stores.iter().find(|(tensor, _)| *tensor == layout.name) {
            layout.storage = *storage;
            layout.stride = stride(*storage, layout.dims.last().copied().unwrap_or(1));
        }
    }
}

/// Whether elements lie at the same words: heads side by side are one row.
pub(super) fn agree(a: &TensorLayout, b: &TensorLayout) -> bool {
    let rows = a.dims.len() == 1 || b.dims.len() == 1 || a.row_bytes() == b.row_bytes();
    let parts = a.parts == b.parts || a.parts.len() + b.parts.len() == 2;
    rows && parts && a.storage == b.storage && a.integer == b.integer
}

impl Assembly<'_> {
    /// Caches in a pool of so many pages, which kernels find by a table of so many entries.
    ///
    /// # Errors
    /// None, as long as the texts stay what they are.
    pub fn paged(mut self, pages: Option<[u32; 2]>) -> Result<Self, ModelError> {
        self.pages = pages;
        if pages.is_some() {
            for kernel in self.kernels.values_mut() {
                if let Some(paged) = paged(kernel)? {
                    *kernel = paged;
                }
            }
        }
        Ok(self)
    }

    /// Does something with a call, to which the table that it needs is added.
    pub(super) fn with_table<R>(&mut self, call: &Call, does: impl FnOnce(&mut Self, &Call) -> R) -> R {
        let Some((table, sizes)) = self.table(call) else { return does(self, call) };
        let (mut tensors, mut extents) = (call.tensors.to_vec(), call.extents.to_vec());
        tensors.push(&table);
        extents.extend(sizes);
        does(self, &Call { tensors: &tensors, extents: &extents, ..*call })
    }

    /// The table that a call needs beside what the model gives it, and its extents.
    fn table(&self, call: &Call) -> Option<(Tensor, [(&'static str, usize); 2])> {
        let [pool, entries] = self.pages?;
        let own = self.kernels[call.kernel].tensors.last().is_some_and(|t| t.name == TABLE);
        let extents = [("Pages", entries as usize), ("Rows", pool as usize * PAGE as usize)];
        own.then(|| (self.tensor(PAGE_TABLE, Role::Input), extents))
    }
}
