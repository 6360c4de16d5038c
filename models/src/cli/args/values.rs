//! Values of flags: how each is written, and what is said of one that is not.

use tilewright_codegen::shape::Extent;
use tilewright_runtime::{AdapterChoice, TargetSpec};

use super::report::Counts;
use crate::engine::TierChoice;
use crate::lab::STUDIES;
use crate::stores::{Stores, StoresError};
use crate::tiers;
use crate::tune::Tuning;

/// Token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids(pub Vec<u32>);

/// Tier numbers, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierList(pub Vec<usize>);

/// Tiers to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rungs {
    /// By their numbers, ascending.
    pub tiers: Vec<usize>,
    /// The automatic choice too, with tuned schedules.
    pub auto: bool,
}

/// Extents by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeArg(pub Vec<(String, Extent)>);

/// `all` or a study of the lab.
pub fn study(text: &str) -> Result<String, String> {
    match text == "all" || STUDIES.contains(&text) {
        true => Ok(text.into()),
        false => Err(format!("no study `{text}`; expected `all` or one of {}", STUDIES.join(", "))),
    }
}

/// A number or a part of a name.
pub fn adapter(text: &str) -> Result<AdapterChoice, String> {
    text.parse().map_err(|e| match e {})
}

/// `auto`, `off` or a file.
pub fn tuning(text: &str) -> Result<Tuning, String> {
    match text {
        "auto" => Ok(Tuning::Auto),
        "off" => Ok(Tuning::Off),
        "" => Err("expected `auto`, `off` or a file".into()),
        path => Ok(Tuning::File(path.into())),
    }
}

/// Limits to lower.
pub fn target(text: &str) -> Result<TargetSpec, String> {
    // The flag's value is in the message already.
    let twice = format!("target `{text}`: ");
    TargetSpec::read(text).map_err(|e| e.to_string().replacen(&twice, "", 1))
}

/// The most tokens that a draft guesses at a time.
const MOST_GUESSES: u32 = 16;

/// A whole number from 1.
pub fn count(text: &str) -> Result<u32, String> {
    whole(text, 1)
}

/// A whole number from 2.
pub fn several(text: &str) -> Result<u32, String> {
    whole(text, 2)
}

/// Tokens that a draft guesses at a time.
pub fn gamma(text: &str) -> Result<u32, String> {
    match whole(text, 1)? {
        n @ 1..=MOST_GUESSES => Ok(n),
        n => Err(format!(
            "{n} tokens at a time; expected 1 to {MOST_GUESSES}: hardly a draft is right that often in a row"
        )),
    }
}

/// A whole number, 0 included, that counts things in memory.
pub fn size(text: &str) -> Result<usize, String> {
    whole::<u32>(text, 0).map(|n| n as usize)
}

/// Any 64 bits.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0)
}

fn whole<N: TryFrom<u64>>(text: &str, least: u64) -> Result<N, String> {
    let most = if size_of::<N>() == size_of::<u32>() { u64::from(u32::MAX) } else { u64::MAX };
    let number = text.trim().parse::<u64>().ok().filter(|n| *n >= least).and_then(|n| N::try_from(n).ok());
    number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
}

/// A number; its range is judged with the other settings.
pub fn number(text: &str) -> Result<f32, String> {
    text.trim().parse().map_err(|_| "expected a number such as 0.7".into())
}

/// `128,512`.
pub fn counts(text: &str) -> Result<Counts, String> {
    text.split(',').map(count).collect::<Result<_, _>>().map(Counts)
}

/// `nf4,head=int8`.
pub fn stores(text: &str) -> Result<Stores, String> {
    text.parse().map_err(|e: StoresError| e.to_string())
}

/// `1,2,3`.
pub fn ids(text: &str) -> Result<Ids, String> {
    let one = |part: &str| {
        let part = part.trim();
        part.parse::<u32>()
            .map_err(|_| format!("`{part}` is not a token id; expected whole numbers from 0, such as 1,2,3"))
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Ids)
}

fn tier_number(text: &str) -> Result<usize, String> {
    let last = tiers::count() - 1;
    match text.trim().parse::<usize>() {
        Ok(number) if number <= last => Ok(number),
        _ => Err(format!("there is no tier `{text}`; expected a number from 0 to {last}")),
    }
}

/// A number or `auto`.
pub fn tier(text: &str) -> Result<TierChoice, String> {
    match text {
        "auto" => Ok(TierChoice::Auto),
        _ => tier_number(text).map(TierChoice::Number).map_err(|e| format!("{e}, or `auto`")),
    }
}

