//! Every kernel by every schedule at every awkward shape: eval = interp = WGSL on the adapter = HLSL on the adapter.
//!
//! Values may differ by the rounding of sums in another order: relative to the larger of 1 and the value, at most 2e-5 where
//! sums have under 1,000 terms of at most 1. Integers are equal. HLSL is held against WGSL, bit for bit on a software adapter,
//! and naga's HLSL of the same WGSL is a second opinion. A schedule that a target cannot express is counted with its reason,
//! never skipped in silence.

mod cases;
mod codes;
mod gates;
mod odd;
mod second;
mod texts;

#[path = "../hlsl/accept.rs"]
mod accept;
#[path = "../../runtime/tests/at_hand/mod.rs"]
mod at_hand;

use second::Second;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use texts::Texts;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::{Subgroups, Target};
use tilewright_codegen::{CompileError, compile, hlsl};
use tilewright_dsl::ir::{Kernel, Role};
use tilewright_dsl::schedule::{Fold, LevelKind, Schedule, Storage};
use tilewright_models::kernels;
use tilewright_runtime::{AdapterChoice, AdapterKind, Device, GraphFault, RuntimeError, ShaderLanguage};

const TOLERANCE: f32 = 2e-5;

/// One step of f16, at values of up to 4.
const HALF: f32 = 1e-3;

/// Columns of the table, after the number of cases.
const GATES: [&str; 9] = ["naga", "tint", "DXIL", "SPIR-V", "interp", "WGSL", "HLSL", "same bits", "naga HLSL"];

/// A column of the table.
#[derive(Clone, Copy)]
enum Gate {
    Naga,
    Tint,
    Dxil,
    SpirV,
    Interp,
    Wgsl,
    Hlsl,
    SameBits,
    NagaHlsl,
}

/// Counts of one kernel by one schedule.
#[derive(Default)]
struct Row {
    cases: u32,
    passed: [u32; GATES.len()],
    refused: BTreeMap<String, u32>,
}

fn shape(kernel: &Kernel, case: &cases::Case) -> Shape {
    let family = cases::family(&kernel.name);
    case.extents.iter().fold(Shape::new(), |shape, (name, n)| {
        if family.run_time.contains(&name.as_str()) { shape.param(name, n + 2) } else { shape.fixed(name, *n) }
    })
}

/// The schedule itself, and with its first read-only tensor of real numbers in each packed storage.
fn stored(kernel: &Kernel, schedule: &Schedule) -> Vec<Schedule> {
    let mut all = vec![schedule.clone()];
    if ["linear", "embedding"].contains(&kernel.name.as_str()) {
        for storage in [Storage::F16, Storage::Bf16] {
            let mut packed = schedule.clone();
            packed.stores.push(("w".into(), storage));
            all.push(packed);
        }
    }
    // Whoever makes pairs owns the words of a cache in halves.
    if schedule.name.ends_with("pairs") {
        let mut halves = schedule.clone();
        let written = kernel.tensors.iter().filter(|t| t.role == Role::Out && t.name != "q.y");
        halves.stores.extend(written.map(|t| (t.name.clone(), Storage::F16)));
        all.push(halves);
    }
    all
}

/// What a refusal is about, without its numbers.
fn reason(error: &CompileError) -> String {
    match error {
        CompileError::Schedule { errors, .. } => errors[0].to_string(),
        CompileError::Bug(bug) => panic!("{bug}"),
    }
}

/// Everything that a program is held against.
struct Gates {
    texts: Texts,
    wgsl: Device,
    hlsl: Option<(Device, Second)>,
}

impl Gates {
    fn open(core: usize) -> Gates {
        let wgsl = Device::open(&AdapterChoice::Best, None).expect("an adapter: a software driver will do");
        let dxc = at_hand::dxc();
        let vulkan = wgsl.adapter().backend == "vulkan";
        if !vulkan {
            eprintln!("SKIPPED: {} is no Vulkan, so HLSL is read and not run", wgsl.adapter());
        }
        let hlsl = dxc.clone().filter(|_| vulkan).map(|dxc| {
            let device = Device::with_shaders(&AdapterChoice::Best, None, ShaderLanguage::Hlsl(dxc.clone()));
            (device.expect("the same adapter takes HLSL"), Second::open(wgsl.adapter(), dxc))
        });
        Gates { texts: Texts::new(dxc, core), wgsl, hlsl }
    }

