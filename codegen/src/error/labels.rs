//! What a message about a schedule points at.
//!
//! An error is made where the schedule is applied and knows names and numbers alone; its labels are made here from it and
//! the schedule, at the edge. Only places that are in the schedule get labels.

use super::ScheduleError;
use tilewright_dsl::schedule::{Compute, Level, LevelKind, Schedule, Spot, Stage};

type Label = (Spot, String);

impl ScheduleError {
    /// The places in the schedule that the error is about, some with a word on it.
    pub fn labels(&self, s: &Schedule) -> Vec<Label> {
        let labels = match self {
            Self::WrongKernel { .. } | Self::Shape(_) | Self::TooManyBuffers { .. } => vec![],
            Self::BadSize { axis } | Self::LevelOrder { axis, kind: None, .. } => levels(s, axis, |_| true, ""),
            Self::UnknownAxis { axis, .. } => vec![
                (Spot::Axis(axis.clone()), "no such axis".into()),
                (Spot::Fold(axis.clone()), "no such axis".into()),
                (Spot::Tail(axis.clone()), "no such axis".into()),
            ],
            Self::UnknownTensor { tensor, .. } => {
                let mut labels = stages(s, |t| t.tensor == *tensor, "no such tensor");
                labels.push((Spot::Store(tensor.clone()), "no such tensor".into()));
                labels
            }
            Self::UnknownValue { value, .. } => computes(s, |c| c.value == *value, "no such `let`"),
            Self::UnknownLevel { level, .. } => {
                let mut labels = stages(s, |t| t.at == *level, "no such level");
                labels.extend(computes(s, |c| c.at == *level, "no such level"));
                labels
            }
            Self::AxisTwice { axis } => vec![(Spot::Axis(axis.clone()), "here, and in a later line".into())],
            Self::LevelTwice { level, .. } => {
                let named = |l: &Level| l.name.as_ref() == Some(level);
                s.axes.iter().flat_map(|a| levels(s, &a.axis, named, "")).collect()
            }
            Self::TwoOpenLevels { axis } => levels(s, axis, |l| l.size.is_none(), "both are open"),
            Self::NotCovered { axis, covered, .. } => levels(s, axis, |_| true, &format!("{covered} in all")),
            Self::DoesNotDivide { axis, sizes, extent } => {
                let step = sizes.iter().fold(1u32, |p, n| p.saturating_mul(*n));
                let text = match (extent / step, extent % step) {
                    (0, _) => format!("{step} a step, and there are only {extent}"),
                    (times, rest) => format!("{step} a step, and {extent} = {times} × {step} + {rest}"),
                };
                let mut labels = levels(s, axis, |l| l.size.is_some(), &text);
                labels.push((Spot::Tail(axis.clone()), "asserts that it divides".into()));
                labels
            }
            Self::ExactAtRunTime { axis, .. } => {
                vec![(Spot::Tail(axis.clone()), "asserts what only a run tells".into())]
            }
            Self::OpenNotOutermost { axis } => levels(s, axis, |l| l.size.is_none(), "takes what only a run tells"),
            Self::LevelNotPossible { axis, kind, .. } => levels(s, axis, |l| l.kind == *kind, ""),
            Self::LevelOrder { axis, kind: Some(kind), .. } => levels(s, axis, |l| l.kind == *kind, ""),
            Self::WorkgroupTooLarge { nest, asked: lanes, .. }
            | Self::WorkgroupMismatch { nest, product: lanes, .. } => {
                let mut labels = lanes_of(s, nest, &format!("{lanes} lanes together"));
                labels.push((Spot::Workgroup, String::new()));
                labels
            }
            Self::NestDoesNotDivide { nest, product, .. } => lanes_of(s, nest, &format!("{product} lanes together")),
            Self::LaneMismatch { axis, .. } => levels(s, axis, |l| l.kind == LevelKind::Lanes, ""),
            Self::NotPowerOfTwo { axis, .. } | Self::SubgroupStride { axis, .. } => {
                let mut labels = levels(s, axis, |l| l.kind == LevelKind::Lanes, "");
                labels.push((Spot::Fold(axis.clone()), String::new()));
                labels
            }
            Self::NoFragments { axis, .. } => levels(s, axis, |l| l.kind == LevelKind::Matrix, ""),
            Self::SubgroupsDiffer { .. } => {
                s.axes.iter().flat_map(|a| levels(s, &a.axis, |l| l.kind == LevelKind::Matrix, "")).collect()
            }
            Self::NoSubgroups { axis, .. } => vec![(Spot::Fold(axis.clone()), "needs subgroup operations".into())],
            Self::FoldNotReduction { axis, .. } => {
                vec![(Spot::Fold(axis.clone()), "nothing is added up along it".into())]
            }
            Self::VectorNotLast { axis, .. } => {
                levels(s, axis, |l| l.kind == LevelKind::Vector, "no neighbours in memory")
            }
            Self::ArrayLevels { axis, array, .. } => {
                let mut labels = levels(s, array, |_| true, "where the elements live");
                labels.extend(levels(s, axis, |_| true, "where they are read"));
                labels
            }
            Self::NoTile { what, at, .. } => {
                let mut labels = stages(s, |t| t.tensor == *what && t.at == *at, "");
                labels.extend(computes(s, |c| c.value == *what && c.at == *at, ""));
                labels
            }
            Self::StorageNotPossible { tensor, .. } | Self::BindingTooLarge { tensor, .. } => {
                vec![(Spot::Store(tensor.clone()), String::new())]
            }
            Self::HalfWord { tensor, axis, .. } => {
                let mut labels = levels(s, axis, |_| true, "the last level makes no pairs");
                labels.push((Spot::Store(tensor.clone()), "two elements a word".into()));
                labels
            }
            Self::Divergent { axis, other } => {
                let mut labels = levels(s, other, |l| l.kind == LevelKind::Lanes, "each lane has another end");
                labels.push((Spot::Axis(axis.clone()), "all invocations must walk together".into()));
                labels
            }
            Self::WorkgroupMemory { parts, .. } => {
                let bytes = |name: &str| parts.iter().find(|p| p.0 == format!("{name}_tile")).map(|p| p.1);
                let stages = s.stages.iter().map(|t| (staged(t), bytes(&t.tensor)));
                let computes = s.computes.iter().map(|c| (Spot::Compute(c.value.clone()), bytes(&c.value)));
                stages.chain(computes).filter_map(|(spot, n)| Some((spot, format!("{} bytes", n?)))).collect()
            }
            Self::TooManyWorkgroups { .. } => {
                s.axes.iter().flat_map(|a| levels(s, &a.axis, |l| l.kind == LevelKind::Grid, "")).collect()
            }
            Self::TooManyIterations { loops, .. } => {
                let listed = |axis: &str| s.levels(axis).is_some();
                let mut labels: Vec<Label> = Vec::new();
                for (axis, rounds) in loops.iter().filter(|l| listed(&l.0)) {
                    labels.extend(levels(s, axis, |l| l.kind == LevelKind::Serial, &format!("{rounds} rounds")));
                }
                let rest = loops.iter().filter(|l| !listed(&l.0));
                let rest: Vec<String> = rest.map(|(axis, n)| format!("`{axis}` (a loop of {n} rounds)")).collect();
                if !rest.is_empty() {
                    labels.push((Spot::Name, format!("has no line for {}", rest.join(" and "))));
                }
                labels
            }
            Self::TooManyOperations { axes, copies, .. } => copied(s, axes, *copies),
            Self::TooManyCopies { axes, asked, .. } => copied(s, axes, *asked),
        };
        let printed = s.printed();
        labels.into_iter().filter(|(spot, _)| printed.spots.iter().any(|p| p.0 == *spot)).collect()
    }
}

