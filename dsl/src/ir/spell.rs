//! Expressions of extents as text, for messages: `H / G`, `D == 2 * F`.

use super::*;

impl Kernel {
    /// An expression of extents and constants as its author would write it; anything else is `..`.
    pub fn spell(&self, id: ExprId) -> String {
        self.spelled(id, 0)
    }

    /// The names of the extents in an expression, each once.
    pub fn extents_in(&self, id: ExprId) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.expr(id) {
                Expr::Extent(e) if !found.contains(&self.extents[e.0 as usize].as_str()) => {
                    found.push(&self.extents[e.0 as usize]);
                }
                expr => open.extend(crate::check::operands(expr).into_iter().rev()),
            }
        }
        found
    }

    /// What an assertion demands, in words where it has a common form.
    pub fn demand(&self, id: ExprId) -> String {
        if let Expr::Binary(Binary::Eq, a, b) = self.expr(id) {
            return match (self.expr(*a), self.expr(*b)) {
                (Expr::Binary(Binary::Rem, n, of), Expr::U32(0)) => {
                    format!("`{}` must be a multiple of `{}`", self.spell(*n), self.spell(*of))
                }
                _ => format!("`{}` must be `{}`", self.spell(*a), self.spell(*b)),
            };
        }
        format!("`{}` must hold", self.spell(id))
    }

    /// With parentheses where `outer`, the precedence of what stands around it, binds tighter.
    fn spelled(&self, id: ExprId, outer: u8) -> String {
        match self.expr(id) {
            Expr::U32(n) => n.to_string(),
            Expr::Bool(b) => b.to_string(),
            Expr::Extent(e) => self.extents[e.0 as usize].clone(),
            Expr::Unary(Unary::Not, a) => format!("!{}", self.spelled(*a, 10)),
            Expr::Binary(Binary::Min, a, b) => format!("min({}, {})", self.spell(*a), self.spell(*b)),
            Expr::Binary(Binary::Max, a, b) => format!("max({}, {})", self.spell(*a), self.spell(*b)),
            Expr::Binary(op, a, b) => {
                let (sign, own) = sign(*op, self.type_of(*a));
                let text = format!("{} {sign} {}", self.spelled(*a, own), self.spelled(*b, own + 1));
                if own < outer { format!("({text})") } else { text }
            }
            _ => "..".into(),
        }
    }
}

/// Rust's sign of an operator, and how tightly it binds.
fn sign(op: Binary, ty: Type) -> (&'static str, u8) {
    match op {
        Binary::Or if ty == Type::Bool => ("||", 1),
        Binary::And if ty == Type::Bool => ("&&", 2),
        Binary::Eq => ("==", 3),
        Binary::Ne => ("!=", 3),
        Binary::Lt => ("<", 3),
        Binary::Le => ("<=", 3),
        Binary::Gt => (">", 3),
        Binary::Ge => (">=", 3),
        Binary::Or => ("|", 4),
        Binary::Xor => ("^", 5),
        Binary::And => ("&", 6),
        Binary::Shl => ("<<", 7),
        Binary::Shr => (">>", 7),
        Binary::Add => ("+", 8),
        Binary::Sub => ("-", 8),
        Binary::Min | Binary::Max | Binary::Mul => ("*", 9),
        Binary::Div => ("/", 9),
        Binary::Rem => ("%", 9),
    }
}
