//! A kernel as text, in the words in which kernels are written.
//!
//! From the arena it makes loops, `let`s and stores again; a `let` stands in the innermost loop that it depends on, before its first
//! use. The rule: the text says what the IR says, so that a fused kernel reads like one that was written. It is not read back.

use std::collections::HashSet;
use std::fmt::Write;

use tilewright_codegen::deps::{AxisSet, Deps};
use tilewright_dsl::ir::{AxisId, Binary, Expr, ExprId, Kernel, LOWEST, MonoidKind, Reduce, Role, Stmt, Type, Unary};

/// The kernel's text.
pub fn text(kernel: &Kernel) -> String {
    let mut writer = Writer { kernel, deps: Deps::new(kernel), named: HashSet::new(), out: String::new() };
    writer.signature();
    for id in &kernel.asserts {
        let demand = writer.expr(*id, 0, 1);
        writer.line(1, &format!("assert!({demand});"));
    }
    writer.block(&kernel.body, 1, AxisSet::default());
    writer.out += "}\n";
    writer.out
}

/// How tightly an operator binds; larger binds tighter.
type Rank = u8;
const ATOM: Rank = 20;

struct Writer<'a> {
    kernel: &'a Kernel,
    deps: Deps,
    /// Lets that have been written.
    named: HashSet<ExprId>,
    out: String,
}

