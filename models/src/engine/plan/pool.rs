//! The pool of a cache in pages, as a plan has it.
//!
//! The rule: one sequence of the whole context always fits, or nothing is planned. Absent: which page is whose.

use tilewright_runtime::{BufferId, Role};

use super::super::assembly::Assembly;
use super::super::pages::{PAGE, PagesError};
use super::{EngineOptions, context};
use crate::config::Config;
use crate::error::ModelError;
use crate::qwen2::PAGE_TABLE;
use crate::variants::Kv;

/// A pool of pages on a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pages {
    /// Pages of the pool.
    pub pool: u32,
    /// Pages of a sequence.
    pub entries: u32,
    /// The table of the sequence at hand.
    pub table: BufferId,
    /// Buffers of keys and values, and the bytes of a position in each.
    pub rows: Vec<(BufferId, u64)>,
}

impl Pages {
    /// Pages of the pool and of a sequence, where the cache has pages.
    ///
    /// # Errors
    /// [`PagesError::TooSmall`].
    pub(super) fn of(config: &Config, options: &EngineOptions) -> Result<Option<[u32; 2]>, ModelError> {
        if options.kv != Kv::Paged {
            return Ok(None);
        }
        let context = context(config, options);
        let needed = context.div_ceil(PAGE);
        match options.kv_pages.unwrap_or(needed) {
            pages if pages < needed => Err(PagesError::TooSmall { pages, needed, context }.into()),
            pages => Ok(Some([pages, needed])),
        }
    }

    /// The pool of a plan whose ops are made.
    pub(super) fn placed(a: &Assembly, config: &Config, options: &EngineOptions) -> Result<Option<Self>, ModelError> {
        let Some([pool, entries]) = Self::of(config, options)? else { return Ok(None) };
        let table = a.find(PAGE_TABLE).ok_or_else(|| ModelError::Unplanned { tensor: PAGE_TABLE.into() })?;
        let caches = a.of_role(Role::State).into_iter();
        let rows = caches.flat_map(|p| p.buffers.iter().map(|id| (*id, p.layout.row_bytes())).collect::<Vec<_>>());
        Ok(Some(Pages { pool, entries, table: table.buffers[0], rows: rows.collect() }))
    }
}
