//! The canonical text of a schedule: one directive a line, in a fixed order, everything that the value holds.

use std::fmt;
use std::ops::Range;

use super::*;

/// Something in a schedule's text that a message can point at.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Spot {
    /// The schedule's name.
    Name,
    /// The number of `workgroup n`.
    Workgroup,
    /// The name in an axis line.
    Axis(String),
    /// A level of an axis, the outermost is 0.
    Level(String, usize),
    /// The word of `fold AXIS: word`.
    Fold(String),
    /// The `stage` directive of a tensor in a place.
    Stage(String, Place),
    /// The `compute` directive of a value.
    Compute(String),
    /// The word of `store TENSOR: word`.
    Store(String),
    /// The word of `tail AXIS: word`.
    Tail(String),
}

/// A schedule's canonical text and where its parts stand in it, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Its parts, in the order of the text.
    pub spots: Vec<(Spot, Range<usize>)>,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.printed().text)
    }
}

impl Schedule {
    /// The canonical text, and where its parts stand in it.
    pub fn printed(&self) -> Printed {
        let mut p = Printed { text: "schedule ".into(), spots: Vec::new() };
        p.spot(Spot::Name, &self.name);
        p.text.push_str(&format!(" for {} {{\n", self.kernel));
        if let Some(n) = self.workgroup {
            p.line(|p| {
                p.text.push_str("workgroup ");
                p.spot(Spot::Workgroup, &n.to_string());
            });
        }
        for axis in &self.axes {
            p.line(|p| {
                p.spot(Spot::Axis(axis.axis.clone()), &axis.axis);
                for (i, level) in axis.levels.iter().enumerate() {
                    p.text.push_str(if i == 0 { ": " } else { ", " });
                    p.spot(Spot::Level(axis.axis.clone(), i), &level.to_string());
                }
            });
        }
        for (axis, fold) in &self.folds {
            p.named(&format!("fold {axis}"), Spot::Fold(axis.clone()), fold);
        }
        for stage in &self.stages {
            let mut text = format!("stage {} at {}: {}", stage.tensor, stage.at, stage.place);
            if stage.storage != Storage::F32 {
                text.push_str(&format!(" {}", stage.storage));
            }
            if stage.ahead {
                text.push_str(" ahead");
            }
            p.line(|p| p.spot(Spot::Stage(stage.tensor.clone(), stage.place), &text));
        }
        for compute in &self.computes {
            let mut text = format!("compute {} at {}", compute.value, compute.at);
            if compute.place == Place::Workgroup {
                text.push_str(": workgroup");
            }
            p.line(|p| p.spot(Spot::Compute(compute.value.clone()), &text));
        }
        for (tensor, storage) in &self.stores {
            p.named(&format!("store {tensor}"), Spot::Store(tensor.clone()), storage);
        }
        for (axis, tail) in &self.tails {
            p.named(&format!("tail {axis}"), Spot::Tail(axis.clone()), tail);
        }
        p.text.push_str("}\n");
        p
    }
}

impl Printed {
    fn line(&mut self, directive: impl FnOnce(&mut Self)) {
        self.text.push_str("    ");
        directive(self);
        self.text.push_str(";\n");
    }

    fn named(&mut self, head: &str, spot: Spot, word: &dyn fmt::Display) {
        self.line(|p| {
            p.text.push_str(head);
            p.text.push_str(": ");
            p.spot(spot, &word.to_string());
        });
    }

    fn spot(&mut self, spot: Spot, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.spots.push((spot, start..self.text.len()));
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        if let Some(n) = self.size {
            write!(f, "({n})")?;
        }
        if let Some(name) = &self.name {
            write!(f, " as {name}")?;
        }
        Ok(())
    }
}

macro_rules! words {
    ($($ty:ident { $($variant:ident $word:literal),* })*) => {
        $(
            impl $ty {
                /// Every variant.
                pub const ALL: &[Self] = &[$(Self::$variant),*];
                /// The word in a schedule's text.
                pub fn word(self) -> &'static str {
                    match self { $(Self::$variant => $word),* }
                }
            }
            impl fmt::Display for $ty {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(self.word())
                }
            }
        )*
    };
}

words! {
    LevelKind { Grid "grid", Serial "serial", Lanes "lanes", Unroll "unroll", Vector "vector", Matrix "matrix" }
    Fold { Serial "serial", Tree "tree", Subgroup "subgroup" }
    Place { Workgroup "workgroup", Registers "registers" }
    Storage { F32 "f32", F16 "f16", Bf16 "bf16", Int8 "int8(channel)", Nf4 "nf4(64)" }
    Tail { Guard "guard", Exact "exact" }
}
