//! Proves what loop IR must keep and what neither naga nor a driver checks, before anything is printed.
//!
//! - Every expression is well typed, every local is declared once and before its use, only registers are assigned.
//! - Barriers and shuffles stand where control flow is uniform in a workgroup (WebGPU Shading Language, section 15.2): the index of
//!   an invocation, what a shuffle gives, and reads of memory that the shader writes may differ between invocations.
//! - Loops have steps over zero and run at least once, under each subgroup size that the target may have.
//! - The target's limits hold: invocations, workgroup memory, storage buffers, subgroups.
//! - Fragments are multiplied where control flow is uniform too, of the sides that they are, at places that are the same for all
//!   invocations of a subgroup and lie inside their array at every row; the target has their size and one size of subgroups.
//! - Read-only buffers come first; stores go to read-write ones alone, whole words, of which no half is read back; no tensor is bound in both ways.
//!
//! Indices and races are not looked at: they depend on run-time values, and `interp` finds them.

mod fragments;

use fragments::fragments;

use crate::loops::{Access, Builtin, Expr, Kind, LoopIr, Place, Shared, Side, Stmt, Var};
use crate::ranges::Ranges;
use crate::target::Target;
use crate::text;
use crate::types::{BOOL, F32, TypeError, U32, expect, fragment, place, type_of};
use crate::usage::Used;
use std::collections::{BTreeMap, HashMap, HashSet};
use tilewright_dsl::ir::{Binary, Type};

/// A rule that a shader breaks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// An expression does not fit its place.
    #[error("{error}, in `{statement}`")]
    Type {
        /// What does not fit.
        error: TypeError,
        /// Where.
        statement: String,
    },
    /// A local is used where it is not declared, or declared where it is.
    #[error("local `{name}` is {what}: `{statement}`")]
    Scope {
        /// The local.
        name: String,
        /// Not in scope, declared twice, not a register, ...
        what: &'static str,
        /// Where.
        statement: String,
    },
    /// A barrier or shuffle that not all invocations of a workgroup are sure to reach together.
    #[error("`{statement}` stands in divergent control flow: `{because}` may differ between invocations")]
    Divergent {
        /// The barrier, or the statement with the shuffle.
        statement: String,
        /// The condition or loop.
        because: String,
    },
    /// More than the target has.
    #[error("{found} {what}, but the target `{target}` has {limit}")]
    Limit {
        /// Invocations, bytes of workgroup memory, storage buffers.
        what: &'static str,
        /// What the shader needs.
        found: u64,
        /// What there is.
        limit: u64,
        /// The target's name.
        target: String,
    },
    /// Subgroup operations for a target without them.
    #[error("subgroup operations, but the target `{target}` has none")]
    Subgroups {
        /// The target's name.
        target: String,
    },
    /// Fragments that the target does not multiply.
    #[error("fragments of {side} × {side}, but the target `{target}` has {have}")]
    Fragments {
        /// The side.
        side: u32,
        /// What there is.
        have: String,
        /// The target's name.
        target: String,
    },
    /// A fragment whose place may differ between the invocations of a subgroup.
    #[error("the place differs inside a subgroup: `{statement}`")]
    Apart {
        /// The load or store.
        statement: String,
    },
    /// A fragment that would reach over the end of its array, or rows that overlap.
    #[error("{what}: `{statement}`")]
    Reach {
        /// What is wrong.
        what: &'static str,
        /// The load or store.
        statement: String,
    },
    /// A loop whose step may be zero.
    #[error("the step may be 0 at subgroup size {size}: `{statement}`")]
    Step {
        /// The subgroup size.
        size: u32,
        /// The loop.
        statement: String,
    },
    /// A loop that never runs.
    #[error("the loop never runs at subgroup size {size}: `{statement}`")]
    Empty {
        /// The subgroup size.
        size: u32,
        /// The loop.
        statement: String,
    },
    /// A constant that shading languages refuse: a divisor of 0, a shift by 32 or more.
    #[error("{what}: `{statement}`")]
    Constant {
        /// What is wrong.
        what: &'static str,
        /// Where.
        statement: String,
    },
    /// A store to a buffer that is bound read-only, or in elements wider than a word (a store to one component may touch all).
    #[error("store to `{buffer}`, {what}: `{statement}`")]
    Store {
        /// The buffer.
        buffer: String,
        /// Why not.
        what: &'static str,
        /// The statement.
        statement: String,
    },
    /// A binding or an array that cannot be declared as it is.
    #[error("`{name}`: {what}")]
    Binding {
        /// The buffer, workgroup array, parameter or private array.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
}

