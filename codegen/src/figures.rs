//! What a shader costs, read off its loop IR: workgroup memory, registers, loads, bytes, arithmetic, barriers.
//!
//! Counts are those of one invocation, and upper bounds: the busiest invocation takes every branch that any takes, and goes round
//! each loop as often as any does, under the subgroup size that makes the figure largest. A loop whose length is known at run time only stays a symbol, so that a cost is a sum of
//! products such as `96 * jo + 1`. What a device makes of it (caches, latency, registers of its own) is deliberately absent.

use crate::iterations::{Bounds, iterations, subgroup_sizes};
use crate::loops::{Expr, Kind, LoopIr, Stmt, Var};
use crate::names::Names;
use crate::program::Count;
use crate::types::type_of;
use std::collections::BTreeMap;
use tilewright_dsl::ir::{Binary, Type, Unary};

/// A sum of products: for each set of symbolic loops (indices into [`Cost::loops`], sorted) how often it counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Amount(BTreeMap<Vec<usize>, u64>);

/// A loop whose length is known at run time only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// The counter's name in the text.
    pub name: String,
    /// How often one invocation goes round it at most; `None` where loaded values decide.
    pub most: Option<Count>,
}

/// The cost of one shader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u64,
    /// 32-bit words of registers that are assigned again (accumulators) and of private arrays, as many as live at once.
    pub registers: u32,
    /// Loads from buffers; a vector is one load.
    pub loads: Amount,
    /// Bytes that they bring.
    pub load_bytes: Amount,
    /// Stores to buffers.
    pub stores: Amount,
    /// Floating point operations: an fma is two; `+ - * /`, `min`, `max`, and functions are one.
    pub flops: Amount,
    /// Barriers.
    pub barriers: Amount,
    /// Rounds of all loops together; `None` where loaded values decide.
    pub rounds: Option<Count>,
    /// The symbols of the amounts.
    pub loops: Vec<Rounds>,
}

impl Amount {
    /// A number.
    pub fn constant(n: u64) -> Self {
        if n == 0 { Amount::default() } else { Amount([(vec![], n)].into()) }
    }

    /// The number, if no symbol is in it.
    pub fn as_constant(&self) -> Option<u64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&vec![]).copied(),
            _ => None,
        }
    }

    /// The number for so many rounds of each symbolic loop, in the order of [`Cost::loops`].
    pub fn at(&self, rounds: &[f64]) -> f64 {
        let times = |key: &[usize]| key.iter().map(|s| rounds.get(*s).copied().unwrap_or(1.0)).product::<f64>();
        self.0.iter().map(|(key, n)| times(key) * *n as f64).sum()
    }

    fn add(&mut self, other: &Amount, times: u64) {
        for (key, n) in &other.0 {
            let sum = self.0.entry(key.clone()).or_default();
            *sum = sum.saturating_add(n.saturating_mul(times));
        }
        self.0.retain(|_, n| *n > 0);
    }

    /// An upper bound of either.
    fn max(&mut self, other: &Amount) {
        for (key, n) in &other.0 {
            let most = self.0.entry(key.clone()).or_default();
            *most = (*most).max(*n);
        }
    }

    fn times_symbol(&self, symbol: usize) -> Amount {
        let with = |key: &Vec<usize>| {
            let mut key = key.clone();
            key.insert(key.partition_point(|s| *s <= symbol), symbol);
            key
        };
        Amount(self.0.iter().map(|(key, n)| (with(key), *n)).collect())
    }

    /// The sum of what grows fastest, and how many symbols multiply there.
    fn leading(&self) -> (usize, u64) {
        let degree = self.0.keys().map(Vec::len).max().unwrap_or(0);
        (degree, self.0.iter().filter(|(key, _)| key.len() == degree).map(|(_, n)| *n).sum())
    }

    fn text(&self, loops: &[Rounds]) -> String {
        let term = |(key, n): (&Vec<usize>, &u64)| {
            let names = key.iter().map(|s| loops.get(*s).map_or("?", |l| l.name.as_str()));
            let number = (*n != 1 || key.is_empty()).then(|| n.to_string());
            number.into_iter().chain(names.map(String::from)).collect::<Vec<_>>().join(" * ")
        };
        let mut terms: Vec<_> = self.0.iter().collect();
        terms.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        let terms: Vec<String> = terms.into_iter().map(term).collect();
        if terms.is_empty() { "0".into() } else { terms.join(" + ") }
    }
}