/// Labels at some levels of an axis; the last one says the text.
fn levels(s: &Schedule, axis: &str, which: impl Fn(&Level) -> bool, text: &str) -> Vec<Label> {
    let found = s.levels(axis).unwrap_or_default().iter().enumerate().filter(|(_, l)| which(l));
    last_says(found.map(|(i, _)| (Spot::Level(axis.into(), i), String::new())), text)
}

fn lanes_of(s: &Schedule, axes: &[String], text: &str) -> Vec<Label> {
    last_says(axes.iter().flat_map(|a| levels(s, a, |l| l.kind == LevelKind::Lanes, "")), text)
}

fn copied(s: &Schedule, axes: &[String], copies: u32) -> Vec<Label> {
    let kinds = |l: &Level| matches!(l.kind, LevelKind::Unroll | LevelKind::Vector);
    last_says(axes.iter().flat_map(|a| levels(s, a, kinds, "")), &format!("{copies} copies together"))
}

fn last_says(labels: impl Iterator<Item = Label>, text: &str) -> Vec<Label> {
    let mut labels: Vec<Label> = labels.collect();
    if let Some(last) = labels.last_mut() {
        last.1 = text.into();
    }
    labels
}

fn stages(s: &Schedule, which: impl Fn(&Stage) -> bool, text: &str) -> Vec<Label> {
    s.stages.iter().filter(|t| which(t)).map(|t| (staged(t), text.into())).collect()
}

fn staged(stage: &Stage) -> Spot {
    Spot::Stage(stage.tensor.clone(), stage.place)
}

fn computes(s: &Schedule, which: impl Fn(&Compute) -> bool, text: &str) -> Vec<Label> {
    s.computes.iter().filter(|c| which(c)).map(|c| (Spot::Compute(c.value.clone()), text.into())).collect()
}