/// All violations, in the order of the text.
pub fn verify(ir: &LoopIr, target: &Target) -> Vec<Violation> {
    let mut found = Vec::new();
    declarations(ir, target, &mut found);
    let mut scopes = Scopes { ir, kinds: HashMap::new(), declared: HashSet::new(), found: &mut found };
    scopes.block(&ir.body);
    if !found.is_empty() {
        return found;
    }
    let mut flow = Flow { ir, divergent: HashSet::new(), found: vec![], because: None };
    loop {
        let before = flow.divergent.len();
        flow.found.clear();
        flow.block(&ir.body);
        if flow.divergent.len() == before {
            break;
        }
    }
    found.append(&mut flow.found);
    fragments(ir, target, &mut Ranges::new(ir), &ir.body, &mut found);
    let uses = Used::new(ir).subgroups();
    let sizes = target.subgroups.filter(|_| uses).map_or(1..=1, |s| s.min..=s.max);
    for size in (0..32).map(|bit| 1 << bit).filter(|s| sizes.contains(s)) {
        loops(ir, &mut Ranges::with_subgroup_size(ir, size), size, &ir.body, &mut found);
    }
    found
}

fn declarations(ir: &LoopIr, target: &Target, found: &mut Vec<Violation>) {
    let mut limit = |what, n: u64, limit: u64| {
        if n > limit {
            found.push(Violation::Limit { what, found: n, limit, target: target.name.clone() });
        }
    };
    limit("invocations in a workgroup", ir.workgroup.into(), target.max_invocations.into());
    // Each array starts at 16 bytes (WebGPU specification, "maxComputeWorkgroupStorageSize").
    let bytes = |s: &Shared| u64::from(s.bytes()).next_multiple_of(16);
    limit("bytes of workgroup memory", ir.shared.iter().map(bytes).sum(), target.max_workgroup_bytes.into());
    limit("storage buffers", ir.buffers.len() as u64, target.max_storage_buffers.into());
    if Used::new(ir).subgroups() && target.subgroups.is_none() {
        found.push(Violation::Subgroups { target: target.name.clone() });
    }
    let mut wrong = |name: &str, what| found.push(Violation::Binding { name: name.to_owned(), what });
    if ir.workgroup == 0 {
        wrong(&ir.name, "a workgroup without invocations");
    }
    let word = |t: Type| t != Type::Bool;
    let mut bound: BTreeMap<&str, Access> = BTreeMap::new();
    for (i, b) in ir.buffers.iter().enumerate() {
        if !word(b.elem) || !matches!(b.width, 1 | 2 | 4) {
            wrong(&b.name, "elements of 1, 2 or 4 words of f32 or u32 are needed");
        }
        if b.access == Access::Read && ir.buffers[..i].iter().any(|b| b.access == Access::ReadWrite) {
            wrong(&b.name, "a read-only buffer behind a read-write one");
        }
        if *bound.entry(&b.tensor).or_insert(b.access) != b.access {
            wrong(&b.name, "its tensor is bound both read-only and read-write");
        }
    }
    for s in &ir.shared {
        if s.len == 0 || !word(s.elem) {
            wrong(&s.name, "workgroup memory of at least one f32 or u32 is needed");
        }
        if s.narrow && (s.elem != Type::F32 || !s.len.is_multiple_of(4)) {
            wrong(&s.name, "narrow workgroup memory holds f32 values, four at a time");
        }
    }
    for p in &ir.params {
        if !word(p.ty) {
            wrong(&p.name, "a parameter is f32 or u32");
        }
    }
    for v in &ir.vars {
        if matches!(v.kind, Kind::Array(elem, len) if len == 0 || !word(elem)) {
            wrong(&v.name, "a private array of at least one f32 or u32 is needed");
        }
        if matches!(v.kind, Kind::Fragment(_, side) if !matches!(side, 8 | 16)) {
            wrong(&v.name, "a fragment has sides of 8 or 16");
        }
    }
}

