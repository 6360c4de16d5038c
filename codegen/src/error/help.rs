//! What a message about a schedule says to do instead.
//!
//! The rule: a help names something that the author can type, and where a number is wrong, one that is right. Nothing is
//! tried here: whether the changed schedule applies is for `apply` to say.

use super::ScheduleError;
use tilewright_dsl::schedule::{Fold, Level, LevelKind, Schedule};

impl ScheduleError {
    /// What to do instead.
    pub fn help(&self, s: &Schedule) -> Vec<String> {
        let text = match self {
            Self::WrongKernel { asked, kernel } => format!("apply it to `{asked}`, or write `for {kernel}`"),
            Self::Shape(error) => error.help(),
            Self::BadSize { axis } => format!("`{axis}: serial` is always right; add sized levels from there"),
            Self::UnknownAxis { axis: name, known }
            | Self::UnknownTensor { tensor: name, usable: known, .. }
            | Self::UnknownValue { value: name, known } => match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "drop the line".into(),
                None => format!("write one of `{}`", known.join("`, `")),
            },
            Self::UnknownLevel { level, known } => match nearest(level, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("name a level with `serial as {level}`, or write an axis: its loop is meant"),
            },
            Self::AxisTwice { axis } => format!("put all levels of `{axis}` in one line, outermost first"),
            Self::LevelTwice { .. } => "give each level its own name, which no axis has".into(),
            Self::TwoOpenLevels { axis } => format!("give one of the open levels of `{axis}` a size"),
            Self::NotCovered { axis, .. } => not_covered(s, axis),
            Self::DoesNotDivide { axis, extent, .. } => {
                let drop = format!("drop `tail {axis}: exact`, and the last step is masked");
                match dividing(s, axis, *extent) {
                    Some(level) => format!("`{level}` divides; or {drop}"),
                    None => drop,
                }
            }
            Self::ExactAtRunTime { axis, .. } => {
                format!("drop `tail {axis}: exact`, and the last step is masked; or fix the extent in the shape")
            }
            Self::OpenNotOutermost { axis } => format!("list the open level of `{axis}` first, or give it a size"),
            Self::LevelNotPossible { instead, .. } | Self::NoTile { instead, .. } => (*instead).into(),
            Self::LevelOrder { axis, .. } => format!(
                "the order is `{axis}: grid, serial, lanes(n), unroll(n), vector(n) or matrix(n)`; leave out what is not needed"
            ),
            Self::WorkgroupTooLarge { allowed, .. } => {
                format!("lanes that multiply to at most {allowed}; `unroll(n)` or `serial(n)` takes the rest")
            }
            Self::WorkgroupMismatch { product, .. } => {
                format!("write `workgroup {product}`, or drop the line: that is what a workgroup has by itself")
            }
            Self::NestDoesNotDivide { workgroup, .. } => {
                format!("give them lanes whose product divides {workgroup}: {}", divisors(*workgroup))
            }
            Self::LaneMismatch { axis, .. } => {
                format!("list `{axis}` after the axes that differ, or give those equal lanes")
            }
            Self::NotPowerOfTwo { axis, lanes, most, .. } => {
                let up = lanes.checked_next_power_of_two().filter(|n| n <= most);
                let down = 1u32 << lanes.ilog2().min(most.max(&1).ilog2());
                let sizes = [Some(down).filter(|n| *n > 1), up].into_iter().flatten();
                let mut ways: Vec<String> = sizes.map(|n| format!("`lanes({n})`")).collect();
                if lanes <= most {
                    ways.push(format!("`fold {axis}: serial`, which takes any number"));
                }
                match ways.is_empty() {
                    true => format!("no lanes for `{axis}`: the other axes' take all that the device allows"),
                    false => ways.join(", or "),
                }
            }
            Self::NoSubgroups { axis, .. } => format!("`fold {axis}: tree` runs on every device"),
            Self::NoFragments { allowed, .. } if !allowed.is_empty() => format!("write `matrix({})`", allowed[0]),
            Self::NoFragments { .. } | Self::SubgroupsDiffer { .. } => {
                "use `serial`, `lanes(n)` and `unroll(n)`, which run on every device".into()
            }
            Self::SubgroupStride { axis, .. } => {
                format!("move the line `{axis}: ...` behind the other axes with lanes; or `fold {axis}: tree`")
            }
            Self::FoldNotReduction { known, .. } if known.is_empty() => {
                "drop the line: the kernel has no reduction".into()
            }
            Self::FoldNotReduction { known, .. } => {
                format!("drop the line; the reductions are `{}`", known.join("`, `"))
            }
            Self::VectorNotLast { last, .. } if last.is_empty() => "write `unroll(n)` instead".into(),
            Self::VectorNotLast { last, .. } => {
                format!("write `unroll(n)` instead; `vector(n)` fits `{}`", last.join("`, `"))
            }
            Self::ArrayLevels { axis, levels, .. } => {
                format!("write `{axis}: {levels}`, and list it where its lanes are the same ones")
            }
            Self::StorageNotPossible { tensor, storage, .. } => {
                format!("drop `store {tensor}: {storage}`: it takes 32 bits an element then")
            }
            Self::HalfWord { instead, .. } => {
                format!("write `{instead}`; `vector(2)` instead of `unroll(2)` where neighbours are loaded too")
            }
            Self::Divergent { other, .. } => format!("put `{other}` on `grid` or `serial` instead of lanes"),
            Self::WorkgroupMemory { parts, .. } => return memory(parts),
            Self::TooManyBuffers { .. } => {
                "make two kernels of it, or pack small tensors into one with an offset each".into()
            }
            Self::BindingTooLarge { tensor, halved: true, .. } => format!("`store {tensor}: f16` halves it"),
            Self::BindingTooLarge { .. } => "run the kernel on blocks of rows, with a smaller extent".into(),
            Self::TooManyWorkgroups { .. } => {
                "let a workgroup do more: `lanes(n)`, `unroll(n)` or `serial(n)` after `grid`".into()
            }
            Self::TooManyIterations { instead, .. } if !instead.is_empty() => {
                format!("write `{}`", instead.join("` and `"))
            }
            Self::TooManyIterations { .. } => {
                "share the work: `lanes(n)` or `grid` instead of `serial`, or a bigger `unroll(n)` or `vector(n)`"
                    .into()
            }
            Self::TooManyOperations { axes, .. } if axes.is_empty() => {
                "make two kernels of it, or pass a tensor that takes fewer bindings".into()
            }
            Self::TooManyOperations { axes, .. } => format!(
                "a smaller `unroll(n)` or `vector(n)` for `{}`; `serial(n)` makes a loop instead of copies",
                axes.join("` or `")
            ),
            Self::TooManyCopies { .. } => "a smaller `unroll(n)`; `serial(n)` makes a loop instead of copies".into(),
        };
        vec![text]
    }
}

