//! Two things timed in turn until one is known to be faster, or until it is known that the clock cannot tell.
//!
//! The rule: the two alternate, so that a device that slows down slows both; what is judged is the median of their differences, and
//! only where the whole of its interval of confidence (99 %, by order statistics: no shape of noise is assumed) lies on one side of
//! zero. Absent: means, and outliers taken out.

use std::fmt;

/// A median and its interval of confidence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The median; the lower one of an even number.
    pub median: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// What a race says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The new one is faster, beyond the noise.
    Faster,
    /// It is slower, beyond the noise.
    Slower,
    /// The clock cannot tell.
    Alike,
}

/// How long a race may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// Most rounds.
    pub most: usize,
}

/// Fewest values that have an interval at all.
pub const LEAST: usize = 8;

/// A race's end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Who won.
    pub verdict: Verdict,
    /// The old one's time.
    pub old: Estimate,
    /// The new one's time.
    pub new: Estimate,
    /// Rounds that were run.
    pub rounds: usize,
}

impl Estimate {
    /// Of at least one value. Fewer than [`LEAST`] have no interval that deserves the name: it is without bounds.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
        let median = at(sorted.len().saturating_sub(1) / 2);
        match rank(sorted.len()) {
            Some(k) => Estimate { median, low: at(k), high: at(sorted.len() - 1 - k) },
            None => Estimate { median, low: f64::NEG_INFINITY, high: f64::INFINITY },
        }
    }
}

/// The median with its interval, three digits each.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let three = |x: f64| {
            let digits = if x >= 100.0 { 1 } else { 2 };
            format!("{x:.digits$}")
        };
        match self.low.is_finite() && self.high.is_finite() {
            true => write!(f, "{} ({}–{})", three(self.median), three(self.low), three(self.high)),
            false => write!(f, "about {}", three(self.median)),
        }
    }
}

/// How many values of `n` lie outside the interval on either side: the most whose chance is under half a percent.
fn rank(n: usize) -> Option<usize> {
    let (mut term, mut sum, mut found) = (0.5f64.powi(n.min(1000) as i32), 0.0, None);
    for k in 0..n / 2 {
        sum += term;
        if sum > 0.005 {
            break;
        }
        found = Some(k);
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    found
}

/// Races `new` against `old`; each call of one of them is a run and gives its time. `stop` may end it early.
///
/// # Errors
/// Those of a run.
pub fn race<E>(
    rounds: Rounds,
    old: &mut dyn FnMut() -> Result<f64, E>,
    new: &mut dyn FnMut() -> Result<f64, E>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Outcome, E> {
    // The first runs warm up, and tell what is out of the question.
    let (first, other) = (old()?, new()?);
    let mut times = (Vec::new(), Vec::new());
    if other > 3.0 * first && new()? > 3.0 * first {
        let (old, new) = (Estimate::of(&[first]), Estimate::of(&[other]));
        return Ok(Outcome { verdict: Verdict::Slower, old, new, rounds: 1 });
    }
    let mut verdict = Verdict::Alike;
    while times.0.len() < rounds.most.max(LEAST) && !stop() {
        // Whoever comes first in a round changes from one to the next.
        if times.0.len().is_multiple_of(2) {
            times.0.push(old()?);
            times.1.push(new()?);
        } else {
            times.1.push(new()?);
            times.0.push(old()?);
        }
        verdict = judge(&times.0, &times.1);
        if verdict != Verdict::Alike {
            break;
        }
    }
    Ok(Outcome { verdict, old: Estimate::of(&times.0), new: Estimate::of(&times.1), rounds: times.0.len() })
}

/// Who is faster, of times that were taken in turn.
pub fn judge(old: &[f64], new: &[f64]) -> Verdict {
    let gains: Vec<f64> = old.iter().zip(new).map(|(a, b)| a - b).collect();
    let gain = Estimate::of(&gains);
    match () {
        () if gain.low > 0.0 => Verdict::Faster,
        () if gain.high < 0.0 => Verdict::Slower,
        () => Verdict::Alike,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::hash;

    /// A clock that says `mean`, and up to `noise` more or less.
    fn clock(mean: f64, noise: f64, seed: u32) -> impl FnMut() -> Result<f64, ()> {
        let mut n = seed;
        move || {
            n = n.wrapping_add(1);
            Ok(mean + noise * (f64::from(hash(n) % 2001) / 1000.0 - 1.0))
        }
    }

    fn run(old: f64, new: f64, noise: f64) -> Outcome {
        let rounds = Rounds { most: 40 };
        race(rounds, &mut clock(old, noise, 1), &mut clock(new, noise, 7000), &mut || false).unwrap()
    }

    #[test]
    fn what_is_clear_is_told_at_once() {
        let outcome = run(10.0, 9.0, 0.1);
        assert_eq!((outcome.verdict, outcome.rounds), (Verdict::Faster, LEAST));
        assert_eq!(run(9.0, 10.0, 0.1).verdict, Verdict::Slower);
        assert_eq!(run(1.0, 100.0, 0.1).rounds, 1, "three times as slow is out of the question");
    }

    #[test]
    fn nothing_is_ranked_inside_the_noise() {
        let wrong = (0..200).filter(|seed| {
            let mut old = clock(10.0, 1.0, seed * 1000);
            let mut new = clock(10.0, 1.0, seed * 1000 + 500);
            race(Rounds { most: 40 }, &mut old, &mut new, &mut || false).unwrap().verdict == Verdict::Faster
        });
        // Looking after every round costs some of the confidence.
        assert!(wrong.count() <= 12);
    }

    #[test]
    fn a_small_gain_needs_more_rounds() {
        let outcome = run(10.0, 9.7, 0.5);
        assert!(outcome.verdict == Verdict::Faster && outcome.rounds > LEAST, "{outcome:?}");
    }

    #[test]
    fn intervals() {
        let all: Vec<f64> = (0..8).map(f64::from).collect();
        assert_eq!(Estimate::of(&all), Estimate { median: 3.0, low: 0.0, high: 7.0 });
        assert_eq!(Estimate::of(&all[..7]).high, f64::INFINITY, "seven say nothing with that confidence");
        let many: Vec<f64> = (0..40).map(f64::from).collect();
        let Estimate { low, high, .. } = Estimate::of(&many);
        assert!((9.0..=13.0).contains(&low) && (26.0..=30.0).contains(&high), "{low} {high}");
    }
}