/// What a local in scope may be used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Constant,
    Register,
    Array,
    /// A fragment of sums.
    Sum,
    /// A fragment that is loaded.
    Factor,
}

struct Scopes<'a> {
    ir: &'a LoopIr,
    /// Those in scope.
    kinds: HashMap<Var, Use>,
    declared: HashSet<Var>,
    found: &'a mut Vec<Violation>,
}

impl Scopes<'_> {
    fn block(&mut self, body: &[Stmt]) {
        let mut here = Vec::new();
        for stmt in body {
            for e in stmt.expressions() {
                self.uses(e, stmt);
            }
            if let Err(error) = self.types(stmt) {
                self.found.push(Violation::Type { error, statement: text::line(self.ir, stmt) });
            }
            match stmt {
                Stmt::Let(v, _) => here.extend(self.declare(*v, Use::Constant, stmt)),
                Stmt::Declare(v, _) => here.extend(self.declare(*v, Use::Register, stmt)),
                Stmt::DeclareArray(v) => here.extend(self.declare(*v, Use::Array, stmt)),
                Stmt::Assign(v, _) => self.need(*v, Use::Register, stmt),
                Stmt::SetElement(v, ..) => self.need(*v, Use::Array, stmt),
                Stmt::For { var, body, .. } => {
                    let counter = self.declare(*var, Use::Constant, stmt);
                    self.block(body);
                    counter.map(|v| self.kinds.remove(&v));
                }
                Stmt::If(_, then, or) => {
                    self.block(then);
                    self.block(or);
                }
                Stmt::Store(b, ..) => self.store(*b, stmt),
                Stmt::DeclareFragment(v) => here.extend(self.declare(*v, Use::Sum, stmt)),
                Stmt::LoadFragment(v, _) => here.extend(self.declare(*v, Use::Factor, stmt)),
                Stmt::MultiplyAdd(sum, a, b) => {
                    self.need(*sum, Use::Sum, stmt);
                    self.need(*a, Use::Factor, stmt);
                    self.need(*b, Use::Factor, stmt);
                }
                Stmt::StoreFragment(v, _) => self.need(*v, Use::Sum, stmt),
                Stmt::StoreShared(..) | Stmt::StoreNarrow(..) | Stmt::Barrier | Stmt::Comment(_) => {}
            }
        }
        for v in here {
            self.kinds.remove(&v);
        }
    }

    fn scope(&mut self, v: Var, what: &'static str, stmt: &Stmt) {
        let name = text::expr(self.ir, &Expr::Var(v));
        self.found.push(Violation::Scope { name, what, statement: text::line(self.ir, stmt) });
    }

    fn declare(&mut self, v: Var, kind: Use, stmt: &Stmt) -> Option<Var> {
        // Names are given a local, hence one declaration each even where blocks are apart; `simplify` sees to it.
        if !self.declared.insert(v) {
            self.scope(v, "declared twice", stmt);
            return None;
        }
        self.kinds.insert(v, kind);
        Some(v)
    }

    fn need(&mut self, v: Var, kind: Use, stmt: &Stmt) {
        match self.kinds.get(&v) {
            Some(k) if *k == kind => {}
            Some(_) if kind == Use::Register => self.scope(v, "assigned, but no register", stmt),
            Some(_) if kind == Use::Sum => self.scope(v, "added to, but no fragment of sums", stmt),
            Some(_) if kind == Use::Factor => self.scope(v, "multiplied, but not loaded", stmt),
            Some(_) => self.scope(v, "indexed, but no array", stmt),
            None => self.scope(v, "not in scope", stmt),
        }
    }

    fn uses(&mut self, e: &Expr, stmt: &Stmt) {
        match e {
            Expr::Var(v) if !self.kinds.contains_key(v) => self.scope(*v, "not in scope", stmt),
            Expr::Element(v, _) => self.need(*v, Use::Array, stmt),
            Expr::Binary(op, _, b) => {
                let what = match (op, &**b) {
                    (Binary::Div | Binary::Rem, Expr::U32(0)) => Some("division by the constant 0"),
                    (Binary::Shl | Binary::Shr, Expr::U32(32..)) => Some("shift by 32 or more"),
                    _ => None,
                };
                if let Some(what) = what {
                    self.found.push(Violation::Constant { what, statement: text::line(self.ir, stmt) });
                }
            }
            _ => {}
        }
        e.operands().into_iter().for_each(|x| self.uses(x, stmt));
    }

    fn types(&self, stmt: &Stmt) -> Result<(), TypeError> {
        let ir = self.ir;
        match stmt {
            Stmt::Let(v, e) | Stmt::Declare(v, e) | Stmt::Assign(v, e) => expect(ir, e, type_of(ir, &Expr::Var(*v))?),
            Stmt::SetElement(v, i, e) => expect(ir, e, type_of(ir, &Expr::Element(*v, Box::new(i.clone())))?),
            Stmt::StoreShared(s, i, e) => expect(ir, e, type_of(ir, &Expr::Shared(*s, Box::new(i.clone())))?),
            Stmt::Store(b, i, e) => {
                let word = Expr::Load { buffer: *b, index: Box::new(i.clone()), width: 1 };
                expect(ir, e, type_of(ir, &word)?)
            }
            Stmt::For { var, start, end, step, .. } => {
                [start, end, step].into_iter().chain([&Expr::Var(*var)]).try_for_each(|e| expect(ir, e, U32))
            }
            Stmt::If(cond, ..) => expect(ir, cond, BOOL),
            Stmt::StoreNarrow(s, i, values) => {
                place(ir, &Place { array: *s, index: i.clone(), stride: 1 }, true)?;
                values.iter().try_for_each(|e| expect(ir, e, F32))
            }
            Stmt::DeclareFragment(v) => fragment(ir, *v, &[Side::Sum]).map(|_| ()),
            Stmt::LoadFragment(v, at) => {
                fragment(ir, *v, &[Side::Left, Side::Right])?;
                place(ir, at, true).map(|_| ())
            }
            Stmt::StoreFragment(v, at) => {
                fragment(ir, *v, &[Side::Sum])?;
                place(ir, at, false).map(|_| ())
            }
            Stmt::MultiplyAdd(sum, a, b) => {
                let side = fragment(ir, *sum, &[Side::Sum])?;
                let sizes = [fragment(ir, *a, &[Side::Left])?, fragment(ir, *b, &[Side::Right])?];
                if sizes != [side, side] {
                    let found = format!("{} and {} a side", sizes[0], sizes[1]);
                    return Err(TypeError { text: text::line(ir, stmt), found, expected: format!("{side} a side") });
                }
                Ok(())
            }
            Stmt::DeclareArray(v) => type_of(ir, &Expr::Element(*v, Box::new(Expr::U32(0)))).map(|_| ()),
            Stmt::Barrier | Stmt::Comment(_) => Ok(()),
        }
    }

    fn store(&mut self, buffer: usize, stmt: &Stmt) {
        let Some(b) = self.ir.buffers.get(buffer) else { return };
        let what = match (b.access, b.width) {
            (Access::Read, _) => "which is read-only",
            (_, 2..) => "whose elements are wider than a word",
            _ if matches!(stmt, Stmt::Store(_, _, value) if completes(value, buffer)) => {
                "whose word it reads back to write half of it"
            }
            _ => return,
        };
        let (buffer, statement) = (b.name.clone(), text::line(self.ir, stmt));
        self.found.push(Violation::Store { buffer, what, statement });
    }
}

