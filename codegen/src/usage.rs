//! What a shader uses: built-in values, subgroup operations, and which expressions keep their value.
//!
//! Gathered from the loop IR once, for the printers and for the plan. Nothing is decided here.

use crate::loops::{Builtin, Expr, LoopIr, Stmt, Var};
use std::collections::HashSet;

/// Whether a shader needs the subgroup feature.
pub fn uses_subgroups(ir: &LoopIr) -> bool {
    Used::new(ir).subgroups()
}

/// Whether a shader multiplies fragments, which needs the cooperative matrices of a device.
pub fn uses_fragments(ir: &LoopIr) -> bool {
    fn block(body: &[Stmt]) -> bool {
        body.iter().any(|s| s.of_fragments() || s.blocks().into_iter().any(block))
    }
    block(&ir.body)
}

/// Statements, operators, loads and function calls of a shader's text: what a driver's time to compile it grows with.
pub fn operations(ir: &LoopIr) -> u32 {
    fn of_expr(e: &Expr) -> u32 {
        let operands = e.operands();
        operands.iter().map(|x| of_expr(x)).sum::<u32>() + u32::from(!operands.is_empty())
    }
    fn of_block(body: &[Stmt]) -> u32 {
        body.iter().map(of_stmt).sum()
    }
    fn of_stmt(stmt: &Stmt) -> u32 {
        let own: u32 = stmt.expressions().into_iter().map(of_expr).sum();
        1 + own + stmt.blocks().into_iter().map(of_block).sum::<u32>()
    }
    of_block(&ir.body)
}

/// What a body mentions.
#[derive(Default)]
pub(crate) struct Used {
    builtins: HashSet<Builtin>,
    shuffles: bool,
    fragments: bool,
    registers: HashSet<Var>,
}

impl Used {
    /// What a shader mentions.
    pub(crate) fn new(ir: &LoopIr) -> Used {
        let mut used = Used::default();
        used.block(&ir.body);
        used
    }

    /// Whether a built-in value is used.
    pub(crate) fn builtin(&self, b: Builtin) -> bool {
        self.builtins.contains(&b)
    }

    /// Whether fragments are used.
    pub(crate) fn fragments(&self) -> bool {
        self.fragments
    }

    /// Whether subgroups are used at all.
    pub(crate) fn subgroups(&self) -> bool {
        self.shuffles
            || self.fragments
            || self.builtins.contains(&Builtin::SubgroupSize)
            || self.builtins.contains(&Builtin::SubgroupInvocation)
    }

    /// Whether an expression has one value for as long as its locals are in scope.
    pub(crate) fn constant(&self, e: &Expr) -> bool {
        match e {
            Expr::Load { .. } | Expr::Shared(..) | Expr::Element(..) | Expr::ShuffleXor(..) => false,
            Expr::Var(v) => !self.registers.contains(v),
            _ => e.operands().into_iter().all(|x| self.constant(x)),
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            for e in stmt.expressions() {
                self.expr(e);
            }
            self.fragments |= stmt.of_fragments();
            if let Stmt::Declare(v, _) = stmt {
                self.registers.insert(*v);
            }
            for block in stmt.blocks() {
                self.block(block);
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Builtin(b) => {
                self.builtins.insert(*b);
            }
            Expr::ShuffleXor(..) => self.shuffles = true,
            _ => {}
        }
        for x in e.operands() {
            self.expr(x);
        }
    }
}
