//! Parentheses: puts operators and operands together with as few as WGSL's grammar allows; HLSL takes the same.
//!
//! WGSL is stricter than C (section 8.19 "Operator Precedence and Associativity"): operands of shifts and of bitwise operators
//! are unary expressions, and different logical or bitwise operators do not mix. A `<` followed by a `>` may be read as a
//! template list, and so a right shift inside a comparison is parenthesised too.

use tilewright_dsl::ir::Binary;

/// How tightly a text binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    /// `c ? a : b`: an operand of nothing.
    Conditional,
    /// `& | ^`: an operand of nothing but the same operator.
    Bitwise,
    /// `&&` and `||`.
    Logical,
    /// Comparisons.
    Relational,
    /// `<<` and `>>`.
    Shift,
    /// `+` and `-`.
    Additive,
    /// `* / %`.
    Multiplicative,
    /// Prefix operators and everything that needs no parentheses.
    Unary,
}

/// The text of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// The text.
    pub text: String,
    level: Level,
    op: Option<Binary>,
}

impl Piece {
    /// A name, a literal or a call.
    pub(crate) fn atom(text: impl Into<String>) -> Piece {
        Piece { text: text.into(), level: Level::Unary, op: None }
    }

    /// `-x` or `!x`.
    pub(crate) fn prefix(sign: char, a: Piece) -> Piece {
        let a = a.at(Level::Unary);
        Piece::atom(if a.starts_with(sign) { format!("{sign}({a})") } else { format!("{sign}{a}") })
    }

    /// `cond ? yes : no`.
    pub(crate) fn conditional(cond: Piece, yes: Piece, no: Piece) -> Piece {
        let [cond, yes, no] = [cond, yes, no].map(|p| p.at(Level::Logical));
        Piece { text: format!("{cond} ? {yes} : {no}"), level: Level::Conditional, op: None }
    }

    /// The text for a place that takes `level` or tighter.
    fn at(self, level: Level) -> String {
        if self.level >= level { self.text } else { format!("({})", self.text) }
    }

    /// The text of something that is called, indexed or has a component taken.
    pub(crate) fn postfix(self) -> String {
        if self.text.starts_with(['-', '!']) { format!("({})", self.text) } else { self.at(Level::Unary) }
    }

    /// The text for an argument before the last one of a call: a comparison there could open a template list, but for HLSL,
    /// which alone has `c ? a : b`.
    pub(crate) fn argument(self) -> String {
        let bare = self.level > Level::Relational || self.level == Level::Conditional;
        if bare { self.text } else { self.at(Level::Shift) }
    }
}

/// `a op b`; `logical` where the operands are bools.
pub(crate) fn infix(op: Binary, logical: bool, a: Piece, b: Piece) -> Piece {
    let (symbol, level) = match op {
        Binary::Add => ("+", Level::Additive),
        Binary::Sub => ("-", Level::Additive),
        Binary::Mul => ("*", Level::Multiplicative),
        Binary::Div => ("/", Level::Multiplicative),
        Binary::Rem => ("%", Level::Multiplicative),
        Binary::And if logical => ("&&", Level::Logical),
        Binary::Or if logical => ("||", Level::Logical),
        Binary::And => ("&", Level::Bitwise),
        Binary::Or => ("|", Level::Bitwise),
        Binary::Xor => ("^", Level::Bitwise),
        Binary::Shl => ("<<", Level::Shift),
        Binary::Shr => (">>", Level::Shift),
        Binary::Eq => ("==", Level::Relational),
        Binary::Ne => ("!=", Level::Relational),
        Binary::Lt => ("<", Level::Relational),
        Binary::Le => ("<=", Level::Relational),
        Binary::Gt => (">", Level::Relational),
        Binary::Ge => (">=", Level::Relational),
        Binary::Min | Binary::Max => {
            let name = if op == Binary::Min { "min" } else { "max" };
            return Piece::atom(format!("{name}({}, {})", a.argument(), b.text));
        }
    };
    let same = a.op == Some(op) && a.level == level;
    let (left, right) = match level {
        Level::Bitwise | Level::Logical => {
            let operand = if level == Level::Bitwise { Level::Unary } else { Level::Relational };
            (if same { level } else { operand }, operand)
        }
        Level::Relational => (Level::Additive, Level::Additive),
        Level::Shift => (Level::Unary, Level::Unary),
        Level::Additive => (Level::Additive, Level::Multiplicative),
        Level::Multiplicative | Level::Unary | Level::Conditional => (Level::Multiplicative, Level::Unary),
    };
    Piece { text: format!("{} {symbol} {}", a.at(left), b.at(right)), level, op: Some(op) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Binary::*;

    fn x(name: &str) -> Piece {
        Piece::atom(name)
    }

    #[test]
    fn parentheses_stand_only_where_the_grammar_needs_them() {
        let i = |op, a, b| infix(op, false, a, b);
        let l = |op, a, b| infix(op, true, a, b);
        let check = |p: Piece, text: &str| assert_eq!(p.text, text);
        check(i(Add, i(Mul, x("a"), x("b")), x("c")), "a * b + c");
        check(i(Mul, i(Add, x("a"), x("b")), x("c")), "(a + b) * c");
        check(i(Sub, x("a"), i(Sub, x("b"), x("c"))), "a - (b - c)");
        check(i(Sub, i(Sub, x("a"), x("b")), x("c")), "a - b - c");
        check(i(Mul, x("a"), i(Div, x("b"), x("c"))), "a * (b / c)");
        check(i(Shl, i(Add, x("a"), x("b")), x("c")), "(a + b) << c");
        check(i(Add, x("a"), i(Shr, x("b"), x("c"))), "a + (b >> c)");
        check(i(Lt, x("a"), i(Shr, x("b"), x("c"))), "a < (b >> c)");
        check(i(And, i(And, x("a"), x("b")), x("c")), "a & b & c");
        check(i(Or, i(And, x("a"), x("b")), x("c")), "(a & b) | c");
        check(i(Eq, i(And, x("a"), x("b")), x("c")), "(a & b) == c");
        check(l(Or, l(And, x("a"), i(Lt, x("b"), x("c"))), x("d")), "(a && b < c) || d");
        check(l(And, l(And, x("a"), x("b")), x("c")), "a && b && c");
        check(Piece::prefix('-', Piece::prefix('-', x("a"))), "-(-a)");
        check(Piece::prefix('!', i(Lt, x("a"), x("b"))), "!(a < b)");
        let choice = || Piece::conditional(i(Lt, x("a"), x("b")), x("c"), i(Add, x("d"), x("e")));
        check(choice(), "a < b ? c : d + e");
        check(i(Mul, choice(), x("f")), "(a < b ? c : d + e) * f");
        check(
            Piece::conditional(choice(), choice(), i(And, x("f"), x("g"))),
            "(a < b ? c : d + e) ? (a < b ? c : d + e) : (f & g)",
        );
        check(i(Max, i(Lt, x("a"), x("b")), i(Gt, x("c"), x("d"))), "max((a < b), c > d)");
        check(i(Max, choice(), choice()), "max(a < b ? c : d + e, a < b ? c : d + e)");
    }
}