/// Which locals may differ between the invocations of a workgroup, and where control flow does.
struct Flow<'a> {
    ir: &'a LoopIr,
    divergent: HashSet<Var>,
    found: Vec<Violation>,
    /// The innermost condition or loop that diverges.
    because: Option<String>,
}

impl Flow<'_> {
    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            let shuffles = stmt.expressions().into_iter().any(shuffles);
            if let Some(because) = self.because.clone()
                && (shuffles || *stmt == Stmt::Barrier || stmt.of_fragments())
            {
                self.found.push(Violation::Divergent { statement: text::line(self.ir, stmt), because });
            }
            match stmt {
                Stmt::Let(v, e) | Stmt::Declare(v, e) => self.set(*v, self.differs(e)),
                Stmt::Assign(v, e) => self.set(*v, self.because.is_some() || self.differs(e)),
                Stmt::SetElement(v, i, e) => {
                    self.set(*v, self.because.is_some() || self.differs(i) || self.differs(e));
                }
                Stmt::For { var, start, end, step, body } => {
                    let differs = [start, end, step].into_iter().any(|e| self.differs(e));
                    self.set(*var, differs);
                    self.nested(differs, stmt, &[body]);
                }
                Stmt::If(cond, then, or) => self.nested(self.differs(cond), stmt, &[then, or]),
                _ => {}
            }
        }
    }

    fn nested(&mut self, differs: bool, stmt: &Stmt, blocks: &[&Vec<Stmt>]) {
        let outer = self.because.clone();
        if differs {
            self.because = Some(text::line(self.ir, stmt));
        }
        blocks.iter().for_each(|b| self.block(b));
        self.because = outer;
    }

    fn set(&mut self, v: Var, differs: bool) {
        if differs {
            self.divergent.insert(v);
        }
    }

    fn differs(&self, e: &Expr) -> bool {
        let own = match e {
            Expr::Builtin(b) => matches!(b, Builtin::LocalIndex | Builtin::SubgroupInvocation),
            Expr::Var(v) | Expr::Element(v, _) => self.divergent.contains(v),
            Expr::Load { buffer, .. } => self.ir.buffers.get(*buffer).is_none_or(|b| b.access == Access::ReadWrite),
            Expr::Shared(..) | Expr::ShuffleXor(..) => true,
            _ => false,
        };
        own || e.operands().into_iter().any(|x| self.differs(x))
    }
}

