//! A table between a kernel and the rows of its tensors: pages that lie anywhere in a pool.
//!
//! Row `i` of a tensor becomes row `i % page` of page `table[i / page]`, wherever the kernel loads or stores it; nothing else
//! changes, least of all the order of a sum. The rule: an entry of the table is a loaded index, so that generated code clamps
//! it; that no two rows that are written lie at one place is the host's promise. Absent: whose pages they are.
//! Paged attention: Kwon et al. 2023 (arXiv:2309.06180).

use super::FuseError;
use super::arena::{Maps, intern};
use std::collections::HashMap;
use tilewright_dsl::ir::{Axis, Binary, Expr, ExprId, ExtentId, Kernel, Let, Role, Stmt, Tensor, TensorId, Type};

/// Puts a table of `Pages` entries, a tensor of that name behind all others, between the kernel and these tensors, which become
/// pools of `Rows` rows. Rows of a page: `page`.
///
/// # Errors
/// [`FuseError::NoTable`] where the kernel has no such tensor, or has a tensor or an extent of a name that is needed.
pub fn through(kernel: &Kernel, tensors: &[&str], table: &str, page: u32) -> Result<Kernel, FuseError> {
    let refuse = |why: String| FuseError::NoTable { kernel: kernel.name.clone(), why };
    if page == 0 {
        return Err(refuse("a page of 0 rows holds nothing".into()));
    }
    let mut new = kernel.clone();
    (new.exprs, new.types) = (vec![], vec![]);
    if kernel.tensor_named(table).is_some() {
        return Err(refuse(format!("it has a tensor `{table}` already")));
    }
    let mut extent = |name: &str| match kernel.extents.iter().any(|e| e == name) {
        true => Err(refuse(format!("it has an extent `{name}` already"))),
        false => {
            new.extents.push(name.into());
            Ok(ExtentId(new.extents.len() as u32 - 1))
        }
    };
    let (pages, rows) = (extent("Pages")?, extent("Rows")?);
    let mut pools = Vec::new();
    for name in tensors {
        let id = kernel.tensor_named(name).ok_or_else(|| refuse(format!("it has no tensor `{name}`")))?;
        new.tensors[id.0 as usize].dims[0] = rows;
        pools.push(id);
    }
    new.tensors.push(Tensor { name: table.into(), role: Role::In, elem: Type::U32, dims: vec![pages] });
    let table = TensorId(new.tensors.len() as u32 - 1);
    let mut turn = Turn { new, arena: HashMap::new(), pools, table, page };
    let mut maps = Maps::same(kernel);
    for (expr, ty) in kernel.exprs.iter().zip(&kernel.types) {
        let mut moved = maps.expr(expr, &maps.exprs);
        if let Expr::Load(tensor, indices) = &mut moved {
            turn.row(*tensor, indices);
        }
        let id = intern(&mut turn.new, &mut turn.arena, moved, *ty);
        maps.exprs.push(id);
    }
    let of = |id: ExprId| maps.exprs[id.0 as usize];
    turn.new.body = turn.statements(&kernel.body, &maps);
    let mut new = turn.new;
    new.axes = kernel.axes.iter().map(|a| Axis { lo: of(a.lo), hi: of(a.hi), ..a.clone() }).collect();
    new.lets = kernel.lets.iter().map(|l| Let { name: l.name.clone(), value: of(l.value) }).collect();
    new.asserts = kernel.asserts.iter().map(|id| of(*id)).collect();
    Ok(new)
}

struct Turn {
    new: Kernel,
    arena: HashMap<Expr, ExprId>,
    pools: Vec<TensorId>,
    table: TensorId,
    page: u32,
}

impl Turn {
    fn index(&mut self, expr: Expr) -> ExprId {
        intern(&mut self.new, &mut self.arena, expr, Type::U32)
    }

    /// Turns the first index of a pool into its place there.
    fn row(&mut self, tensor: TensorId, indices: &mut [ExprId]) {
        let Some(first) = indices.first_mut().filter(|_| self.pools.contains(&tensor)) else { return };
        let row = *first;
        let page = self.index(Expr::U32(self.page));
        let entry = self.index(Expr::Binary(Binary::Div, row, page));
        let place = self.index(Expr::Load(self.table, vec![entry]));
        let start = self.index(Expr::Binary(Binary::Mul, place, page));
        let inside = self.index(Expr::Binary(Binary::Rem, row, page));
        *first = self.index(Expr::Binary(Binary::Add, start, inside));
    }

    fn statements(&mut self, body: &[Stmt], maps: &Maps) -> Vec<Stmt> {
        let of = |id: &ExprId| maps.exprs[id.0 as usize];
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            out.push(match stmt {
                Stmt::For(axis, inner) => Stmt::For(*axis, self.statements(inner, maps)),
                Stmt::Store(tensor, indices, value) => {
                    let mut at: Vec<ExprId> = indices.iter().map(of).collect();
                    self.row(*tensor, &mut at);
                    Stmt::Store(*tensor, at, of(value))
                }
            });
        }
        out
    }
}
