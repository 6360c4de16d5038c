//! The search of one site: candidates in the order of their guesses, raced against the best so far, until time or ideas run out.
//!
//! The rule: a candidate takes the incumbent's place only where the race is clear and both checks hold; then the neighbourhood is
//! that of the new one. The end is a race of what was found against what was there, and that is what the entry claims. Absent: a
//! file, a terminal, a budget of more than one site.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use tilewright_codegen::program::Program;
use tilewright_codegen::target::Target;
use tilewright_dsl::schedule::Schedule;
use tilewright_runtime::{Params, RuntimeError};

use super::check::{Reference, Wrong, alike};
use super::file::Entry;
use super::predict::{Figures, Guess, predict};
use super::race::{Estimate, Outcome, Rounds, Verdict, race};
use super::rig::{Place, Rig, Runner};
use super::site::{Site, fingerprint};
use super::space::{Bounds, around, plain};
use crate::kernels;

/// Candidates in a row that bring nothing, after which a site is given up.
const PATIENCE: usize = 40;
/// Most candidates whose shaders are compiled at once; no more than there are cores, since drivers may take long for each.
const BATCH: usize = 12;
/// Rounds of a race, and of the last one of a site.
const ROUNDS: Rounds = Rounds { most: 24 };
const LAST: Rounds = Rounds { most: 41 };

/// A legal candidate.
#[derive(Clone)]
pub struct Candidate {
    /// The schedule.
    pub schedule: Schedule,
    /// What comes of it.
    pub program: Arc<Program>,
    /// How long that may take; none where it depends on data.
    pub guess: Option<Guess>,
}

/// Something that a search tells.
pub enum Event<'a> {
    /// A candidate was raced.
    Raced {
        /// Which.
        candidate: &'a Candidate,
        /// Against the incumbent, in microseconds.
        outcome: Outcome,
    },
    /// It was faster, and wrong; or the device refused it.
    Refused {
        /// Which.
        candidate: &'a Candidate,
        /// Why.
        why: String,
    },
}

/// What a site's search has to work with.
pub struct Search<'s> {
    /// The site.
    pub site: &'s Site,
    /// What is known of the device.
    pub figures: &'s Figures,
    /// When it must end.
    pub until: Instant,
    /// Whether it is to end now.
    pub stop: &'s dyn Fn() -> bool,
}

/// A site's end.
pub struct Done {
    /// What is kept: the winner, or what was there.
    pub entry: Entry,
    /// The winner's program.
    pub program: Arc<Program>,
    /// The last race, in microseconds, if anything faster was found.
    pub gain: Option<Outcome>,
    /// Candidates that were raced.
    pub raced: usize,
    /// Whether time ended it and not a want of ideas.
    pub cut: bool,
}

