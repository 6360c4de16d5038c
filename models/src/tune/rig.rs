//! Where candidates run: the plan's own graphs on the plan's own buffers, with one site's program exchanged.
//!
//! The rule: a candidate is timed where it will be used. On a GPU that is a whole step, so that caches hold what they hold in a step
//! and dispatches wait for each other as they do there; where a step takes long (a software adapter), it is the site's ops alone.
//! Times are the device's, or the host's where there are no timestamps. Absent: any judgement.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tilewright_codegen::program::{Count, Program};
use tilewright_codegen::target::Target;
use tilewright_runtime::{Buffers, Device, Executor, Graph, Op, Params, Read, RuntimeError, Submission};

use super::race::{LEAST, Outcome, Rounds, race};
use super::site::Site;
use crate::engine::{Plan, Stage};

/// Microseconds of a step from which on a site's ops run alone: what caches hold matters little then.
const LONG: f64 = 20_000.0;
/// Microseconds that a run of a site's ops alone should take, at least.
const ENOUGH: f64 = 300.0;
/// A short and a long position at which steps are timed, as far as the context, or the stage, has them.
const POSITIONS: [u32; 2] = [128, 4095];
/// The stages whose steps are timed; a site that several run is timed in the first of them.
const STAGES: [Stage; 3] = [Stage::Decode, Stage::Prefill, Stage::Far];
/// Seconds that a comparison of whole steps may take.
const PATIENCE: f64 = 20.0;

/// A loaded model's graphs, to be changed.
pub struct Rig {
    device: Device,
    buffers: Arc<Buffers>,
    /// In the order of [`STAGES`]; the last one only where the plan has it.
    steps: Vec<Step>,
}

/// A stage's step.
struct Step {
    stage: Stage,
    graph: Graph,
    /// Parameters at a short and at a long position.
    moments: Vec<Params>,
    /// Microseconds at the short one, once known.
    time: OnceCell<f64>,
}

impl Step {
    fn runs(&self, site: &Site) -> bool {
        self.graph.ops.iter().any(|op| Arc::ptr_eq(&op.program, &site.program))
    }
}

/// A site with what is run for it.
pub struct Place {
    graph: Graph,
    /// Whether `graph` is a whole step.
    pub whole: bool,
    /// The site's ops in `graph`.
    ops: Vec<usize>,
    /// The steps that are timed.
    pub moments: Vec<Params>,
}

/// A place with a program in it, ready to be timed.
pub struct Runner {
    device: Device,
    executor: Executor,
    moments: Vec<Params>,
}

impl Rig {
    /// Of a plan whose buffers are filled.
    pub fn new(device: &Device, buffers: &Arc<Buffers>, plan: &Plan) -> Self {
        let step = |stage: Stage| {
            let graph = Graph { submission: Submission::PerToken, ..plan.graphs.get(stage as usize)?.clone() };
            let moments = moments(plan, stage);
            Some(Step { stage, graph, moments, time: OnceCell::new() })
        };
        let steps = STAGES.into_iter().filter_map(step).collect();
        Rig { device: device.clone(), buffers: Arc::clone(buffers), steps }
    }

