//! Expressions of the language, from Rust's syntax to calls on typed handles.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprCall, ExprClosure, Lit, Local, Pat, Stmt, UnOp};

use crate::reduce::reduce;
use crate::scope::{Kind, Role, Scope};

const FUNCTIONS: &str = "exp, log, sqrt, rsqrt, tanh, abs, floor, bits, min, max, sum, argmax, fold";

/// The builder in generated code.
pub fn builder(span: Span) -> Ident {
    Ident::new("__b", Span::mixed_site().located_at(span))
}

/// The handle type in generated code.
pub fn handle(span: Span) -> TokenStream {
    quote_spanned!(span=> ::tilewright_dsl::build::E)
}

pub fn value(scope: &mut Scope, expr: &Expr) -> TokenStream {
    let span = expr.span();
    let b = builder(span);
    match expr {
        Expr::Lit(lit) => literal(scope, &lit.lit),
        Expr::Paren(e) => value(scope, &e.expr),
        Expr::Group(e) => value(scope, &e.expr),
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) => named(scope, name),
            None => constant(scope, expr),
        },
        Expr::Unary(e) => {
            let inner = value(scope, &e.expr);
            match e.op {
                UnOp::Neg(op) => quote_spanned!(op.span=> (#op #inner)),
                UnOp::Not(op) => quote_spanned!(op.span=> (#op #inner)),
                _ => refuse(scope, expr, "there are no references in the kernel language"),
            }
        }
        Expr::Binary(e) => binary(scope, e),
        Expr::Cast(e) => {
            let inner = value(scope, &e.expr);
            let (of, end) = (handle(span), e.ty.span());
            match &*e.ty {
                syn::Type::Path(p) if p.path.is_ident("f32") => quote_spanned!(end=> #of::to_f32(#inner)),
                syn::Type::Path(p) if p.path.is_ident("u32") => quote_spanned!(end=> #of::to_u32(#inner)),
                other => refuse(scope, other, "values are f32 or u32: write `as f32` or `as u32`"),
            }
        }
        Expr::If(e) => {
            let Some((_, no)) = &e.else_branch else {
                return refuse(scope, e.if_token, "`if` is a value here: it needs an `else`");
            };
            let (c, yes, no) = (value(scope, &e.cond), block(scope, &e.then_branch), value(scope, no));
            quote_spanned!(span=> #b.select(#c, #yes, #no))
        }
        Expr::Block(e) if e.label.is_none() => block(scope, &e.block),
        Expr::Index(_) => indexed(scope, expr),
        Expr::Field(e) => {
            let base = value(scope, &e.base);
            let member = &e.member;
            quote!(#base.#member)
        }
        Expr::Call(call) => function(scope, call),
        Expr::Struct(e) => refuse(scope, &e.path, "a monoid is built in `fold(a..b, |j| Monoid { .. })` alone"),
        Expr::Closure(e) => refuse(scope, e, "an array is named with `let a = |c| e;` and used as `a[i]`"),
        Expr::Range(e) => refuse(scope, e, "a range stands in `for axis in a..b` or in a reduction alone"),
        Expr::MethodCall(e) => {
            refuse(scope, &e.method, format!("there are no methods: write `{}(..)` as a function", e.method))
        }
        other => refuse(scope, other, "this is not part of the kernel language"),
    }
}

/// `{ let ..; value }`.
pub fn block(scope: &mut Scope, block: &Block) -> TokenStream {
    let (lets, last) = lets_then(scope, block, "a value");
    let mark = scope.mark();
    let lets: Vec<_> = lets.iter().map(|l| local(scope, l)).collect();
    let result = match last {
        Some(e) => value(scope, e),
        None => TokenStream::new(),
    };
    scope.leave(mark);
    quote_spanned!(block.brace_token.span.join()=> { #(#lets)* #result })
}

/// The `let`s of a block and the value at its end.
pub fn lets_then<'a>(scope: &mut Scope, block: &'a Block, wanted: &str) -> (Vec<&'a Local>, Option<&'a Expr>) {
    let mut lets = Vec::new();
    for (i, stmt) in block.stmts.iter().enumerate() {
        match stmt {
            Stmt::Local(l) => lets.push(l),
            Stmt::Expr(e, None) if i + 1 == block.stmts.len() => return (lets, Some(e)),
            other => {
                scope.error(other, format!("only `let`s may stand here, and {wanted} without `;` at the end"));
                return (lets, None);
            }
        }
    }
    scope.error_at(block.brace_token.span.close(), format!("{wanted} without `;` is missing here"));
    (lets, None)
}

/// `let x = e;` or `let a = |c| e;`.
pub fn local(scope: &mut Scope, local: &Local) -> TokenStream {
    let Some(name) = plain(&local.pat) else {
        let mut pat = &local.pat;
        if let Pat::Type(typed) = pat {
            pat = &typed.pat;
        }
        if let Pat::Ident(p) = pat {
            scope.declare(&p.ident, Kind::Value);
        }
        return refuse(scope, &local.pat, "a `let` gives one plain name: no `mut`, no pattern, no type");
    };
    let Some(init) = local.init.as_ref().filter(|i| i.diverge.is_none()) else {
        return refuse(scope, name, "a `let` needs a value: `let x = e;`");
    };
    if let Expr::Closure(closure) = &*init.expr {
        return array(scope, name, closure);
    }
    let e = value(scope, &init.expr);
    scope.stands_for(name, &e);
    let e = if scope.in_array || scope.in_monoid {
        e
    } else {
        let (b, text) = (builder(name.span()), name.to_string());
        quote_spanned!(name.span()=> #b.name(#text, #e))
    };
    scope.declare(name, Kind::Value);
    quote!(let #name = #e;)
}

fn array(scope: &mut Scope, name: &Ident, closure: &ExprClosure) -> TokenStream {
    let mark = scope.mark();
    let mut indices = Vec::new();
    for input in &closure.inputs {
        match plain(input) {
            Some(index) => {
                let kind = if scope.in_monoid { Kind::Element } else { Kind::Index };
                scope.declare_index(index, kind);
                indices.push(index);
            }
            None => scope.error(input, "the index of an array is a plain name"),
        }
    }
    if indices.is_empty() {
        scope.error(closure, "an array has at least one index: `|c| e`");
    }
    if scope.in_monoid {
        scope.error(closure, "in a monoid, arrays stand in `Self { field: |c| e }` alone");
    }
    let outer = (std::mem::replace(&mut scope.in_array, true), std::mem::take(&mut scope.reduces));
    let e = value(scope, &closure.body);
    let reduces = scope.reduces;
    (scope.in_array, scope.reduces) = (outer.0, outer.1 || reduces);
    scope.leave(mark);
    scope.declare(name, Kind::Array { rank: indices.len(), reduces });
    let b = builder(name.span());
    quote!(let #name = #b.array(|[#(#indices),*]| #e);)
}

/// The name of a pattern that is nothing else.
pub fn plain(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() => Some(&p.ident),
        _ => None,
    }
}

fn literal(scope: &mut Scope, lit: &Lit) -> TokenStream {
    let b = builder(lit.span());
    match lit {
        Lit::Int(n) if matches!(n.suffix(), "" | "u32") => match n.base10_parse::<u32>() {
            Ok(_) => quote_spanned!(lit.span()=> #b.u32(#n)),
            Err(_) => refuse(scope, lit, "this number does not fit into u32"),
        },
        Lit::Int(n) if n.suffix() == "f32" => quote_spanned!(lit.span()=> #b.f32(#n)),
        Lit::Float(x) if matches!(x.suffix(), "" | "f32") => match x.base10_parse::<f32>() {
            Ok(value) if value.is_finite() => quote_spanned!(lit.span()=> #b.f32(#x)),
            _ => refuse(scope, lit, "this number does not fit into f32"),
        },
        Lit::Bool(v) => quote_spanned!(lit.span()=> #b.bool(#v)),
        _ => refuse(scope, lit, "constants are f32 (`1.0`), u32 (`1`) or bool"),
    }
}

fn constant(scope: &mut Scope, expr: &Expr) -> TokenStream {
    let b = builder(expr.span());
    match quote!(#expr).to_string().replace(' ', "").as_str() {
        "u32::MAX" => quote_spanned!(expr.span()=> #b.u32(u32::MAX)),
        "f32::MAX" => quote_spanned!(expr.span()=> #b.f32(f32::MAX)),
        _ => refuse(scope, expr, "the only constants with a path are `u32::MAX` and `f32::MAX`"),
    }
}

fn named(scope: &mut Scope, name: &Ident) -> TokenStream {
    if name == "LOWEST" {
        let b = builder(name.span());
        return quote_spanned!(name.span()=> #b.f32(::tilewright_dsl::ir::LOWEST));
    }
    match scope.lookup(name) {
        Some(Kind::Tensor { rank, .. }) => {
            let indices = "[i]".repeat(rank);
            refuse(scope, name, format!("`{name}` is a tensor: read one element, `{name}{indices}`"))
        }
        Some(Kind::Array { rank, .. }) => {
            let indices = "[i]".repeat(rank);
            refuse(scope, name, format!("`{name}` is an array: read one element, `{name}{indices}`"))
        }
        Some(Kind::Extent) => {
            let (b, text) = (builder(name.span()), name.to_string());
            quote_spanned!(name.span()=> #b.extent(#text))
        }
        Some(Kind::Element) => refuse(
            scope,
            name,
            format!("in a monoid, `{name}` only picks the element at hand, as in `a.value[{name}]`"),
        ),
        _ => quote!(#name),
    }
}

fn binary(scope: &mut Scope, e: &syn::ExprBinary) -> TokenStream {
    let (l, r, op) = (value(scope, &e.left), value(scope, &e.right), &e.op);
    let (start, end) = (e.left.span(), last_span(&e.right));
    let name = match op {
        BinOp::Add(_) => "add",
        BinOp::Sub(_) => "sub",
        BinOp::Mul(_) => "mul",
        BinOp::Div(_) => "div",
        BinOp::Rem(_) => "rem",
        BinOp::BitAnd(_) => "bit_and",
        BinOp::BitOr(_) => "bit_or",
        BinOp::BitXor(_) => "bit_xor",
        BinOp::Shl(_) => "shl",
        BinOp::Shr(_) => "shr",
        BinOp::Eq(_) => "eq",
        BinOp::Ne(_) => "ne",
        BinOp::Lt(_) => "lt",
        BinOp::Le(_) => "le",
        BinOp::Gt(_) => "gt",
        BinOp::Ge(_) => "ge",
        BinOp::And(_) => "and",
        BinOp::Or(_) => "or",
        _ => {
            let message = "nothing changes in a kernel: name a new value with `let`, or store with `=`";
            return refuse(scope, op, message);
        }
    };
    let name = Ident::new(name, op.span());
    let operators = quote_spanned!(start=> ::tilewright_dsl::build::operators);
    quote_spanned!(end=> #operators::#name(#l, #r))
}

/// `base[i][j]` taken apart.
pub fn chain(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    let (mut base, mut indices) = (expr, Vec::new());
    while let Expr::Index(e) = base {
        indices.insert(0, &*e.index);
        base = &e.expr;
    }
    (base, indices)
}

fn indexed(scope: &mut Scope, expr: &Expr) -> TokenStream {
    let (base, indices) = chain(expr);
    if scope.in_monoid {
        return element(scope, base, &indices);
    }
    let at: Vec<_> = indices.iter().map(|i| value(scope, i)).collect();
    let end = last_span(expr);
    let name = match base {
        Expr::Path(p) => p.path.get_ident(),
        Expr::Field(_) if at.len() == 1 => {
            let (base, at) = (value(scope, base), &at[0]);
            return quote_spanned!(end=> #base.at(#at));
        }
        _ => None,
    };
    let Some(name) = name else {
        return refuse(scope, base, "only tensors, arrays and array fields have elements");
    };
    match scope.lookup(name) {
        Some(Kind::Tensor { role, rank }) => {
            if role == Role::Out {
                let message =
                    format!("`{name}` is an `Out` and cannot be read: name the value with `let`, or declare `InOut`");
                return refuse(scope, name, message);
            }
            count(scope, name, expr, rank, at.len());
            if role == Role::InOut {
                let text = scope.text(quote!(#([#at])*));
                scope.reads.push((name.to_string(), text, name.span()));
            }
            quote_spanned!(end=> #name.at([#(#at),*]))
        }
        Some(Kind::Array { rank, reduces }) => {
            count(scope, name, expr, rank, at.len());
            if reduces {
                scope.reduces = true;
                if scope.second_use(name) {
                    let message = format!(
                        "`{name}` contains a reduction, which a second use would run again: store it, or use it once"
                    );
                    return refuse(scope, name, message);
                }
            }
            quote_spanned!(end=> #name([#(#at),*]))
        }
        Some(kind) => refuse(scope, name, format!("`{name}` is {}: it has no elements", kind.noun())),
        None => TokenStream::new(),
    }
}

/// `a.value[c]` in a merge.
fn element(scope: &mut Scope, base: &Expr, indices: &[&Expr]) -> TokenStream {
    let picked = match indices {
        [Expr::Path(p)] => p.path.get_ident().and_then(|name| scope.lookup(name)),
        _ => None,
    };
    if picked != Some(Kind::Element) {
        return refuse(
            scope,
            indices[0],
            "a merge takes each element with the one of the same index: write the closure's own",
        );
    }
    let base = value(scope, base);
    quote!(#base.at_hand())
}

/// Where an expression ends: generated calls close there, so that rustc underlines all of it.
fn last_span(e: &Expr) -> Span {
    match e {
        Expr::Index(e) => e.bracket_token.span.join(),
        Expr::Call(e) => e.paren_token.span.join(),
        Expr::Paren(e) => e.paren_token.span.join(),
        Expr::Binary(e) => last_span(&e.right),
        Expr::Unary(e) => last_span(&e.expr),
        Expr::Cast(e) => e.ty.span(),
        Expr::Field(e) => e.member.span(),
        other => other.span(),
    }
}

/// As many indices as dimensions?
pub fn count(scope: &mut Scope, name: &Ident, at: &Expr, rank: usize, found: usize) {
    if rank != found {
        let s = if rank == 1 { "" } else { "s" };
        scope.error(at, format!("`{name}` has {rank} dimension{s}, but {found} are indexed"));
    }
}

fn function(scope: &mut Scope, call: &ExprCall) -> TokenStream {
    let name = match &*call.func {
        Expr::Path(p) => p.path.get_ident(),
        _ => None,
    };
    let Some(name) = name else {
        return refuse(scope, &call.func, format!("functions are {FUNCTIONS}"));
    };
    let args: Vec<&Expr> = call.args.iter().collect();
    let (text, end) = (name.to_string(), call.paren_token.span.join());
    let reduction = matches!(args.first(), Some(Expr::Range(_))) || matches!(text.as_str(), "sum" | "argmax" | "fold");
    match (text.as_str(), &args[..]) {
        ("sum" | "max" | "argmax" | "fold", [range, Expr::Closure(body)]) if reduction => {
            reduce(scope, call, name, range, body)
        }
        ("sum" | "max" | "argmax" | "fold", _) if reduction => {
            refuse(scope, call, format!("a reduction is `{text}(a..b, |k| e)`"))
        }
        ("exp" | "log" | "sqrt" | "rsqrt" | "tanh" | "abs" | "floor" | "bits", [x]) => {
            let (x, e) = (value(scope, x), handle(name.span()));
            quote_spanned!(end=> #e::<'_, f32>::#name(#x))
        }
        ("min" | "max", [x, y]) => {
            let (x, y) = (value(scope, x), value(scope, y));
            let operators = quote_spanned!(name.span()=> ::tilewright_dsl::build::operators);
            quote_spanned!(end=> #operators::#name(#x, #y))
        }
        ("exp" | "log" | "sqrt" | "rsqrt" | "tanh" | "abs" | "floor" | "bits", _) => {
            refuse(scope, call, format!("`{text}` takes one argument, not {}", args.len()))
        }
        ("min" | "max", _) => refuse(scope, call, format!("`{text}` takes two arguments, not {}", args.len())),
        ("sin" | "cos", _) => refuse(
            scope,
            name,
            format!(
                "there is no `{text}`, since shaders bound it only near zero: make a table on the host and load it"
            ),
        ),
        _ => refuse(scope, name, format!("`{text}` is not a function of the kernel language; there are {FUNCTIONS}")),
    }
}

/// One mistake; generates nothing.
pub fn refuse(scope: &mut Scope, at: impl quote::ToTokens, message: impl std::fmt::Display) -> TokenStream {
    scope.error(at, message);
    TokenStream::new()
}