impl Cost {
    /// The cost of a shader that is dispatched over so many workgroups: of each figure the most that any subgroup size gives.
    pub fn of(ir: &LoopIr, dispatch: &[Count; 2]) -> Cost {
        let each: Vec<Cost> = subgroup_sizes(ir).into_iter().map(|size| Cost::under(ir, dispatch, size)).collect();
        // Symbols of one loop must be the same; where its length depends on both, no size is taken as known.
        let alike = each.windows(2).all(|pair| pair[0].loops == pair[1].loops);
        let most = each.into_iter().filter(|_| alike).reduce(|mut most, other| {
            most.registers = most.registers.max(other.registers);
            for (mine, theirs) in most.amounts().into_iter().zip(other.clone().amounts()) {
                mine.max(theirs);
            }
            most
        });
        Cost { rounds: iterations(ir, dispatch), ..most.unwrap_or_else(|| Cost::under(ir, dispatch, None)) }
    }

    /// All but the rounds of all loops, under one subgroup size.
    fn under(ir: &LoopIr, dispatch: &[Count; 2], size: Option<u32>) -> Cost {
        let mut walk = Walk {
            ir,
            names: Names::new(ir).vars,
            bounds: Bounds::new(ir, dispatch, size),
            loops: vec![],
            live: 0,
            most_live: 0,
        };
        let body = walk.block(&ir.body);
        Cost {
            workgroup_bytes: ir.shared.iter().map(|s| u64::from(s.bytes())).sum(),
            registers: walk.most_live,
            loads: body.loads,
            load_bytes: body.load_bytes,
            stores: body.stores,
            flops: body.flops,
            barriers: body.barriers,
            rounds: None,
            loops: walk.loops,
        }
    }

    fn amounts(&mut self) -> [&mut Amount; 5] {
        [&mut self.loads, &mut self.load_bytes, &mut self.stores, &mut self.flops, &mut self.barriers]
    }

    /// Floating point operations a byte loaded or stored, as loops of run-time length grow; `None` without memory traffic.
    pub fn intensity(&self) -> Option<f64> {
        let mut bytes = self.load_bytes.clone();
        bytes.add(&self.stores, 4);
        let ((degree, flops), (most, bytes)) = (self.flops.leading(), bytes.leading());
        match degree.cmp(&most) {
            _ if bytes == 0 => None,
            std::cmp::Ordering::Less => Some(0.0),
            std::cmp::Ordering::Equal => Some(flops as f64 / bytes as f64),
            std::cmp::Ordering::Greater => Some(f64::INFINITY),
        }
    }

    /// Its figures by name, the same names for every shader, and then its symbols.
    pub fn rows(&self) -> Vec<(String, String)> {
        let text = |amount: &Amount| amount.text(&self.loops);
        let bound = |most: &Option<Count>| most.as_ref().map_or("decided by loaded values".into(), ToString::to_string);
        let figures = [
            ("workgroup memory", format!("{} bytes", self.workgroup_bytes)),
            ("accumulator registers", self.registers.to_string()),
            ("barriers", text(&self.barriers)),
            ("loads an invocation", text(&self.loads)),
            ("bytes loaded an invocation", text(&self.load_bytes)),
            ("stores an invocation", text(&self.stores)),
            ("flop an invocation", text(&self.flops)),
            ("flop a byte", self.intensity_text()),
            ("rounds of all loops", bound(&self.rounds)),
        ];
        let symbols = self.loops.iter().map(|l| (format!("rounds of {}", l.name), bound(&l.most)));
        figures.into_iter().map(|(name, value)| (name.to_string(), value)).chain(symbols).collect()
    }

    /// Lines for the head of a shader: [`Cost::rows`], one a line, so that a change of one figure is a change of one line.
    pub fn lines(&self) -> Vec<String> {
        let rows = self.rows().into_iter().map(|(name, value)| format!("    {name}: {value}"));
        std::iter::once("cost".to_string()).chain(rows).collect()
    }

    fn intensity_text(&self) -> String {
        match self.intensity() {
            Some(x) if x.is_finite() => format!("{x:.2}"),
            Some(_) => "unbounded".into(),
            None => "no bytes".into(),
        }
    }
}

/// What a piece of a body costs.
#[derive(Default)]
struct Sum {
    loads: Amount,
    load_bytes: Amount,
    stores: Amount,
    flops: Amount,
    barriers: Amount,
}

impl Sum {
    fn each(&mut self) -> [&mut Amount; 5] {
        [&mut self.loads, &mut self.load_bytes, &mut self.stores, &mut self.flops, &mut self.barriers]
    }

    fn merge(&mut self, mut other: Sum, how: impl Fn(&mut Amount, &Amount)) {
        for (mine, theirs) in self.each().into_iter().zip(other.each()) {
            how(mine, theirs);
        }
    }
}