    /// The step in which a site is timed.
    fn home(&self, site: &Site) -> &Step {
        self.steps.iter().find(|step| step.runs(site)).unwrap_or(&self.steps[0])
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What programs are compiled for.
    pub fn target(&self) -> &Target {
        self.device.target()
    }

    /// How many ops of a step are a site's.
    pub fn ops(&self, site: &Site) -> usize {
        self.home(site).graph.ops.iter().filter(|op| Arc::ptr_eq(&op.program, &site.program)).count()
    }

    /// The stages whose steps are timed, with their graphs as they are now.
    pub fn graphs(&self) -> Vec<(Stage, Graph)> {
        self.steps.iter().map(|step| (step.stage, step.graph.clone())).collect()
    }

    /// A race of a stage's step as it is now against one by `before`, at the short position; none where a step takes too long.
    ///
    /// # Errors
    /// Those of the device.
    pub fn compare(&self, before: &(Stage, Graph)) -> Result<Option<Outcome>, RuntimeError> {
        let Some(step) = self.steps.iter().find(|step| step.stage == before.0) else { return Ok(None) };
        if self.time(step)? * LEAST as f64 > PATIENCE * 0.25e6 {
            return Ok(None);
        }
        let moments = || step.moments[..1].to_vec();
        let mut old = self.ready(before.1.clone(), moments())?;
        let mut new = self.ready(step.graph.clone(), moments())?;
        let start = Instant::now();
        let one = |runner: &mut Runner| runner.run().map(|times| times.iter().sum());
        let late = &mut || start.elapsed().as_secs_f64() > PATIENCE;
        race(Rounds { most: 41 }, &mut || one(&mut old), &mut || one(&mut new), late).map(Some)
    }

    /// Microseconds of a step at its short position, as it was when this was first asked.
    fn time(&self, step: &Step) -> Result<f64, RuntimeError> {
        if let Some(known) = step.time.get() {
            return Ok(*known);
        }
        let mut runner = self.ready(step.graph.clone(), step.moments[..1].to_vec())?;
        runner.run()?;
        let time = runner.run()?.iter().sum();
        Ok(*step.time.get_or_init(|| time))
    }

    /// Bytes that one op of a site must move at the short position, and the words of its parameters there.
    pub fn work(&self, site: &Site) -> (u64, Params) {
        let step = self.home(site);
        let mut words = site.longest.last().cloned().unwrap_or_default();
        words.extend(step.moments[0].clone());
        (site.bytes(&step.graph, &words), words)
    }

    /// The place of a site, and how long a run of it takes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn place(&self, site: &Site) -> Result<Place, RuntimeError> {
        let step = self.home(site);
        let graph = &step.graph;
        let own = |(i, op): (usize, &Op)| Arc::ptr_eq(&op.program, &site.program).then_some(i);
        let ops: Vec<usize> = graph.ops.iter().enumerate().filter_map(own).collect();
        let mut moments = step.moments.clone();
        if !grows(&site.program) {
            moments.truncate(1);
        }
        let one = ops.first().map(|i| graph.ops[*i].clone()).into_iter().collect::<Vec<_>>();
        let alone = |ops: Vec<Op>| Graph { ops, ..graph.clone() };
        let mut runner = self.ready(alone(one), moments.clone())?;
        runner.run()?;
        let single = runner.run()?.iter().sum::<f64>().max(0.1);
        if single * ops.len() as f64 <= LONG && self.time(step)? <= LONG {
            return Ok(Place { graph: graph.clone(), whole: true, ops, moments });
        }
        let count = ((ENOUGH / single).ceil() as usize).clamp(1, ops.len().max(1));
        let few: Vec<Op> = ops.iter().take(count).map(|i| graph.ops[*i].clone()).collect();
        let ops = (0..few.len()).collect();
        Ok(Place { graph: alone(few), whole: false, ops, moments })
    }

    /// A place with a program of the same site in it.
    ///
    /// # Errors
    /// Those of the device, which may refuse the program.
    pub fn runner(&self, place: &Place, program: &Arc<Program>) -> Result<Runner, RuntimeError> {
        let mut graph = place.graph.clone();
        place.ops.iter().for_each(|i| graph.ops[*i].program = Arc::clone(program));
        self.ready(graph, place.moments.clone())
    }

    /// Lets the driver compile programs on all cores, so that runners of them are made at once. What it refuses is told when a runner
    /// is asked for.
    pub fn prepare(&self, programs: &[Arc<Program>]) {
        self.device.prepare(programs);
    }

    /// From here on a site runs by this program, also while others are timed.
    pub fn put(&mut self, site: &Site, program: &Arc<Program>) {
        let ops = self.steps.iter_mut().flat_map(|step| &mut step.graph.ops);
        ops.filter(|op| Arc::ptr_eq(&op.program, &site.program)).for_each(|op| op.program = Arc::clone(program));
    }