    /// The readers of texts and the interpreter.
    fn host(&mut self, run: &Run, program: &Program, sizes: &[u32], row: &mut Row) {
        let [tint, dxc] = self.texts.check(program);
        row.pass(Gate::Naga);
        for (gate, here) in [(Gate::Tint, tint), (Gate::Dxil, dxc), (Gate::SpirV, dxc)] {
            row.passed[gate as usize] += u32::from(here);
        }
        if let Some(why) = program.shaders.iter().find_map(|s| hlsl::inexpressible(&s.loops)) {
            *row.refused.entry(format!("no HLSL, no browser's WGSL: {why}")).or_default() += 1;
        }
        for size in sizes {
            let got = gates::interpret(run.kernel, program, run.case, run.inputs, *size);
            let got = got.unwrap_or_else(|e| panic!("{}: {e}", run.at("interp")));
            run.near(&got, &format!("interp, subgroups of {size}"));
            row.pass(Gate::Interp);
        }
    }

    /// WGSL and both kinds of HLSL on the adapter.
    fn adapter(&mut self, run: &Run, program: &Program, row: &mut Row) {
        let on = |device| gates::adapter(device, run.kernel, program, run.case, run.inputs);
        let wgsl = match on(&self.wgsl) {
            Ok(got) => got,
            Err(RuntimeError::Graph { fault: GraphFault::TooManyIterations { .. }, .. }) => {
                *row.refused.entry("too many rounds of loops".into()).or_default() += 1;
                return;
            }
            Err(error) => panic!("{}: {error}", run.at("WGSL")),
        };
        run.near(&wgsl, "WGSL");
        row.pass(Gate::Wgsl);
        let Some((device, second)) = &mut self.hlsl else { return };
        let exact = device.adapter().kind == AdapterKind::Software;
        let hlsl = on(device).unwrap_or_else(|e| panic!("{}: {e}", run.at("HLSL")));
        run.near(&hlsl, "HLSL");
        row.pass(Gate::Hlsl);
        let same = gates::same_bits(&wgsl, &hlsl);
        assert!(same || !exact, "{}: other bits than WGSL", run.at("HLSL"));
        row.passed[Gate::SameBits as usize] += u32::from(same);
        let second = second.run(run.kernel, program, run.case, run.inputs);
        // Nothing in naga's text is `precise`, so DXC may round it otherwise.
        run.near(&second, "naga's HLSL");
        row.pass(Gate::NagaHlsl);
    }
}

impl Row {
    fn pass(&mut self, gate: Gate) {
        self.passed[gate as usize] += 1;
    }
}

/// One case of one kernel by one schedule.
struct Run<'a> {
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    case: &'a cases::Case,
    inputs: &'a gates::Tensors,
    want: gates::Tensors,
}

impl Run<'_> {
    fn at(&self, gate: &str) -> String {
        format!("{} by {} at {:?}, {gate}", self.kernel.name, self.schedule.name, self.case)
    }

    fn near(&self, got: &gates::Tensors, gate: &str) {
        let d = gates::difference(&self.want, got);
        // A sum that was added in another order may fall on the other side of a rounding to f16.
        let halves = !gates::narrowed(self.schedule).is_empty() && self.kernel.name == "qkv";
        assert!(d <= if halves { HALF } else { TOLERANCE }, "{}: off by {d}", self.at(gate));
    }
}

/// One case of a kernel by a schedule.
fn judge(kernel: &Kernel, schedule: &Schedule, (seed, case): (u32, &cases::Case), gates: &mut Gates, row: &mut Row) {
    let subgroups = schedule.folds.iter().any(|f| f.1 == Fold::Subgroup);
    let matrix = schedule.axes.iter().flat_map(|a| &a.levels).any(|l| l.kind == LevelKind::Matrix);
    let any = match matrix {
        true => Target::matrix(),
        false => Target { subgroups: Some(Subgroups { min: 1, max: 128 }), ..Target::wide() },
    };
    let sizes: &[u32] = match (matrix, subgroups) {
        (true, _) => &[32],
        (false, true) => &[1, 4, 8, 16, 32, 64, 128],
        (false, false) => &[8],
    };
    let inputs = &gates::inputs(kernel, case, seed);
    let meant = gates::meant(kernel, schedule, case, inputs);
    let run =
        Run { kernel, schedule, case, inputs, want: gates::rounded(schedule, gates::reference(kernel, case, &meant)) };
    row.cases += 1;
    match compile(kernel, schedule, &shape(kernel, case), &any) {
        Err(error) => {
            *row.refused.entry(reason(&error)).or_default() += 1;
            return;
        }
        Ok(program) => gates.host(&run, &program, sizes, row),
    }
    match compile(kernel, schedule, &shape(kernel, case), gates.wgsl.target()) {
        Err(error) => *row.refused.entry(reason(&error)).or_default() += 1,
        Ok(program) => gates.adapter(&run, &program, row),
    }
}