struct Walk<'a> {
    ir: &'a LoopIr,
    names: Vec<String>,
    bounds: Bounds<'a>,
    loops: Vec<Rounds>,
    /// Words of registers in scope.
    live: u32,
    most_live: u32,
}

impl Walk<'_> {
    fn block(&mut self, body: &[Stmt]) -> Sum {
        let mut sum = Sum::default();
        let outside = self.live;
        for stmt in body {
            for e in stmt.expressions() {
                self.expr(e, &mut sum);
            }
            match stmt {
                Stmt::Let(var, value) => self.bounds.learn(*var, value),
                Stmt::Declare(var, _) | Stmt::DeclareArray(var) | Stmt::DeclareFragment(var) => {
                    self.live = self.live.saturating_add(self.words(*var));
                    self.most_live = self.most_live.max(self.live);
                }
                Stmt::Store(..) => sum.stores.add(&Amount::constant(1), 1),
                Stmt::MultiplyAdd(var, ..) => {
                    // An invocation's share of 2 · side³.
                    let side = match self.ir.vars.get(var.0 as usize).map(|v| v.kind) {
                        Some(Kind::Fragment(_, side)) => side,
                        _ => 0,
                    };
                    sum.flops.add(&Amount::constant(2), u64::from(self.words(*var)) * u64::from(side));
                }
                Stmt::Barrier => sum.barriers.add(&Amount::constant(1), 1),
                Stmt::If(cond, then, or) => {
                    let either = match self.bounds.decide(cond) {
                        Some(true) => self.block(then),
                        Some(false) => self.block(or),
                        None => {
                            let mut either = self.block(then);
                            either.merge(self.block(or), Amount::max);
                            either
                        }
                    };
                    sum.merge(either, |a, b| a.add(b, 1));
                }
                Stmt::For { var, start, end, step, body } => {
                    let trips = self.bounds.enter(*var, start, end, step);
                    let inner = self.block(body);
                    match trips {
                        Some(Count::Const(n)) => sum.merge(inner, |a, b| a.add(b, u64::from(n))),
                        trips => {
                            let symbol = self.symbol(*var, trips);
                            sum.merge(inner, |a, b| a.add(&b.times_symbol(symbol), 1));
                        }
                    }
                }
                _ => {}
            }
        }
        self.live = outside;
        sum
    }

    fn expr(&self, e: &Expr, sum: &mut Sum) {
        for operand in e.operands() {
            self.expr(operand, sum);
        }
        if let Expr::Load { width, .. } = e {
            sum.loads.add(&Amount::constant(1), 1);
            sum.load_bytes.add(&Amount::constant(4), u64::from(*width));
        }
        sum.flops.add(&Amount::constant(1), self.flops(e));
    }

    /// Operations of an expression itself.
    fn flops(&self, e: &Expr) -> u64 {
        let real = |e: &Expr| type_of(self.ir, e).is_ok_and(|ty| ty.elem == Type::F32);
        match e {
            Expr::Fma(..) => 2,
            Expr::Binary(op, a, _) => {
                use Binary::{Add, Div, Max, Min, Mul, Sub};
                u64::from(matches!(op, Add | Sub | Mul | Div | Min | Max) && real(a))
            }
            Expr::Unary(Unary::Exp | Unary::Log | Unary::Sqrt | Unary::Rsqrt | Unary::Tanh, _) => 1,
            _ => 0,
        }
    }

    fn words(&self, var: Var) -> u32 {
        match self.ir.vars.get(var.0 as usize).map(|v| v.kind) {
            Some(Kind::Value(ty)) => u32::from(ty.width),
            Some(Kind::Array(_, len)) => len,
            // Its words are spread over the invocations of a subgroup.
            Some(Kind::Fragment(_, side)) => (side * side).div_ceil(self.ir.subgroups.map_or(1, |s| s.max.max(1))),
            None => 0,
        }
    }

    /// The symbol of a loop: loops of equal length share one.
    fn symbol(&mut self, var: Var, most: Option<Count>) -> usize {
        let known = self.loops.iter().position(|l| most.is_some() && l.most == most);
        known.unwrap_or_else(|| {
            let stem = self.names.get(var.0 as usize).map_or("loop", String::as_str);
            let taken = |name: &str| self.loops.iter().any(|l| l.name == name);
            let name = (1..).map(|i| if i == 1 { stem.to_string() } else { format!("{stem}_{i}") }).find(|n| !taken(n));
            self.loops.push(Rounds { name: name.unwrap_or_default(), most });
            self.loops.len() - 1
        })
    }
}