/// `0..10`, `0,3,6` or `all`.
pub fn tier_list(text: &str) -> Result<TierList, String> {
    if text == "all" {
        return Ok(TierList((0..tiers::count()).collect()));
    }
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (tier_number(first)?, tier_number(last.trim_start_matches('='))?);
                if first > last {
                    return Err(format!("the range `{part}` is empty; expected the lower tier first"));
                }
                all.extend(first..=last);
            }
            None => all.push(tier_number(part)?),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(TierList(all))
}

/// The same, and `auto` among them.
pub fn rungs(text: &str) -> Result<Rungs, String> {
    let (auto, rest): (Vec<&str>, Vec<&str>) = text.split(',').partition(|part| part.trim() == "auto");
    let tiers = if rest.is_empty() { Vec::new() } else { tier_list(&rest.join(",")).map_err(|e| e + ", or `auto`")?.0 };
    Ok(Rungs { tiers, auto: !auto.is_empty() })
}

/// `r=896,t<=64`.
pub fn shape(text: &str) -> Result<ShapeArg, String> {
    let mut extents: Vec<(String, Extent)> = Vec::new();
    // No word at all stands for the extents as they are.
    for item in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let (name, extent) = extent(item).ok_or_else(|| {
            format!("`{item}` is not an extent; expected NAME=NUMBER or NAME<=NUMBER with a number over 0")
        })?;
        if extents.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err(format!("`{name}` is given twice"));
        }
        extents.push((name.to_string(), extent));
    }
    Ok(ShapeArg(extents))
}

fn extent(item: &str) -> Option<(&str, Extent)> {
    let number = |n: &str| n.trim().parse::<u32>().ok().filter(|n| *n > 0);
    match item.split_once("<=") {
        Some((name, n)) => Some((name.trim(), Extent::Param { capacity: number(n)? })),
        None => item.split_once('=').and_then(|(name, n)| Some((name.trim(), Extent::Fixed(number(n)?)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tiers() {
        assert_eq!(tier_list("0..3"), Ok(TierList(vec![0, 1, 2, 3])), "both ends");
        assert_eq!(tier_list("0..=3"), tier_list("0..3"));
        assert_eq!(tier_list("3,0,3"), Ok(TierList(vec![0, 3])), "in order, each once");
        assert_eq!(tier_list("all").unwrap().0.len(), tiers::count());
        for wrong in ["99", "0..99", "3..1", "", "x", "-1"] {
            assert!(tier_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_automatic_choice_stands_beside_numbers() {
        assert_eq!(rungs("auto"), Ok(Rungs { tiers: vec![], auto: true }));
        assert_eq!(rungs("3,auto,0..1"), Ok(Rungs { tiers: vec![0, 1, 3], auto: true }));
        assert!(!rungs("all").unwrap().auto);
        assert!(rungs("99").unwrap_err().ends_with("or `auto`") && rungs("").is_err());
    }

    #[test]
    fn extents() {
        let (r, t) = (Extent::Fixed(896), Extent::Param { capacity: 64 });
        assert_eq!(shape("r=896, T <= 64").unwrap().0, [("r".into(), r), ("T".into(), t)]);
        assert_eq!(shape("").unwrap().0, []);
        for (wrong, says) in [
            ("r", "NAME=NUMBER"),
            ("r=0", "over 0"),
            ("r=x", "NAME=NUMBER"),
            ("r<=0", "over 0"),
            ("r=1,R=2", "twice"),
            (",", "NAME=NUMBER"),
            ("r=1,", "NAME=NUMBER"),
        ] {
            assert!(shape(wrong).unwrap_err().contains(says), "{wrong}");
        }
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(
            (count("1"), several("2"), size("0"), seed("18446744073709551615")),
            (Ok(1), Ok(2), Ok(0), Ok(u64::MAX))
        );
        for (wrong, says) in [
            (count("0").map(u64::from), "from 1 to 4294967295"),
            (count("4294967296").map(u64::from), "from 1 to 4294967295"),
            (several("1").map(u64::from), "from 2 to 4294967295"),
            (seed("-1"), "from 0 to 18446744073709551615"),
            (seed("x"), "a whole number"),
        ] {
            assert!(wrong.clone().unwrap_err().contains(says), "{wrong:?}");
        }
        assert!(number("x").unwrap_err().contains("0.7"));
    }

    #[test]
    fn token_ids() {
        assert_eq!(ids("1, 2,3"), Ok(Ids(vec![1, 2, 3])));
        for wrong in ["", "1,,2", "-1", "1;2", "4294967296"] {
            assert!(ids(wrong).unwrap_err().contains("not a token id"), "{wrong}");
        }
    }
}
