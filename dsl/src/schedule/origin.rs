//! Where a schedule and each of its parts stand, so that messages can point there.

use super::{Schedule, Spot};

/// A place in a text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// The file, as the compiler or the user names it; empty if unknown.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Where a schedule stands, for messages alone: all origins are equal.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The first word of the schedule.
    pub start: Position,
    /// Its parts, those of a base included. What a program has added stands nowhere.
    pub parts: Vec<(Spot, Position)>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Origin {}
impl std::hash::Hash for Origin {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl Origin {
    /// A schedule of one file: the (line, column) of its first word and of its parts, both from 1.
    pub fn new(file: &str, start: (u32, u32), parts: impl IntoIterator<Item = (Spot, (u32, u32))>) -> Self {
        let position = |(line, column)| Position { file: file.into(), line, column };
        Origin { start: position(start), parts: parts.into_iter().map(|(spot, at)| (spot, position(at))).collect() }
    }

    /// Where a part stands, if it is known.
    pub fn of(&self, spot: &Spot) -> Option<&Position> {
        self.parts.iter().find(|p| p.0 == *spot).map(|p| &p.1)
    }

    /// The origin of `base` with the directives of `change`: what the change says stands there, the rest where the base has it.
    pub(super) fn derived(base: &Schedule, change: &Schedule) -> Self {
        let own: Vec<Spot> = change.printed().spots.into_iter().map(|s| s.0).collect();
        let changed = |spot: &Spot| {
            own.contains(spot) || matches!(spot, Spot::Level(axis, _) if own.contains(&Spot::Axis(axis.clone())))
        };
        let taken = base.origin.parts.iter().filter(|p| !changed(&p.0));
        let parts = change.origin.parts.iter().chain(taken).cloned().collect();
        Origin { start: change.origin.start.clone(), parts }
    }
}
