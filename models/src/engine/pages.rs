//! Pages of a cache: a pool that several sequences share, with reference counts and copy on write.
//!
//! The rule: a page that is written belongs to one sequence alone, at one place of its table; whoever would write to a shared one
//! gets a copy first. What does not fit is refused before anything changes. Positions are taken in two steps: room is made for
//! them, and they count once the caller says so. Absent: devices, and what lies in a page.
//! Paged attention: Kwon et al. 2023 (arXiv:2309.06180).

use std::collections::BTreeSet;
use std::fmt;

pub use crate::kernels::paged::PAGE;

/// What is wrong with pages or with who asks for them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PagesError {
    /// The pool is too small for one sequence of the context.
    #[error(
        "a pool of {pages} pages of {PAGE} positions is too small for a context of {context}, which takes {needed}; use --kv-pages {needed} \
         or more, or a shorter context"
    )]
    TooSmall {
        /// Pages there are.
        pages: u32,
        /// Pages of the context.
        needed: u32,
        /// Its positions.
        context: u32,
    },
    /// Sequences hold all pages.
    #[error(
        "{needed} more pages are needed, and {free} of {pages} are free; release a sequence, or use more --kv-pages"
    )]
    Full {
        /// Pages needed.
        needed: u32,
        /// Pages nobody holds.
        free: u32,
        /// Pages there are.
        pages: u32,
    },
    /// A table that would let two positions share a place, or leave the pool.
    #[error("page {page} of the pool {why}; this is a fault of the program, please report it")]
    Fault {
        /// The entry.
        page: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The cache has no pages.
    #[error("the cache has no pages, so that it holds one sequence; use --kv paged")]
    NotPaged,
    /// There is no such sequence.
    #[error("there is no sequence {sequence}; it was released, or it is another engine's")]
    NoSequence {
        /// Its number.
        sequence: u32,
    },
    /// The sequence at hand cannot be released.
    #[error("sequence {sequence} is the one at hand; switch to another one before it is released")]
    AtHand {
        /// Its number.
        sequence: u32,
    },
}

/// Pages in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PagesUse {
    /// Pages of the pool.
    pub pages: u32,
    /// Pages that some sequence holds.
    pub in_use: u32,
    /// Pages that would be needed more without sharing.
    pub saved: u32,
    /// Pages that were copied before they were written.
    pub copied: u64,
    /// Positions of prefill that a common beginning has spared.
    pub skipped: u64,
}

impl fmt::Display for PagesUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PagesUse { pages, in_use, saved, copied, skipped } = self;
        write!(
            f,
            "{in_use} of {pages} pages of {PAGE} positions in use, {saved} saved by sharing, {copied} copied on write, {skipped} positions of \
             prefill skipped"
        )
    }
}

/// A page whose rows go to another one before it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The shared page.
    pub from: u32,
    /// The sequence's own.
    pub to: u32,
}

/// A sequence's pages, in the order of its positions.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Table {
    pages: Vec<u32>,
}

impl Table {
    /// The pages.
    pub fn pages(&self) -> &[u32] {
        &self.pages
    }
}

/// Pages and how many tables hold each.
#[derive(Debug)]
pub struct Pool {
    held: Vec<u32>,
    free: Vec<u32>,
    copied: u64,
}

impl Pool {
    /// So many pages that nobody holds.
    pub fn new(pages: u32) -> Self {
        Pool { held: vec![0; pages as usize], free: (0..pages).rev().collect(), copied: 0 }
    }

    /// Makes room for `rows` positions from `from` on: pages that are not there are taken, shared ones that would be written are
    /// replaced. The moves come before the positions are written.
    ///
    /// # Errors
    /// [`PagesError::Full`]; nothing has changed then.
    pub fn reserve(&mut self, table: &mut Table, from: u32, rows: u32) -> Result<Vec<Move>, PagesError> {
        let (first, end) = ((from / PAGE) as usize, (from + rows).div_ceil(PAGE) as usize);
        let there = table.pages.len();
        let shared: Vec<usize> = (first..end.min(there)).filter(|i| self.held[table.pages[*i] as usize] > 1).collect();
        let needed = (shared.len() + end.saturating_sub(there)) as u32;
        let free = self.free.len() as u32;
        if needed > free {
            return Err(PagesError::Full { needed, free, pages: self.held.len() as u32 });
        }
        let mut moves = Vec::new();
        for at in shared {
            let (from_page, Some(to)) = (table.pages[at], self.take()) else { break };
            self.held[from_page as usize] -= 1;
            table.pages[at] = to;
            // Of a page that is written from its first row on nothing is kept.
            if at == first && !from.is_multiple_of(PAGE) {
                moves.push(Move { from: from_page, to });
                self.copied += 1;
            }
        }
        while table.pages.len() < end {
            let Some(page) = self.take() else { break };
            table.pages.push(page);
        }
        Ok(moves)
    }