/// All cases of a kernel by a schedule.
fn check(kernel: &Kernel, schedule: &Schedule, gates: &mut Gates) -> Row {
    let mut row = Row::default();
    for schedule in &stored(kernel, schedule) {
        for (seed, case) in cases::cases(kernel, schedule).iter().enumerate() {
            judge(kernel, schedule, (seed as u32, case), gates, &mut row);
        }
    }
    // One odd extent may be beyond a schedule; all of them is a schedule that is never tested.
    let ran = row.passed[Gate::Interp as usize];
    assert!(ran > 0, "{} by {} ran nowhere: {:?}", kernel.name, schedule.name, row.refused);
    row
}

/// All kernels by all schedules, each core with devices of its own; rows by their place in the table.
fn rows() -> BTreeMap<usize, (String, Row)> {
    let pairs: Vec<(Kernel, Schedule)> = kernels::all()
        .into_iter()
        .flat_map(|e| {
            let empty = Schedule::empty(&e.kernel.name);
            std::iter::once(empty).chain(e.schedules).map(move |s| (e.kernel.clone(), s))
        })
        .chain(odd::schedules())
        .chain(odd::paged())
        .collect();
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for core in 0..cores {
            let (pairs, next, rows) = (&pairs, &next, &rows);
            scope.spawn(move || {
                let mut gates = Gates::open(core);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((kernel, schedule)) = pairs.get(at) else { return };
                    let row = check(kernel, schedule, &mut gates);
                    let name = format!("{} {}", kernel.name, schedule.name);
                    rows.lock().expect("no core has failed").insert(at, (name, row));
                }
            });
        }
    });
    rows.into_inner().expect("no core has failed")
}

#[test]
fn every_schedule_means_what_its_kernel_means() {
    let table = rows();
    let line = |name: &str, cases: &str, cells: Vec<String>, why: &str| {
        let cells: String =
            cells.iter().zip(GATES).map(|(cell, gate)| format!(" {cell:>0$}", gate.len().max(6))).collect();
        println!("{name:<36} {cases:>6}{cells}  {why}");
    };
    line("kernel schedule", "cases", GATES.map(String::from).to_vec(), "not expressible");
    let mut total = Row::default();
    for (name, row) in table.values() {
        let why: Vec<String> = row.refused.iter().map(|(why, n)| format!("{n} × {why}")).collect();
        line(name, &row.cases.to_string(), row.passed.map(|n| n.to_string()).to_vec(), &why.join("; "));
        total.cases += row.cases;
        total.passed.iter_mut().zip(row.passed).for_each(|(sum, n)| *sum += n);
    }
    line("all", &total.cases.to_string(), total.passed.map(|n| n.to_string()).to_vec(), "");
}

#[test]
fn codes_mean_the_same_everywhere() {
    let runs = codes::runs();
    let rows = Mutex::new(BTreeMap::<String, Row>::new());
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for core in 0..cores {
            let (runs, next, rows) = (&runs, &next, &rows);
            scope.spawn(move || {
                let mut gates = Gates::open(100 + core);
                while let Some((kernel, schedule, case)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut row = Row::default();
                    judge(kernel, schedule, (3, case), &mut gates, &mut row);
                    let name = format!("{} {}", kernel.name, schedule.name);
                    let mut rows = rows.lock().expect("no core has failed");
                    let sum = rows.entry(name).or_default();
                    sum.cases += row.cases;
                    sum.passed.iter_mut().zip(row.passed).for_each(|(sum, n)| *sum += n);
                    sum.refused.extend(row.refused);
                }
            });
        }
    });
    for (name, row) in rows.into_inner().expect("no core has failed") {
        println!("{name:<36} {:>6} {:?} {:?}", row.cases, row.passed, row.refused);
        // Not every adapter has cooperative matrices.
        let least = if name.contains(" matrix") { Gate::Interp } else { Gate::Wgsl };
        assert!(row.passed[least as usize] > 0, "{name} ran nowhere: {:?}", row.refused);
    }
}

#[test]
fn the_important_kernels_have_four_schedules() {
    let all = kernels::all();
    assert!(all.iter().any(|e| e.kernel.name == "norm_linear"), "the two kernels no longer fuse");
    for name in ["linear", "rmsnorm", "attention", "argmax"] {
        let entry = all.iter().find(|e| e.kernel.name == name).expect(name);
        assert!(entry.schedules.len() >= 4, "{name} has {} schedules", entry.schedules.len());
    }
}
