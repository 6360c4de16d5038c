//! Expressions as text, for messages: `H / G`, `D == 2 * F`, `x[t + 1]`.

use std::collections::HashSet;

use super::*;

/// Operators within operators that are written out: a message names a value, and values that are shared would double at each.
const DEPTH: u32 = 8;

impl Kernel {
    /// An expression as its author would write it; a choice, a reduction or what lies deep in it is `..`.
    pub fn spell(&self, id: ExprId) -> String {
        self.spelled(id, 0, DEPTH)
    }

    /// The names of the extents in an expression, each once.
    pub fn extents_in(&self, id: ExprId) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        let mut open = vec![id];
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
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
    fn spelled(&self, id: ExprId, outer: u8, depth: u32) -> String {
        let inner = depth.saturating_sub(1);
        let spell = |id: ExprId, outer: u8| self.spelled(id, outer, inner);
        match self.expr(id) {
            Expr::F32(bits) => format!("{:?}", f32::from_bits(*bits)),
            Expr::U32(n) => n.to_string(),
            Expr::Bool(b) => b.to_string(),
            Expr::Axis(a) => self.axis(*a).name.clone(),
            Expr::Extent(e) => self.extents[e.0 as usize].clone(),
            Expr::Scalar(s) => self.scalars[s.0 as usize].name.clone(),
            _ if depth == 0 => "..".into(),
            Expr::Load(t, at) => {
                let at = at.iter().map(|i| format!("[{}]", spell(*i, 0)));
                self.tensor(*t).name.clone() + &at.collect::<String>()
            }
            Expr::Unary(Unary::Not, a) => format!("!{}", spell(*a, 11)),
            Expr::Unary(Unary::Neg, a) => format!("-{}", spell(*a, 11)),
            Expr::Unary(Unary::ToF32, a) => format!("{} as f32", spell(*a, 10)),
            Expr::Unary(Unary::ToU32, a) => format!("{} as u32", spell(*a, 10)),
            Expr::Unary(op, a) => format!("{}({})", format!("{op:?}").to_lowercase(), spell(*a, 0)),
            Expr::Binary(op @ (Binary::Min | Binary::Max), a, b) => {
                format!("{}({}, {})", format!("{op:?}").to_lowercase(), spell(*a, 0), spell(*b, 0))
            }
            Expr::Binary(op, a, b) => {
                let (sign, own) = sign(*op, self.type_of(*a));
                let text = format!("{} {sign} {}", spell(*a, own), spell(*b, own + 1));
                if own < outer { format!("({text})") } else { text }
            }
            Expr::Select(..) | Expr::Reduce(_) | Expr::Field(..) | Expr::Element(..) | Expr::Part(..) => "..".into(),
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
