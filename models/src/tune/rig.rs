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
use super::site::{Phase, Site};
use crate::engine::{Plan, Stage};

/// Microseconds of a step from which on a site's ops run alone: what caches hold matters little then.
const LONG: f64 = 5_000.0;
/// Microseconds that a run of a site's ops alone should take, at least.
const ENOUGH: f64 = 300.0;
/// The positions at which decoding is timed, as far as the context has them.
const POSITIONS: [u32; 2] = [128, 4095];
/// Seconds that a comparison of whole steps may take.
const PATIENCE: f64 = 20.0;

/// A loaded model's graphs, to be changed.
pub struct Rig {
    device: Device,
    buffers: Arc<Buffers>,
    /// In the order of [`Phase`].
    graphs: [Graph; 2],
    /// Steps that are timed, in the same order: parameters at a short and at a long position.
    moments: [Vec<Params>; 2],
    /// Microseconds of a step, once known.
    steps: [OnceCell<f64>; 2],
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
        let last = plan.context - 1;
        let mut at: Vec<u32> = POSITIONS.iter().map(|pos| (*pos).min(last)).collect();
        at.dedup();
        let decode = at.iter().map(|pos| plan.params(*pos, 1)).collect();
        let first = |pos: u32| (pos + 1).saturating_sub(plan.chunk);
        let mut at: Vec<u32> = vec![0, first(POSITIONS[1].min(last))];
        at.dedup();
        let prefill = at.iter().map(|pos| plan.params(*pos, plan.chunk)).collect();
        let graph = |stage| Graph { submission: Submission::PerToken, ..plan.graph(stage).clone() };
        Rig {
            device: device.clone(),
            buffers: Arc::clone(buffers),
            graphs: [graph(Stage::Decode), graph(Stage::Prefill)],
            moments: [decode, prefill],
            steps: Default::default(),
        }
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
        self.graphs[site.phase as usize].ops.iter().filter(|op| Arc::ptr_eq(&op.program, &site.program)).count()
    }

    /// Decode and prefill as they are now.
    pub fn graphs(&self) -> [Graph; 2] {
        self.graphs.clone()
    }

    /// A race of a step as it is now against one by `before`, at the short position; none where a step takes too long.
    ///
    /// # Errors
    /// Those of the device.
    pub fn compare(&self, before: &Graph, phase: Phase) -> Result<Option<Outcome>, RuntimeError> {
        if self.step(phase)? * LEAST as f64 > PATIENCE * 0.25e6 {
            return Ok(None);
        }
        let moments = || self.moments[phase as usize][..1].to_vec();
        let mut old = self.ready(before.clone(), moments())?;
        let mut new = self.ready(self.graphs[phase as usize].clone(), moments())?;
        let start = Instant::now();
        let one = |runner: &mut Runner| runner.run().map(|times| times.iter().sum());
        let late = &mut || start.elapsed().as_secs_f64() > PATIENCE;
        race(Rounds { most: 41 }, &mut || one(&mut old), &mut || one(&mut new), late).map(Some)
    }

    /// Microseconds of a step at its short position, as it was when this was first asked.
    fn step(&self, phase: Phase) -> Result<f64, RuntimeError> {
        if let Some(known) = self.steps[phase as usize].get() {
            return Ok(*known);
        }
        let moments = self.moments[phase as usize][..1].to_vec();
        let mut runner = self.ready(self.graphs[phase as usize].clone(), moments)?;
        runner.run()?;
        let time = runner.run()?.iter().sum();
        Ok(*self.steps[phase as usize].get_or_init(|| time))
    }

    /// Bytes that one op of a site must move at the short position, and the words of its parameters there.
    pub fn work(&self, site: &Site) -> (u64, Params) {
        let mut words = site.longest.last().cloned().unwrap_or_default();
        words.extend(self.moments[site.phase as usize][0].clone());
        (site.bytes(&self.graphs[site.phase as usize], &words), words)
    }

    /// The place of a site, and how long a run of it takes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn place(&self, site: &Site) -> Result<Place, RuntimeError> {
        let graph = &self.graphs[site.phase as usize];
        let own = |(i, op): (usize, &Op)| Arc::ptr_eq(&op.program, &site.program).then_some(i);
        let ops: Vec<usize> = graph.ops.iter().enumerate().filter_map(own).collect();
        let mut moments = self.moments[site.phase as usize].clone();
        if !grows(&site.program) {
            moments.truncate(1);
        }
        let one = ops.first().map(|i| graph.ops[*i].clone()).into_iter().collect::<Vec<_>>();
        let alone = |ops: Vec<Op>| Graph { ops, ..graph.clone() };
        let mut runner = self.ready(alone(one), moments.clone())?;
        runner.run()?;
        let single = runner.run()?.iter().sum::<f64>().max(0.1);
        if single * ops.len() as f64 <= LONG && self.step(site.phase)? <= LONG {
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
        let ops = self.graphs[site.phase as usize].ops.iter_mut();
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
        self.ready(self.graphs[0].clone(), self.moments[0][..1].to_vec())
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

/// Whether a program's work grows with the position.
fn grows(program: &Program) -> bool {
    let names = |count: &Count| count.params().contains("pos");
    let grows = |s: &tilewright_codegen::program::Shader| {
        s.dispatch.iter().any(names) || s.iterations.as_ref().is_none_or(names)
    };
    program.shaders.iter().any(grows)
}