fn not_covered(s: &Schedule, axis: &str) -> String {
    let mut levels = s.levels(axis).unwrap_or_default().to_vec();
    match levels.first_mut() {
        Some(first) if matches!(first.kind, LevelKind::Grid | LevelKind::Serial) => first.size = None,
        _ => levels.insert(0, Level { kind: LevelKind::Serial, size: None, name: None }),
    }
    let words: Vec<String> = levels.iter().map(ToString::to_string).collect();
    format!("let the first level take what is left: `{axis}: {}`", words.join(", "))
}

fn memory(parts: &[(String, u32)]) -> Vec<String> {
    let words: Vec<String> = parts.iter().map(|(name, n)| format!("`{name}` takes {n}")).collect();
    let (folds, tiles): (Vec<_>, Vec<_>) = parts.iter().partition(|p| p.0.starts_with("fold"));
    let mut help = vec![words.join(", ")];
    if !tiles.is_empty() {
        help.push("smaller levels inside the tiles, or a tile less".into());
    }
    if !folds.is_empty() {
        help.push("fewer lanes or copies; `fold: subgroup` keeps one partial result a subgroup".into());
    }
    help
}

/// The level nearest to one of the axis' sized levels with which the product divides the extent: lanes before other kinds.
fn dividing(s: &Schedule, axis: &str, extent: u32) -> Option<Level> {
    let levels = s.levels(axis)?;
    let open = levels.iter().any(|l| l.size.is_none());
    let fits = |product: u32| if open { extent.is_multiple_of(product) } else { extent == product };
    for kind in [LevelKind::Lanes, LevelKind::Serial, LevelKind::Unroll, LevelKind::Vector] {
        let Some(at) = levels.iter().position(|l| l.kind == kind && l.size.is_some()) else { continue };
        let others = levels.iter().enumerate().filter(|(i, _)| *i != at).filter_map(|(_, l)| l.size);
        let rest = others.fold(1u32, u32::saturating_mul);
        let asked = levels[at].size.unwrap_or(1);
        let good = |n: &u32| {
            let possible = match kind {
                // A tree halves.
                LevelKind::Lanes if s.fold(axis) != Fold::Serial => n.is_power_of_two(),
                LevelKind::Vector => matches!(n, 2 | 4 | 8 | 16 | 32),
                _ => true,
            };
            possible && n.checked_mul(rest).is_some_and(fits)
        };
        let most = asked.saturating_mul(2).min(4096);
        if let Some(n) = (2..=most).filter(good).min_by_key(|n| n.abs_diff(asked)) {
            return Some(Level { kind, size: Some(n), name: levels[at].name.clone() });
        }
    }
    None
}

fn divisors(n: u32) -> String {
    let words: Vec<String> = (1..=n).filter(|d| n.is_multiple_of(*d)).map(|d| d.to_string()).collect();
    words.join(", ")
}

/// The known name that is least far away, if it is near.
fn nearest<'n>(name: &str, known: &'n [String]) -> Option<&'n String> {
    let last = |n: &str| n.rsplit('.').next().unwrap_or_default().to_string();
    let far = |k: &str| distance(name, k).min(1 + distance(&last(name), &last(k)));
    let near = known.iter().min_by_key(|k| far(k))?;
    (far(near) <= 1 + name.chars().count() / 4 && far(near) < name.chars().count()).then_some(near)
}

/// How many letters must be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