    /// What the first op of a place makes of the buffers as they are, which stay so: the bytes of each buffer that it writes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn results(&self, place: &Place, program: &Arc<Program>) -> Result<Vec<Vec<u8>>, RuntimeError> {
        let Some(op) = place.ops.first().map(|i| Op { program: Arc::clone(program), ..place.graph.ops[*i].clone() })
        else {
            return Ok(Vec::new());
        };
        let written = program.tensors.iter().zip(&op.bindings).filter(|(tensor, _)| tensor.written);
        let reads: Vec<Read> = written
            .flat_map(|(_, ids)| ids)
            .map(|id| Read { buffer: *id, offset: 0, bytes: place.graph.buffers[id.0].bytes & !3 })
            .collect();
        let before: Vec<Vec<u8>> =
            reads.iter().map(|r| self.buffers.read(r.buffer, 0, r.bytes)).collect::<Result<_, _>>()?;
        let graph = Graph { ops: vec![op], ..place.graph.clone() };
        let mut executor = Executor::new(&self.device, graph, Arc::clone(&self.buffers))?;
        let mut all = Vec::new();
        for params in &place.moments {
            all.extend(executor.step(params, &reads)?);
            for (read, bytes) in reads.iter().zip(&before) {
                self.buffers.write(read.buffer, 0, bytes)?;
            }
        }
        Ok(all)
    }

    /// A decode step as it is now, ready to run at its short position.
    ///
    /// # Errors
    /// Those of the device.
    pub fn decode(&self) -> Result<Runner, RuntimeError> {
        self.ready(self.steps[0].graph.clone(), self.steps[0].moments[..1].to_vec())
    }

    fn ready(&self, graph: Graph, moments: Vec<Params>) -> Result<Runner, RuntimeError> {
        let executor = Executor::new(&self.device, graph, Arc::clone(&self.buffers))?;
        Ok(Runner { device: self.device.clone(), executor, moments })
    }
}

impl Runner {
    /// Microseconds of a run at each moment.
    ///
    /// # Errors
    /// Those of the device.
    pub fn run(&mut self) -> Result<Vec<f64>, RuntimeError> {
        let mut times = Vec::with_capacity(self.moments.len());
        for params in &self.moments {
            if self.device.timestamps() {
                times.push(self.executor.timed_step(params)? / 1e3);
            } else {
                let start = Instant::now();
                self.executor.step(params, &[])?;
                self.device.wait()?;
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        Ok(times)
    }

    /// How long this thread takes to record a step and to hand it over; the device is waited for after that.
    ///
    /// # Errors
    /// Those of the device.
    pub fn record(&mut self) -> Result<Duration, RuntimeError> {
        let start = Instant::now();
        for params in &self.moments {
            self.executor.begin(std::slice::from_ref(params), &[])?;
        }
        let took = start.elapsed();
        self.device.wait()?;
        Ok(took)
    }
}

/// A short and a long step of a stage, which may be the same.
fn moments(plan: &Plan, stage: Stage) -> Vec<Params> {
    let last = plan.context - 1;
    let rows = if stage.decodes() { 1 } else { plan.chunk };
    let [short, long] = POSITIONS.map(|pos| pos.min(last));
    let split = plan.attention.far.unwrap_or(u32::MAX).min(plan.context);
    let mut at = match stage {
        Stage::Decode => vec![short.min(split - 1), long.min(split - 1)],
        Stage::Far => vec![(2 * split).min(last), long.max(split.min(last))],
        Stage::Prefill | Stage::Last => vec![0, (long + 1).saturating_sub(rows)],
    };
    at.dedup();
    at.into_iter().map(|pos| plan.params(pos, rows)).collect()
}

/// Whether a program's work grows with the position.
fn grows(program: &Program) -> bool {
    let names = |count: &Count| count.params().contains("pos");
    let grows = |s: &tilewright_codegen::program::Shader| {
        s.dispatch.iter().any(names) || s.iterations.as_ref().is_none_or(names)
    };
    program.shaders.iter().any(grows)
}
