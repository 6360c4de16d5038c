//! The arena in the order of the body, without what nothing uses: how an author's calls happened to interleave leaves no
//! trace, so that two texts of one kernel are equal values.

use crate::ir::*;

/// The kernel with its arena renumbered: bounds before bodies, operands before users, statements in order, then `let`s and assertions.
pub fn canonical(old: Kernel) -> Kernel {
    let mut order = Order { new: vec![None; old.exprs.len()], exprs: Vec::new(), types: Vec::new(), old: &old };
    let body = order.body(&old.body);
    let lets = old.lets.iter().map(|l| Let { name: l.name.clone(), value: order.expr(l.value) }).collect();
    let axes = old.axes.iter().map(|a| Axis { lo: order.expr(a.lo), hi: order.expr(a.hi), ..a.clone() }).collect();
    let asserts = order.exprs(&old.asserts);
    let (exprs, types) = (order.exprs, order.types);
    Kernel { body, lets, axes, exprs, types, asserts, ..old }
}

struct Order<'k> {
    old: &'k Kernel,
    new: Vec<Option<ExprId>>,
    exprs: Vec<Expr>,
    types: Vec<Type>,
}

impl Order<'_> {
    fn body(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let statement = |stmt: &Stmt| match stmt {
            Stmt::For(axis, inner) => {
                self.bounds(*axis);
                Stmt::For(*axis, self.body(inner))
            }
            Stmt::Store(tensor, at, value) => Stmt::Store(*tensor, self.exprs(at), self.expr(*value)),
        };
        body.iter().map(statement).collect()
    }

    fn bounds(&mut self, axis: AxisId) {
        let axis = self.old.axis(axis);
        self.expr(axis.lo);
        self.expr(axis.hi);
    }

    fn exprs(&mut self, ids: &[ExprId]) -> Vec<ExprId> {
        ids.iter().map(|id| self.expr(*id)).collect()
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        if let Some(new) = self.new[id.0 as usize] {
            return new;
        }
        let expr = match self.old.expr(id) {
            Expr::Load(tensor, at) => Expr::Load(*tensor, self.exprs(at)),
            Expr::Unary(op, a) => Expr::Unary(*op, self.expr(*a)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, self.expr(*a), self.expr(*b)),
            Expr::Select(c, a, b) => Expr::Select(self.expr(*c), self.expr(*a), self.expr(*b)),
            Expr::Field(of, field) => Expr::Field(self.expr(*of), *field),
            Expr::Element(of, field, at) => Expr::Element(self.expr(*of), *field, self.expr(*at)),
            Expr::Reduce(r) => {
                std::iter::once(r.axis).chain(r.array).for_each(|axis| self.bounds(axis));
                Expr::Reduce(Reduce { body: self.exprs(&r.body), ..r.clone() })
            }
            leaf => leaf.clone(),
        };
        let new = ExprId(self.exprs.len() as u32);
        self.exprs.push(expr);
        self.types.push(self.old.type_of(id));
        self.new[id.0 as usize] = Some(new);
        new
    }
}
