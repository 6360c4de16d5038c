//! The cache of an engine: one sequence in a row, none that outlives a step, or sequences in pages of one pool.
//!
//! The rule: before a step, room is made for what it writes and the table of pages is sent; after it, its positions count. Sequences
//! that begin alike share the pages of their beginning, which is then not computed again. Absent: how a kernel finds a page.

use std::collections::BTreeMap;

use tilewright_runtime::BufferId;

use super::pages::{PAGE, PagesError, PagesUse, Pool, Table};
use super::plan::Plan;
use super::{Engine, Step};
use crate::error::ModelError;
use crate::variants::Kv;

/// A sequence of an engine whose cache has pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SequenceId(u32);

/// What an engine knows of its cache.
pub(super) enum Cache {
    /// A row a position.
    Contiguous,
    /// Every step begins at position 0.
    Recomputed {
        /// All ids so far.
        ids: Vec<u32>,
        /// Positions that were computed before.
        again: u64,
    },
    /// Rows in pages.
    Paged(Box<Paged>),
}

/// Sequences in one pool.
pub(super) struct Paged {
    pool: Pool,
    sequences: BTreeMap<SequenceId, Sequence>,
    at_hand: SequenceId,
    next: u32,
    /// The table's buffer, its entries, and what was sent last.
    table: (BufferId, usize, Vec<u32>),
    /// Buffers of keys and values, and the bytes of a page in each.
    rows: Vec<(BufferId, u64)>,
    skipped: u64,
}

#[derive(Default)]
struct Sequence {
    table: Table,
    ids: Vec<u32>,
}

impl Cache {
    /// The cache of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        match (plan.kv, &plan.pages) {
            (Kv::None, _) => Cache::Recomputed { ids: Vec::new(), again: 0 },
            (Kv::Paged, Some(pages)) => {
                let row = |(id, bytes): &(BufferId, u64)| (*id, bytes * u64::from(PAGE));
                Cache::Paged(Box::new(Paged {
                    pool: Pool::new(pages.pool),
                    sequences: BTreeMap::from([(SequenceId(0), Sequence::default())]),
                    at_hand: SequenceId(0),
                    next: 1,
                    table: (pages.table, pages.entries as usize, Vec::new()),
                    rows: pages.rows.iter().map(row).collect(),
                    skipped: 0,
                }))
            }
            _ => Cache::Contiguous,
        }
    }

    /// Takes note that a step has left these ids from a position on.
    pub(super) fn fed(&mut self, from: u32, ids: &[u32]) {
        if let Cache::Paged(paged) = self
            && let Some(sequence) = paged.sequences.get_mut(&paged.at_hand)
        {
            sequence.ids.truncate(from as usize);
            sequence.ids.extend(ids);
        }
    }
}

impl Engine {
    /// The sequence at hand.
    ///
    /// # Errors
    /// [`PagesError::NotPaged`].
    pub fn sequence(&self) -> Result<SequenceId, ModelError> {
        match &self.cache {
            Cache::Paged(paged) => Ok(paged.at_hand),
            _ => Err(PagesError::NotPaged.into()),
        }
    }

    /// Another sequence with the positions of the one at hand, which stays at hand. It takes no page until one of them goes on.
    ///
    /// # Errors
    /// [`PagesError::NotPaged`].
    pub fn fork(&mut self) -> Result<SequenceId, ModelError> {
        let position = self.position;
        let paged = self.paged()?;
        paged.fork(paged.at_hand, position)
    }

    /// Begins a sequence that is to hold `ids`, shares the longest beginning that it has with another one, and makes it the one at
    /// hand. Gives it, and how many ids are there already, at most all but the last: the rest is for [`Engine::prefill`].
    ///
    /// # Errors
    /// [`PagesError::NotPaged`].
    pub fn open(&mut self, ids: &[u32]) -> Result<(SequenceId, u32), ModelError> {
        let position = self.position;
        let paged = self.paged()?;
        if let Some(sequence) = paged.sequences.get_mut(&paged.at_hand) {
            sequence.ids.truncate(position as usize);
        }
        let most = ids.len().saturating_sub(1);
        let alike = |s: &Sequence| s.ids.iter().zip(&ids[..most]).take_while(|(a, b)| a == b).count() as u32;
        let best = paged.sequences.iter().map(|(id, s)| (alike(s), *id)).max_by_key(|(n, id)| (*n, id.0));
        let (shared, like) = best.unwrap_or((0, paged.at_hand));
        let opened = paged.fork(like, shared)?;
        paged.skipped += u64::from(shared);
        self.switch(opened)?;
        Ok((opened, shared))
    }