impl Writer<'_> {
    fn signature(&mut self) {
        let kernel = self.kernel;
        let tensor = |t: &tilewright_dsl::ir::Tensor| {
            let role = match t.role {
                Role::In => "Tensor",
                Role::Out => "Out",
                Role::InOut => "InOut",
            };
            let dims = t.dims.iter().map(|d| kernel.extents[d.0 as usize].clone());
            let elem = (t.elem != Type::F32).then(|| t.elem.to_string());
            format!("{}: {role}<{}>", t.name, elem.into_iter().chain(dims).collect::<Vec<_>>().join(", "))
        };
        let scalars = kernel.scalars.iter().map(|s| format!("{}: {}", s.name, s.ty));
        let params: Vec<String> = kernel.tensors.iter().map(tensor).chain(scalars).collect();
        for line in kernel.doc.trim().lines() {
            let _ = writeln!(self.out, "/// {}", line.trim());
        }
        let _ = writeln!(self.out, "fn {}({}) {{", kernel.name, params.join(", "));
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 4);
    }

    fn block(&mut self, body: &[Stmt], depth: usize, entered: AxisSet) {
        for stmt in body {
            let mut used = Vec::new();
            self.used(stmt, &mut used);
            self.lets(&used, depth, entered);
            match stmt {
                Stmt::For(axis, body) => {
                    let Some(range) = self.range(*axis) else { continue };
                    let head = format!("for {} in {range} {{", self.axis(*axis));
                    self.line(depth, &head);
                    self.block(body, depth + 1, entered.union(AxisSet::of(*axis)));
                    self.line(depth, "}");
                }
                Stmt::Store(tensor, indices, value) => {
                    let name = &self.kernel.tensor(*tensor).name;
                    let text = format!("{name}{} = {};", self.indices(indices, depth), self.expr(*value, 0, depth));
                    self.line(depth, &text);
                }
            }
        }
    }

    /// Writes the lets among `used` that depend on nothing but the entered axes.
    fn lets(&mut self, used: &[ExprId], depth: usize, entered: AxisSet) {
        for named in &self.kernel.lets {
            let ready = self.deps.free(named.value).within(entered);
            if ready && used.contains(&named.value) && !self.named.contains(&named.value) {
                let text = format!("let {} = {};", named.name, self.expr(named.value, 0, depth));
                self.named.insert(named.value);
                self.line(depth, &text);
            }
        }
    }

    /// Every expression under a statement.
    fn used(&self, stmt: &Stmt, found: &mut Vec<ExprId>) {
        match stmt {
            Stmt::For(axis, body) => {
                let axis = self.kernel.axis(*axis);
                [axis.lo, axis.hi].into_iter().for_each(|e| self.under(e, found));
                body.iter().for_each(|s| self.used(s, found));
            }
            Stmt::Store(_, indices, value) => indices.iter().chain([value]).for_each(|e| self.under(*e, found)),
        }
    }

    fn under(&self, id: ExprId, found: &mut Vec<ExprId>) {
        if found.contains(&id) {
            return;
        }
        found.push(id);
        let operands: Vec<ExprId> = match self.kernel.expr(id) {
            Expr::Load(_, indices) => indices.clone(),
            Expr::Unary(_, a) | Expr::Field(a, _) => vec![*a],
            Expr::Binary(_, a, b) | Expr::Element(a, _, b) => vec![*a, *b],
            Expr::Select(a, b, c) => vec![*a, *b, *c],
            Expr::Reduce(r) => {
                let axis = self.kernel.axis(r.axis);
                r.body.iter().copied().chain([axis.lo, axis.hi]).collect()
            }
            _ => vec![],
        };
        operands.into_iter().for_each(|e| self.under(e, found));
    }

    fn axis(&self, axis: AxisId) -> String {
        self.kernel.axis(axis).name.clone()
    }

    fn range(&self, axis: AxisId) -> Option<String> {
        let axis = self.kernel.axes.get(axis.0 as usize)?;
        Some(format!("{}..{}", self.plain(axis.lo), self.plain(axis.hi)))
    }

    /// An expression that holds no reduction of its own lines.
    fn plain(&self, id: ExprId) -> String {
        self.expr(id, 0, 0)
    }

    fn indices(&self, indices: &[ExprId], depth: usize) -> String {
        indices.iter().map(|i| format!("[{}]", self.expr(*i, 0, depth))).collect()
    }

    /// An expression in a place that wants at least this rank.
    fn expr(&self, id: ExprId, least: Rank, depth: usize) -> String {
        if self.named.contains(&id)
            && let Some(named) = self.kernel.lets.iter().find(|l| l.value == id)
        {
            return named.name.clone();
        }
        let (text, rank) = self.ranked(id, depth);
        if rank < least { format!("({text})") } else { text }
    }

    fn ranked(&self, id: ExprId, depth: usize) -> (String, Rank) {
        let kernel = self.kernel;
        let e = |id: ExprId, least: Rank| self.expr(id, least, depth);
        let atom = |text: String| (text, ATOM);
        match kernel.expr(id) {
            Expr::F32(bits) if f32::from_bits(*bits) == LOWEST => atom("LOWEST".into()),
            Expr::F32(bits) => atom(format!("{:?}", f32::from_bits(*bits))),
            // Large numbers are patterns of bits.
            Expr::U32(n) if *n > 0xffff => atom(format!("{n:#x}")),
            Expr::U32(n) => atom(n.to_string()),
            Expr::Bool(b) => atom(b.to_string()),
            Expr::Axis(axis) => atom(self.axis(*axis)),
            Expr::Extent(extent) => atom(kernel.extents[extent.0 as usize].clone()),
            Expr::Scalar(scalar) => atom(kernel.scalars[scalar.0 as usize].name.clone()),
            Expr::Load(tensor, indices) => atom(kernel.tensor(*tensor).name.clone() + &self.indices(indices, depth)),
            Expr::Unary(op, a) => match unary(*op) {
                Spelling::Sign(sign) => (format!("{sign}{}", e(*a, 15)), 15),
                Spelling::Cast(ty) => (format!("{} as {ty}", e(*a, 14)), 14),
                Spelling::Function(name) => atom(format!("{name}({})", e(*a, 0))),
            },
            Expr::Binary(op, a, b) => match binary(*op, kernel.type_of(*a) == Type::Bool) {
                Err(name) => atom(format!("{name}({}, {})", e(*a, 0), e(*b, 0))),
                Ok((sign, rank)) => (format!("{} {sign} {}", e(*a, rank), e(*b, rank + 1)), rank),
            },
            Expr::Select(c, yes, no) => (format!("if {} {{ {} }} else {{ {} }}", e(*c, 0), e(*yes, 0), e(*no, 0)), 0),
            Expr::Reduce(r) => atom(self.reduce(r, depth)),
            Expr::Field(reduce, field) => atom(e(*reduce, ATOM) + &self.field(*reduce, *field)),
            Expr::Element(reduce, field, index) => {
                atom(format!("{}{}[{}]", e(*reduce, ATOM), self.field(*reduce, *field), e(*index, 0)))
            }
            Expr::Part(..) => atom("part".into()),
        }
    }

    /// `.weight`; nothing of a sum, whose value is its only field, or of an argmax, whose value is the index.
    fn field(&self, reduce: ExprId, field: usize) -> String {
        let Expr::Reduce(r) = self.kernel.expr(reduce) else { return String::new() };
        let monoid = self.kernel.monoid(r.monoid);
        match (monoid.kind, field) {
            (MonoidKind::Sum | MonoidKind::Max, _) | (MonoidKind::ArgMax, 1) => String::new(),
            _ => monoid.fields.get(field).map(|f| format!(".{}", f.name)).unwrap_or_default(),
        }
    }

    fn reduce(&self, r: &Reduce, depth: usize) -> String {
        let monoid = self.kernel.monoid(r.monoid);
        let name = match monoid.kind {
            MonoidKind::Sum => "sum",
            MonoidKind::Max => "max",
            MonoidKind::ArgMax => "argmax",
            MonoidKind::Custom => "fold",
        };
        let head = format!("{name}({}, |{}|", self.range(r.axis).unwrap_or_default(), self.axis(r.axis));
        // Lets of the body are written in a block of its own.
        let mut inner =
            Writer { kernel: self.kernel, deps: Deps::new(self.kernel), named: self.named.clone(), out: String::new() };
        let mut used = Vec::new();
        r.body.iter().for_each(|e| self.under(*e, &mut used));
        let own: Vec<ExprId> = used.into_iter().filter(|e| self.deps.free(*e).has(r.axis)).collect();
        let every = self.deps.free(r.body[0]).union(AxisSet::of(r.axis));
        inner.lets(&own, depth + 1, every);
        let value = inner.contribution(r, depth + 1);
        match inner.out.is_empty() {
            true => format!("{head} {value})"),
            false => format!("{head} {{\n{}{:3$}{value}\n{:4$}}})", inner.out, "", "", (depth + 1) * 4, depth * 4),
        }
    }

    /// What one value of the axis contributes.
    fn contribution(&self, r: &Reduce, depth: usize) -> String {
        let monoid = self.kernel.monoid(r.monoid);
        if monoid.kind != MonoidKind::Custom {
            return self.expr(r.body[0], 0, depth);
        }
        let array = r.array.map(|axis| self.axis(axis)).unwrap_or_default();
        let field = |(field, value): (&tilewright_dsl::ir::MonoidField, &ExprId)| {
            let walk = if field.array { format!("|{array}| ") } else { String::new() };
            format!("{}: {walk}{}", field.name, self.expr(*value, 0, depth))
        };
        let fields: Vec<String> = monoid.fields.iter().zip(&r.body).map(field).collect();
        format!("{} {{ {} }}", monoid.name, fields.join(", "))
    }
}

