//! Where a schedule is used: a kernel at one shape, in one phase, with weights in one storage.
//!
//! The rule: a site's name holds all that a schedule's speed depends on and nothing else, so that a longer cache or another chunk of
//! prefill finds the same entry. Absent: the adapter, which a whole file is for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tilewright_codegen::program::{Count, Program};
use tilewright_codegen::shape::{Extent, Shape};
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, check_step, compile};
use tilewright_dsl::ir::{Expr, Kernel};
use tilewright_dsl::schedule::{Schedule, Storage};
use tilewright_runtime::Graph;

use super::file::Entry;

/// One position, or many.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// One position.
    Decode,
    /// Many positions at once.
    Prefill,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Decode => "decode",
            Phase::Prefill => "prefill",
        })
    }
}

/// A site's name, such as `linear_residual decode D=896 K=4864 f16`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key(String);

impl Key {
    /// The name of a kernel's use at a shape, with matrices of weights in `storage`.
    pub fn new(kernel: &Kernel, phase: Phase, shape: &Shape, storage: Storage) -> Self {
        let mut name = format!("{} {phase}", kernel.name);
        // An extent that no value and no axis asks for is the room of a cache or the number of a table's rows.
        let asked = kernel.exprs.iter().filter_map(|e| match e {
            Expr::Extent(id) => kernel.extents.get(id.0 as usize),
            _ => None,
        });
        let asked: Vec<&String> = asked.collect();
        for extent in kernel.extents.iter().filter(|e| *e != "T" && asked.contains(e)) {
            match shape.get(extent) {
                Some(Extent::Fixed(n)) => name += &format!(" {extent}={n}"),
                Some(Extent::Param { .. }) => name += &format!(" {extent}=any"),
                None => {}
            }
        }
        Key(format!("{name} {storage}"))
    }

    /// The name as it stands in a file.
    pub fn read(text: &str) -> Self {
        Key(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Whether this name, in which `*` stands for any words, is also that of `site`.
    pub fn covers(&self, site: &Key) -> bool {
        fn words(pattern: &[&str], site: &[&str]) -> bool {
            match pattern.split_first() {
                None => site.is_empty(),
                Some((&"*", rest)) => (0..=site.len()).any(|n| words(rest, &site[n..])),
                Some((word, rest)) => site.first() == Some(word) && words(rest, &site[1..]),
            }
        }
        let pattern: Vec<&str> = self.0.split(' ').collect();
        words(&pattern, &site.0.split(' ').collect::<Vec<_>>())
    }

    /// The kernel.
    pub fn kernel(&self) -> &str {
        self.0.split(' ').next().unwrap_or_default()
    }

    /// A name for the schedule that is kept for this site, which no other site's has: the key as one word.
    pub fn schedule_name(&self) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        self.0.replace('=', "").chars().map(word).collect()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A kernel as a plan uses it.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its name.
    pub key: Key,
    /// The algorithm.
    pub kernel: Kernel,
    /// The phase.
    pub phase: Phase,
    /// Its extents.
    pub shape: Shape,
    /// What the plan took, with the storage that the tier adds.
    pub schedule: Schedule,
    /// The same, compiled.
    pub program: Arc<Program>,
    /// Words of its parameters in the longest steps, which every schedule must allow.
    pub longest: Vec<BTreeMap<String, u32>>,
}

impl Site {
    /// Whether the plan took this entry.
    pub fn uses(&self, entry: &Entry) -> bool {
        self.program.schedule == entry.schedule.name
    }

    /// The site by another schedule.
    ///
    /// # Errors
    /// Why the schedule does not apply, or which of the longest steps it does not allow.
    pub fn compiled(&self, schedule: &Schedule, target: &Target) -> Result<Program, CompileError> {
        let program = compile(&self.kernel, schedule, &self.shape, target)?;
        for step in &self.longest {
            check_step(&self.kernel, schedule, &self.shape, target, &program, step)?;
        }
        Ok(program)
    }

    /// Bytes that an op of this site in `graph` reads and writes, each once, where its parameters have these words.
    pub fn bytes(&self, graph: &Graph, words: &BTreeMap<String, u32>) -> u64 {
        let Some(op) = graph.ops.iter().find(|op| Arc::ptr_eq(&op.program, &self.program)) else { return 0 };
        let count = |count: &Option<Count>| count.as_ref().and_then(|c| c.eval(words)).map_or(0, u64::from);
        4 * (count(&op.reads) + count(&op.writes))
    }

    /// Positions of the longest step.
    pub fn longest_rows(&self) -> u32 {
        match self.shape.get("T") {
            Some(Extent::Param { capacity }) => capacity,
            Some(Extent::Fixed(n)) => n,
            None => 1,
        }
    }
}

/// What a program is, less its numbers: a schedule that was measured as one text is worth nothing for another, but the length of a
/// cache, which is a number in it, may differ.
pub fn fingerprint(program: &Program) -> u64 {
    let mut text = String::new();
    for shader in &program.shaders {
        let mut digits = false;
        // The first lines tell kernel, shape and schedule by name.
        for c in shader.wgsl.lines().filter(|l| !l.trim_start().starts_with("//")).flat_map(|l| l.chars().chain(['\n']))
        {
            if !c.is_ascii_digit() {
                text.push(c);
            } else if !digits {
                text.push('#');
            }
            digits = c.is_ascii_digit();
        }
    }
    hash(&text)
}

/// FNV-1a of 64 bits: <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;

    #[test]
    fn a_name_holds_what_matters() {
        let shape = Shape::new().fixed("T", 1).fixed("H", 14).fixed("G", 2).fixed("D", 64);
        let attention = kernels::attention::attention();
        let key = |shape: Shape| Key::new(&attention, Phase::Decode, &shape, Storage::F32);
        let short = key(shape.clone().fixed("P", 128));
        assert_eq!(short, key(shape.clone().fixed("P", 4096)), "the length of the cache does not");
        assert_ne!(short, key(shape.fixed("P", 128).fixed("D", 128)));
        assert_eq!(short.kernel(), "attention");
        assert_eq!(Key::read(&short.to_string()), short);
        assert!(short.schedule_name().starts_with("attention_decode_h14_"), "{}", short.schedule_name());
    }

    #[test]
    fn a_star_stands_for_any_words() {
        let site = Key::read("attention decode H=14 D=64 G=2 f32");
        for pattern in ["attention decode H=14 D=64 G=2 f32", "attention decode *", "attention * D=64 * f32", "*"] {
            assert!(Key::read(pattern).covers(&site), "{pattern}");
        }
        for pattern in
            ["attention prefill *", "attention * D=128 *", "attention decode", "* D=6* *", "attention decode H=14"]
        {
            assert!(!Key::read(pattern).covers(&site), "{pattern}");
        }
    }

    #[test]
    fn hashes_are_those_of_the_draft() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