/// Whether a packed word is made of what its buffer holds: another invocation may own that half.
fn completes(value: &Expr, buffer: usize) -> bool {
    fn loads(e: &Expr, buffer: usize) -> bool {
        matches!(e, Expr::Load { buffer: b, .. } if *b == buffer) || e.operands().into_iter().any(|x| loads(x, buffer))
    }
    matches!(value, Expr::PackF16(..)) && loads(value, buffer)
}

fn shuffles(e: &Expr) -> bool {
    matches!(e, Expr::ShuffleXor(..)) || e.operands().into_iter().any(shuffles)
}

/// Steps and trip counts under one subgroup size; what a decided condition excludes is not looked at.
fn loops<'a>(ir: &'a LoopIr, ranges: &mut Ranges<'a>, size: u32, body: &[Stmt], found: &mut Vec<Violation>) {
    for stmt in body {
        match stmt {
            Stmt::Let(v, e) => ranges.set(*v, ranges.of(e)),
            Stmt::For { var, start, end, step, body } => {
                let statement = || text::line(ir, stmt);
                if ranges.of(step).lo == 0 {
                    found.push(Violation::Step { size, statement: statement() });
                }
                if ranges.of(end).hi <= ranges.of(start).lo {
                    found.push(Violation::Empty { size, statement: statement() });
                    continue;
                }
                ranges.set(*var, ranges.counter(start, end));
                loops(ir, ranges, size, body, found);
            }
            Stmt::If(cond, then, or) => {
                let known = ranges.decide(cond);
                if known != Some(false) {
                    loops(ir, ranges, size, then, found);
                }
                if known != Some(true) {
                    loops(ir, ranges, size, or, found);
                }
            }
            _ => {}
        }
    }
}