enum Spelling {
    Sign(char),
    Cast(&'static str),
    Function(&'static str),
}

fn unary(op: Unary) -> Spelling {
    match op {
        Unary::Neg => Spelling::Sign('-'),
        Unary::Not => Spelling::Sign('!'),
        Unary::ToF32 => Spelling::Cast("f32"),
        Unary::ToU32 => Spelling::Cast("u32"),
        Unary::Exp => Spelling::Function("exp"),
        Unary::Log => Spelling::Function("log"),
        Unary::Sqrt => Spelling::Function("sqrt"),
        Unary::Rsqrt => Spelling::Function("rsqrt"),
        Unary::Tanh => Spelling::Function("tanh"),
        Unary::Abs => Spelling::Function("abs"),
        Unary::Floor => Spelling::Function("floor"),
        Unary::Bits => Spelling::Function("bits"),
    }
}

/// An operator with its rank in Rust's order, or a function.
fn binary(op: Binary, logical: bool) -> Result<(&'static str, Rank), &'static str> {
    Ok(match op {
        Binary::Mul => ("*", 13),
        Binary::Div => ("/", 13),
        Binary::Rem => ("%", 13),
        Binary::Add => ("+", 12),
        Binary::Sub => ("-", 12),
        Binary::Shl => ("<<", 11),
        Binary::Shr => (">>", 11),
        Binary::And if logical => ("&&", 6),
        Binary::Or if logical => ("||", 5),
        Binary::And => ("&", 10),
        Binary::Xor => ("^", 9),
        Binary::Or => ("|", 8),
        Binary::Eq => ("==", 7),
        Binary::Ne => ("!=", 7),
        Binary::Lt => ("<", 7),
        Binary::Le => ("<=", 7),
        Binary::Gt => (">", 7),
        Binary::Ge => (">=", 7),
        Binary::Min => return Err("min"),
        Binary::Max => return Err("max"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;

    /// A kernel's text as its file has it: without the attribute and the `pub`.
    fn written(file: &str, name: &str) -> String {
        let start = file.find(&format!("pub fn {name}(")).expect("the kernel is in its file");
        let end = file[start..].find("\n}\n").expect("it ends") + start + 3;
        file[start + "pub ".len()..end].to_string()
    }

    fn printed(name: &str) -> String {
        let text = text(&kernels::named(name).expect("the kernel is in the list").kernel);
        text.lines().filter(|l| !l.starts_with("///")).map(|l| format!("{l}\n")).collect()
    }

    #[test]
    fn kernels_print_as_they_are_written() {
        let files = [
            ("linear", include_str!("../kernels/linear.rs")),
            ("embedding", include_str!("../kernels/embedding.rs")),
            ("softmax", include_str!("../kernels/softmax.rs")),
            ("rmsnorm", include_str!("../kernels/rmsnorm.rs")),
            ("bias", include_str!("../kernels/bias.rs")),
            ("kv_append", include_str!("../kernels/kv_append.rs")),
            ("rope", include_str!("../kernels/rope.rs")),
        ];
        for (name, file) in files {
            assert_eq!(printed(name), written(file, name));
        }
    }

    #[test]
    fn a_fold_of_ones_own_monoid() {
        let text = printed("attention");
        let fold = "let s = fold(0..pos + t + 1, |j| {\n                let score = sum(0..D, |d| ";
        assert!(text.contains(fold), "{text}");
        assert!(text.contains("Softmax { max: score, weight: 1.0, value: |softmax.c| v[j]["), "{text}");
        assert!(text.contains("y[t][h][c] = s.value[c] / s.weight;"), "{text}");
    }

    #[test]
    fn a_fused_kernel_reads_like_a_written_one() {
        let text = printed("norm_linear");
        assert!(text.starts_with("fn norm_linear("), "{text}");
        assert!(text.contains("sum(0..K, |norm.j| "), "{text}");
    }
}