    /// Whether the pages of these positions lie in the pool, each once, and are the table's alone; and whether the rest of the
    /// table lies in the pool.
    ///
    /// # Errors
    /// [`PagesError::Fault`].
    pub fn check(&self, table: &Table, from: u32, rows: u32) -> Result<(), PagesError> {
        let mut seen = BTreeSet::new();
        let written = (from / PAGE) as usize..(from + rows).div_ceil(PAGE) as usize;
        for (at, page) in table.pages.iter().enumerate() {
            let fault = |why| Err(PagesError::Fault { page: *page, why });
            match self.held.get(*page as usize) {
                None => return fault("is not there"),
                Some(0) => return fault("is in a table and counts as free"),
                Some(2..) if written.contains(&at) => return fault("is shared, and would be written"),
                _ if !seen.insert(page) => return fault("is twice in a table"),
                _ => {}
            }
        }
        match table.pages.len() < written.end {
            true => Err(PagesError::Fault { page: table.pages.len() as u32, why: "is missing in a table" }),
            false => Ok(()),
        }
    }

    /// Another table that begins with the same positions, by the same pages.
    pub fn fork(&mut self, table: &Table, positions: u32) -> Table {
        let pages: Vec<u32> = table.pages.iter().take(positions.div_ceil(PAGE) as usize).copied().collect();
        pages.iter().for_each(|page| self.held[*page as usize] += 1);
        Table { pages }
    }

    /// Gives up the pages behind the first positions.
    pub fn truncate(&mut self, table: &mut Table, positions: u32) {
        let kept = (positions.div_ceil(PAGE) as usize).min(table.pages.len());
        for page in table.pages.drain(kept..) {
            let held = &mut self.held[page as usize];
            *held -= 1;
            if *held == 0 {
                self.free.push(page);
            }
        }
    }

    /// What is in use.
    pub fn counted(&self) -> PagesUse {
        let pages = self.held.len() as u32;
        let saved = self.held.iter().map(|n| n.saturating_sub(1)).sum();
        PagesUse { pages, in_use: pages - self.free.len() as u32, saved, copied: self.copied, skipped: 0 }
    }

