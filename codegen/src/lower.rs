//! Lowers a [`Nest`] to loop IR: one shader for each part of a split tensor, else one.
//!
//! The walk goes through the kernel's statements from the outside in. Entering an axis turns its grid, lanes and serial levels into
//! indices and loops, and its unroll and vector levels into *copies*: from there on, values are made for all copies together, so
//! that one loop over `k` serves four rows. A reduction or `let` is computed as soon as all axes that it depends on are entered
//! (the outermost possible place), once for each distinct copy, and remembered until the scope closes. Where an axis is not
//! covered exactly, a body with barriers runs on clamped indices with guarded stores; any other is skipped as a whole.
//! Nothing here checks a schedule: `apply` has. Text and names are the printer's business.

mod axes;
pub mod build;
mod codes;
mod dispatch;
mod fold;
mod hoist;
mod load;
mod matrix;
mod merge;
mod reduce;
mod store;
mod tile;
mod value;

use crate::apply::{Nest, Part};
use crate::error::ScheduleError;
use crate::loops::{Access, Buffer, Expr, Kind, LoopIr, Param, Shared, Stmt, Var, VarDecl};
use crate::program::Count;
use crate::shape::Extent;
use axes::Bound;
use codes::Levels;
use std::collections::{BTreeMap, HashMap, HashSet};
use tile::{Ahead, Tile};
use tilewright_dsl::ir::{AxisId, ExprId, Role, Type};

/// Which copy: the static offset along each axis that has copies.
type Env = BTreeMap<AxisId, u32>;

/// What a scope remembers.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// A value for a copy.
    Value(ExprId, Env),
    /// A scalar field of a reduction.
    Field(ExprId, usize, Env),
    /// A register of an array field: reduction, field, copy, offset along the array axis.
    Register(ExprId, usize, Env, u32),
    /// A private array of an array field.
    Array(ExprId, usize, Env),
    /// The fragment of one of a reduction's sums at a copy.
    Fragment(ExprId, usize, Env),
    /// The value of an axis at an offset.
    Axis(AxisId, u32),
    /// A load or another expression, by its text.
    Text(String),
}

/// One shader and its dispatch.
pub struct Lowered {
    /// The shader.
    pub loops: LoopIr,
    /// Workgroups along x and y.
    pub dispatch: [Count; 2],
}

/// Lowers every part.
///
/// # Errors
/// All that is found wrong with the schedule only when loops and tiles are made, each once.
pub fn lower(nest: &Nest) -> Result<Vec<Lowered>, Vec<ScheduleError>> {
    let mut errors: Vec<ScheduleError> = Vec::new();
    let mut done = Vec::new();
    for part in &nest.parts {
        match one(nest, *part) {
            Ok(lowered) => done.push(lowered),
            Err(found) => {
                for error in found {
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
            }
        }
    }
    if errors.is_empty() { Ok(done) } else { Err(errors) }
}

fn one(nest: &Nest, part: Option<Part>) -> Result<Lowered, Vec<ScheduleError>> {
    let mut lower = Lower {
        nest,
        part,
        ir: LoopIr {
            name: nest.kernel.name.clone(),
            workgroup: nest.workgroup,
            subgroups: nest.target.subgroups,
            ..LoopIr::default()
        },
        blocks: vec![vec![]],
        scopes: vec![HashMap::new()],
        bound: vec![None; nest.axes.len()],
        tiles: vec![],
        ahead: vec![],
        loops: 0,
        pool: vec![],
        folded: HashSet::new(),
        chain: vec![],
        element: None,
        levels: None,
        scales: HashSet::new(),
        errors: vec![],
    };
    lower.declare();
    let dispatch = lower.dispatch().map_err(|e| vec![e])?;
    lower.fill_levels();
    if let Err(error) = lower.body() {
        lower.wrong(error);
    }
    let Lower { mut ir, mut blocks, mut errors, .. } = lower;
    ir.body = blocks.pop().unwrap_or_default();
    load::widen(&mut ir);
    let asked = ir.shared.iter().fold(0u32, |sum, s| sum.saturating_add(s.bytes()));
    if asked > nest.target.max_workgroup_bytes {
        errors.push(ScheduleError::WorkgroupMemory {
            asked,
            allowed: nest.target.max_workgroup_bytes,
            parts: ir.shared.iter().map(|s| (s.name.clone(), s.bytes())).collect(),
            target: nest.target.name.clone(),
        });
    }
    if errors.is_empty() { Ok(Lowered { loops: ir, dispatch }) } else { Err(errors) }
}

struct Lower<'n> {
    nest: &'n Nest<'n>,
    part: Option<Part>,
    ir: LoopIr,
    /// Open blocks, innermost last.
    blocks: Vec<Vec<Stmt>>,
    /// What each open block remembers.
    scopes: Vec<HashMap<Key, Expr>>,
    /// How each entered axis is indexed.
    bound: Vec<Option<Bound>>,
    /// Tiles that are filled here.
    tiles: Vec<Tile>,
    /// What is loaded a step ahead.
    ahead: Vec<Ahead>,
    /// Open loops.
    loops: u32,
    /// Workgroup arrays of folds that may be used again: index and name.
    pool: Vec<usize>,
    /// Those of them that the branch at hand has used.
    folded: HashSet<usize>,
    /// Entered map axes, outermost first.
    chain: Vec<AxisId>,
    /// Inside a fragment's elements: strides and numbers of the invocations that share them.
    element: Option<[(u32, u32); 2]>,
    /// Where the levels of codes lie, if any tensor is made of them.
    levels: Option<Levels>,
    /// Names of scales, which a sum takes out of its terms.
    scales: HashSet<Var>,
    /// What is wrong so far; lowering goes on, so that all of it is found.
    errors: Vec<ScheduleError>,
}