/// All that is legal around a schedule, best guess first, of what `seen` does not hold yet; `seen` then holds it. `work` is the bytes
/// that it must move and the words of its parameters.
pub fn candidates(
    site: &Site,
    base: &Schedule,
    target: &Target,
    figures: &Figures,
    work: &(u64, Params),
    seen: &mut HashSet<Schedule>,
) -> Vec<Candidate> {
    let bounds = Bounds {
        invocations: target.max_invocations,
        subgroups: target.subgroups.is_some(),
        single: site
            .kernel
            .axes
            .iter()
            .filter(|a| a.name == "t" && site.longest_rows() == 1)
            .map(|a| a.name.clone())
            .collect(),
    };
    let listed = kernels::all().into_iter().filter(|e| e.kernel.name == site.kernel.name).flat_map(|e| e.schedules);
    let listed = listed.map(|s| plain(&Schedule { stores: site.schedule.stores.clone(), ..s }));
    let new: Vec<Schedule> =
        listed.chain(around(&site.kernel, base, &bounds)).filter(|s| seen.insert(plain(s))).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = new.len().div_ceil(threads).max(1);
    let mut all: Vec<Candidate> = std::thread::scope(|scope| {
        let work = |part: &[Schedule]| part.iter().filter_map(|s| candidate(site, s, target, figures, work)).collect();
        let running: Vec<_> =
            new.chunks(share).map(|part| scope.spawn(move || -> Vec<Candidate> { work(part) })).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    all.sort_by(|a, b| us(a).total_cmp(&us(b)));
    all
}

fn us(candidate: &Candidate) -> f64 {
    candidate.guess.map_or(f64::INFINITY, |g| g.us)
}

/// A schedule as a candidate, if it is legal in the longest steps and leaves all tensors as they lie.
fn candidate(
    site: &Site,
    schedule: &Schedule,
    target: &Target,
    figures: &Figures,
    (bytes, words): &(u64, Params),
) -> Option<Candidate> {
    let program = site.compiled(schedule, target).ok().filter(|program| program.tensors == site.program.tensors)?;
    let guess = predict(&program, words, *bytes, figures);
    Some(Candidate { schedule: schedule.clone(), program: Arc::new(program), guess })
}

impl Search<'_> {
    /// Searches the site and puts the winner into the rig; `tell` hears of each race.
    ///
    /// # Errors
    /// Those of the device. A candidate that the device refuses is told and passed over.
    pub fn run(&self, rig: &mut Rig, tell: &mut dyn FnMut(Event)) -> Result<Done, RuntimeError> {
        let site = self.site;
        let place = rig.place(site)?;
        let work = rig.work(site);
        let base = Candidate { schedule: site.schedule.clone(), program: Arc::clone(&site.program), guess: None };
        let mut reference = None;
        let mut incumbent = base.clone();
        let mut holder = rig.runner(&place, &base.program)?;
        let scale = holder.run()?;
        let mut seen = HashSet::from([plain(&base.schedule)]);
        let mut list = candidates(site, &base.schedule, rig.target(), self.figures, &work, &mut seen);
        // Of the first ones in the list, so many are compiled.
        let (mut raced, mut idle, mut ready) = (0, 0, 0);
        while idle < PATIENCE && !list.is_empty() && !self.over() {
            if ready == 0 {
                ready = std::thread::available_parallelism().map_or(1, usize::from).min(BATCH).min(list.len());
                rig.prepare(&list[..ready].iter().map(|c| Arc::clone(&c.program)).collect::<Vec<_>>());
            }
            ready -= 1;
            let next = list.remove(0);
            let mut challenger = match rig.runner(&place, &next.program) {
                Ok(runner) => runner,
                Err(error @ RuntimeError::DeviceLost { .. }) => return Err(error),
                Err(error) => {
                    tell(Event::Refused { candidate: &next, why: error.to_string() });
                    continue;
                }
            };
            let outcome = self.race(ROUNDS, &mut holder, &mut challenger, &scale)?;
            raced += 1;
            idle += 1;
            tell(Event::Raced { candidate: &next, outcome });
            if outcome.verdict != Verdict::Faster {
                continue;
            }
            match self.check(rig, &place, &base, &mut reference, &next) {
                Ok(()) => {
                    let around = candidates(site, &next.schedule, rig.target(), self.figures, &work, &mut seen);
                    list.extend(around);
                    list.sort_by(|a, b| us(a).total_cmp(&us(b)));
                    (incumbent, holder, idle, ready) = (next, challenger, 0, 0);
                }
                Err(Wrong::Device(error @ RuntimeError::DeviceLost { .. })) => return Err(error),
                Err(wrong) => tell(Event::Refused { candidate: &next, why: wrong.to_string() }),
            }
        }
        let cut = self.over();
        let changed = !Arc::ptr_eq(&incumbent.program, &base.program);
        let mut gain = None;
        if changed {
            let mut first = rig.runner(&place, &base.program)?;
            gain = Some(self.last(&mut first, &mut holder, &scale)?);
        }
        // What is not faster than what was there in the last race is not kept.
        if gain.is_none_or(|g| g.verdict != Verdict::Faster) {
            (incumbent, gain) = (base.clone(), None);
        }
        rig.put(site, &incumbent.program);
        let entry = self.entry(&incumbent, &base, gain, raced, place.whole);
        Ok(Done { entry, program: incumbent.program, gain, raced, cut })
    }

    fn over(&self) -> bool {
        (self.stop)() || Instant::now() >= self.until
    }

    /// A race of runs; each run's time is that of the first moment, as far as the others take as much longer as `scale` says.
    fn race(&self, rounds: Rounds, old: &mut Runner, new: &mut Runner, scale: &[f64]) -> Result<Outcome, RuntimeError> {
        let stop = &mut || (self.stop)();
        race(rounds, &mut || Ok(one(&old.run()?, scale)), &mut || Ok(one(&new.run()?, scale)), stop)
    }

    /// The race that the entry tells of: all of its rounds, for the sake of the interval.
    fn last(&self, old: &mut Runner, new: &mut Runner, scale: &[f64]) -> Result<Outcome, RuntimeError> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let start = Instant::now();
        while before.len() < LAST.most && (before.len() < super::race::LEAST || start.elapsed().as_secs() < 5) {
            before.push(one(&old.run()?, scale));
            after.push(one(&new.run()?, scale));
        }
        let verdict = super::race::judge(&before, &after);
        Ok(Outcome { verdict, old: Estimate::of(&before), new: Estimate::of(&after), rounds: before.len() })
    }

    fn check(
        &self,
        rig: &Rig,
        place: &Place,
        base: &Candidate,
        reference: &mut Option<Reference>,
        next: &Candidate,
    ) -> Result<(), Wrong> {
        let (before, after) = (rig.results(place, &base.program)?, rig.results(place, &next.program)?);
        alike(&next.program, &before, &after)?;
        let reference = match reference {
            Some(reference) => reference,
            None => reference.insert(Reference::of(self.site, rig.target())?),
        };
        reference.check(self.site, &next.schedule, rig.device())
    }

    fn entry(&self, kept: &Candidate, base: &Candidate, gain: Option<Outcome>, raced: usize, whole: bool) -> Entry {
        let at = self.site.key.clone();
        let what = if whole { "a step takes" } else { "its dispatches take" };
        let before = match base.schedule.name == at.schedule_name() {
            true => "what was known".to_string(),
            false => format!("`{}`", base.schedule.name),
        };
        let note = match gain {
            Some(gain) => {
                format!("{what} {} µs, with {before} {} µs; {raced} candidates raced", gain.new, gain.old)
            }
            None if raced == 0 => {
                format!("{before} stays: no time was left to race another; a larger --budget has some")
            }
            None => format!("{before} stays: nothing is faster beyond the noise among {raced} candidates"),
        };
        let mut schedule = Schedule { name: at.schedule_name(), ..kept.schedule.clone() };
        // The storage of weights is the tier's.
        schedule.stores.clear();
        Entry { text: Some(fingerprint(&kept.program)), at, note, schedule }
    }
}

/// The time of a run as one number: the mean over its moments of the share of the first schedule's time there, in that schedule's
/// microseconds at the first.
fn one(times: &[f64], scale: &[f64]) -> f64 {
    let share: f64 = times.iter().zip(scale).map(|(t, s)| t / s.max(1e-3)).sum();
    share / times.len().max(1) as f64 * scale.first().copied().unwrap_or(1.0)
}