    fn take(&mut self) -> Option<u32> {
        let page = self.free.pop()?;
        self.held[page as usize] = 1;
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sequence should read: its own numbers, position by position.
    #[derive(Default)]
    struct Model {
        table: Table,
        values: Vec<u64>,
    }

    /// Pages as rows of numbers: what a device would hold.
    struct World {
        pool: Pool,
        rows: Vec<u64>,
        next: u64,
        sequences: Vec<Model>,
    }

    impl World {
        fn append(&mut self, at: usize, rows: u32) -> bool {
            let s = &mut self.sequences[at];
            let from = s.values.len() as u32;
            let before = (s.table.pages.clone(), self.pool.counted());
            let moves = match self.pool.reserve(&mut s.table, from, rows) {
                Ok(moves) => moves,
                Err(error) => {
                    assert!(matches!(error, PagesError::Full { needed, free, .. } if needed > free), "{error}");
                    assert_eq!((s.table.pages.clone(), self.pool.counted()), before, "a refusal changes nothing");
                    return false;
                }
            };
            for Move { from, to } in moves {
                let (from, to) = ((from * PAGE) as usize, (to * PAGE) as usize);
                self.rows.copy_within(from..from + PAGE as usize, to);
            }
            self.pool.check(&s.table, from, rows).unwrap();
            for position in from..from + rows {
                self.next += 1;
                let page = s.table.pages[(position / PAGE) as usize];
                self.rows[(page * PAGE + position % PAGE) as usize] = self.next;
                s.values.push(self.next);
            }
            true
        }

        fn fork(&mut self, at: usize, positions: usize) {
            let values = self.sequences[at].values[..positions].to_vec();
            let table = self.pool.fork(&self.sequences[at].table, positions as u32);
            self.sequences.push(Model { table, values });
        }

        fn truncate(&mut self, at: usize, positions: usize) {
            let s = &mut self.sequences[at];
            s.values.truncate(positions);
            self.pool.truncate(&mut s.table, positions as u32);
        }

        fn holds(&self) {
            let mut held = vec![0; self.pool.held.len()];
            for s in &self.sequences {
                assert!(s.table.pages.len() >= s.values.len().div_ceil(PAGE as usize));
                s.table.pages.iter().for_each(|p| held[*p as usize] += 1);
                for (position, value) in s.values.iter().enumerate() {
                    let page = s.table.pages[position / PAGE as usize];
                    let found = self.rows[page as usize * PAGE as usize + position % PAGE as usize];
                    assert_eq!(found, *value, "position {position}");
                }
            }
            assert_eq!(held, self.pool.held, "pages are held as often as tables name them");
            let free = held.iter().filter(|n| **n == 0).count();
            assert_eq!(self.pool.free.len(), free);
            assert_eq!(self.pool.free.iter().collect::<BTreeSet<_>>().len(), free, "no page is free twice");
        }
    }

    fn world(pages: u32) -> World {
        let rows = vec![0; (pages * PAGE) as usize];
        World { pool: Pool::new(pages), rows, next: 0, sequences: vec![Model::default()] }
    }

    /// Random appends, forks, cuts and releases give what sequences with caches of their own would hold.
    #[test]
    fn a_pool_holds_what_separate_caches_would() {
        let (mut full, mut copied) = (0, 0);
        for seed in 1..40u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut random = |n: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % n.max(1)
            };
            let mut w = world(12);
            for _ in 0..200 {
                let at = random(w.sequences.len());
                let long = w.sequences[at].values.len();
                match random(8) {
                    0..4 => full += usize::from(!w.append(at, 1 + random(40) as u32)),
                    4 | 5 if w.sequences.len() < 6 => w.fork(at, random(long + 1)),
                    6 => w.truncate(at, random(long + 1)),
                    _ if w.sequences.len() > 1 => {
                        w.truncate(at, 0);
                        w.sequences.swap_remove(at);
                    }
                    _ => {}
                }
                w.holds();
            }
            copied += w.pool.counted().copied;
        }
        assert!(full > 50 && copied > 50, "{full} refusals and {copied} copies: too few to tell anything");
    }

    #[test]
    fn sharing_is_counted() {
        let mut w = world(8);
        assert!(w.append(0, 40));
        w.fork(0, 40);
        w.fork(0, 20);
        let now = w.pool.counted();
        assert_eq!((now.in_use, now.saved, now.copied), (3, 5, 0));
        // The third page is shared and half full: whoever goes on first gets a copy.
        assert!(w.append(1, 1) && w.append(0, 1));
        let now = w.pool.counted();
        assert_eq!((now.in_use, now.saved, now.copied), (4, 4, 1));
    }

    fn fault(w: &World, from: u32, rows: u32) -> &'static str {
        match w.pool.check(&w.sequences[0].table, from, rows) {
            Err(PagesError::Fault { why, .. }) => why,
            other => panic!("{other:?} is no fault"),
        }
    }

    #[test]
    fn damaged_tables_are_caught() {
        let fresh = || {
            let mut w = world(8);
            assert!(w.append(0, 40));
            w
        };
        let mut w = fresh();
        w.sequences[0].table.pages[1] = 8;
        assert_eq!(fault(&w, 40, 1), "is not there");
        let mut w = fresh();
        w.sequences[0].table.pages[1] = w.sequences[0].table.pages[0];
        assert_eq!(fault(&w, 40, 1), "is twice in a table");
        let mut w = fresh();
        w.sequences[0].table.pages[1] = 7;
        assert_eq!(fault(&w, 40, 1), "is in a table and counts as free");
        let mut w = fresh();
        assert_eq!(fault(&w, 48, 1), "is missing in a table");
        // A copy on write that was forgotten.
        w.fork(0, 40);
        assert_eq!(fault(&w, 40, 1), "is shared, and would be written");
        assert!(w.append(0, 1));
        w.pool.check(&w.sequences[0].table, 40, 1).unwrap();
    }
}