    /// Goes on with another sequence.
    ///
    /// # Errors
    /// [`PagesError::NotPaged`], [`PagesError::NoSequence`].
    pub fn switch(&mut self, to: SequenceId) -> Result<(), ModelError> {
        let position = self.position;
        let paged = self.paged()?;
        let Some(next) = paged.sequences.get(&to) else {
            return Err(PagesError::NoSequence { sequence: to.0 }.into());
        };
        let there = next.ids.len() as u32;
        if paged.at_hand == to {
            return Ok(());
        }
        if let Some(left) = paged.sequences.get_mut(&paged.at_hand) {
            left.ids.truncate(position as usize);
            paged.pool.truncate(&mut left.table, position);
        }
        paged.at_hand = to;
        self.position = there;
        Ok(())
    }

    /// Gives up a sequence and the pages that it alone holds.
    ///
    /// # Errors
    /// [`PagesError::NotPaged`], [`PagesError::NoSequence`], [`PagesError::AtHand`].
    pub fn release(&mut self, sequence: SequenceId) -> Result<(), ModelError> {
        let paged = self.paged()?;
        if paged.at_hand == sequence {
            return Err(PagesError::AtHand { sequence: sequence.0 }.into());
        }
        match paged.sequences.remove(&sequence) {
            Some(mut gone) => {
                paged.pool.truncate(&mut gone.table, 0);
                Ok(())
            }
            None => Err(PagesError::NoSequence { sequence: sequence.0 }.into()),
        }
    }

    /// Pages in use; none of a cache without pages.
    pub fn pages(&self) -> Option<PagesUse> {
        match &self.cache {
            Cache::Paged(paged) => Some(PagesUse { skipped: paged.skipped, ..paged.pool.counted() }),
            _ => None,
        }
    }

    /// Positions that were computed again because nothing is kept; none where something is.
    pub fn recomputed(&self) -> Option<u64> {
        match &self.cache {
            Cache::Recomputed { again, .. } => Some(*again),
            _ => None,
        }
    }

    fn paged(&mut self) -> Result<&mut Paged, ModelError> {
        match &mut self.cache {
            Cache::Paged(paged) => Ok(paged),
            _ => Err(PagesError::NotPaged.into()),
        }
    }

    /// Makes room for a step's positions: before it, and before any step is handed over ahead.
    pub(super) fn make_room(&mut self, from: u32, rows: u32) -> Result<(), ModelError> {
        let Cache::Paged(paged) = &mut self.cache else { return Ok(()) };
        let Some(sequence) = paged.sequences.get_mut(&paged.at_hand) else { return Ok(()) };
        let moves = paged.pool.reserve(&mut sequence.table, from, rows)?;
        paged.pool.check(&sequence.table, from, rows)?;
        let mut copies = Vec::with_capacity(moves.len() * paged.rows.len());
        for moved in moves {
            let place = |page: u32, bytes: u64| u64::from(page) * bytes;
            copies.extend(paged.rows.iter().map(|(id, n)| (*id, place(moved.from, *n), place(moved.to, *n), *n)));
        }
        self.machine.copy(&copies)?;
        let (buffer, entries, sent) = &mut paged.table;
        if sent != sequence.table.pages() {
            *sent = sequence.table.pages().to_vec();
            let mut words = sent.clone();
            words.resize(*entries, 0);
            self.machine.write(*buffer, &words)?;
        }
        Ok(())
    }

    /// Forgets the sequence at hand.
    pub(super) fn clear(&mut self) {
        self.position = 0;
        match &mut self.cache {
            Cache::Contiguous => {}
            Cache::Recomputed { ids, .. } => ids.clear(),
            Cache::Paged(paged) => {
                if let Some(sequence) = paged.sequences.get_mut(&paged.at_hand) {
                    sequence.ids.clear();
                    paged.pool.truncate(&mut sequence.table, 0);
                }
            }
        }
    }

    /// The ids that a step runs: those given, or all so far where nothing is kept. The engine then begins at position 0.
    pub(super) fn ids_to_run(&mut self, ids: &[u32]) -> Vec<u32> {
        let position = self.position;
        match &mut self.cache {
            Cache::Recomputed { ids: all, again } => {
                all.truncate(position as usize);
                *again += u64::from(position);
                all.extend(ids);
                self.position = 0;
                all.clone()
            }
            _ => ids.to_vec(),
        }
    }

    /// Runs ids from the position at hand; the result is for the last of them.
    pub(super) fn append(&mut self, ids: &[u32]) -> Result<Step, ModelError> {
        let ids = self.ids_to_run(ids);
        self.append_ids(&ids)
    }
}

impl Paged {
    fn fork(&mut self, from: SequenceId, positions: u32) -> Result<SequenceId, ModelError> {
        let Some(old) = self.sequences.get(&from) else {
            return Err(PagesError::NoSequence { sequence: from.0 }.into());
        };
        let ids: Vec<u32> = old.ids.iter().take(positions as usize).copied().collect();
        let table = self.pool.fork(&old.table, positions);
        let id = SequenceId(self.next);
        self.next += 1;
        self.sequences.insert(id, Sequence { table, ids });
        Ok(id)
    }
}