impl Lower<'_> {
    fn declare(&mut self) {
        let kernel = self.nest.kernel;
        for name in &kernel.extents {
            if let Some(Extent::Param { .. }) = self.nest.shape.get(name) {
                self.ir.params.push(Param { name: name.clone(), ty: Type::U32 });
            }
        }
        self.ir.params.extend(kernel.scalars.iter().map(|s| Param { name: s.name.clone(), ty: s.ty }));
        for access in [Access::Read, Access::ReadWrite] {
            for (i, tensor) in kernel.tensors.iter().enumerate() {
                if (tensor.role == Role::In) != (access == Access::Read) {
                    continue;
                }
                let packed = self.nest.tensors[i].storage != Default::default();
                let part = self.part.filter(|p| p.tensor.0 as usize == i).map_or(0, |p| p.index);
                let elem = if packed { Type::U32 } else { tensor.elem };
                let name = tensor.name.clone();
                self.ir.buffers.push(Buffer { tensor: name.clone(), name, access, elem, width: 1, part });
            }
        }
    }

    fn wrong(&mut self, error: ScheduleError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// The binding of a tensor.
    fn buffer(&self, tensor: tilewright_dsl::ir::TensorId) -> usize {
        let name = &self.nest.kernel.tensor(tensor).name;
        self.ir.buffers.iter().position(|b| b.tensor == *name).unwrap_or_default()
    }

    fn emit(&mut self, stmt: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt);
        }
    }

    /// Opens a block with a memory of its own.
    fn open(&mut self) {
        self.blocks.push(vec![]);
        self.scopes.push(HashMap::new());
    }

    /// Closes the innermost block and gives its statements.
    fn close(&mut self) -> Vec<Stmt> {
        self.scopes.pop();
        self.blocks.pop().unwrap_or_default()
    }

    fn recall(&self, key: &Key) -> Option<Expr> {
        self.scopes.iter().rev().find_map(|s| s.get(key)).cloned()
    }

    fn remember(&mut self, key: Key, value: Expr) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(key, value);
        }
    }

    fn var(&mut self, name: &str, kind: Kind) -> Var {
        self.ir.vars.push(VarDecl { name: name.into(), kind });
        Var(self.ir.vars.len() as u32 - 1)
    }

    /// Names a value; what is cheap stays as it is.
    fn bind(&mut self, name: &str, kind: Kind, value: Expr) -> Expr {
        if build::cheap(&value) {
            return value;
        }
        let var = self.var(name, kind);
        self.emit(Stmt::Let(var, value));
        Expr::Var(var)
    }

    fn bind_u32(&mut self, name: &str, value: Expr) -> Expr {
        self.bind(name, Kind::Value(build::scalar(Type::U32)), value)
    }

    fn shared(&mut self, name: &str, elem: Type, len: u32) -> usize {
        self.ir.shared.push(Shared { name: name.into(), elem, len, narrow: false });
        self.ir.shared.len() - 1
    }

    /// This invocation.
    fn lane() -> Expr {
        Expr::Builtin(crate::loops::Builtin::LocalIndex)
    }

    /// The copy as far as a value depends on it.
    fn restrict(&self, id: ExprId, env: &Env) -> Env {
        let free = self.nest.deps.free(id);
        env.iter().filter(|(a, _)| free.has(**a)).map(|(a, o)| (*a, *o)).collect()
    }
}
