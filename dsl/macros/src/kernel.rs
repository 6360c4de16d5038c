//! `#[kernel]`: parameters and statements.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, FnArg, GenericArgument, ItemFn, PathArguments, ReturnType, Stmt, Type};

use crate::expr::{self, builder, chain, count, plain, refuse, value};
use crate::reduce::range;
use crate::scope::{Kind, Role, Scope};

pub fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item) {
        Ok(function) => function,
        Err(error) => return error.to_compile_error(),
    };
    let mut scope = Scope::default();
    if !attr.is_empty() {
        scope.error(&attr, "`#[kernel]` takes no arguments");
    }
    signature(&mut scope, &function);
    let parameters = parameters(&mut scope, &function);
    let body = body(&mut scope, &function.block);
    if scope.is_clean() {
        unused(&mut scope, &function);
    }
    generate(scope, &function, parameters, body)
}

fn generate(scope: Scope, function: &ItemFn, parameters: TokenStream, body: TokenStream) -> TokenStream {
    let (vis, name, attrs) = (&function.vis, &function.sig.ident, &function.attrs);
    let (text, doc) = (name.to_string(), doc(attrs));
    let (axes, tensors, values) = (&scope.axes, &scope.tensors, &scope.values);
    let names = quote! {
        #[doc(hidden)]
        #[allow(non_upper_case_globals, missing_docs, dead_code)]
        #vis mod #name {
            pub mod axis { #(pub const #axes: () = ();)* }
            pub mod tensor { #(pub const #tensors: () = ();)* }
            pub mod value { #(pub const #values: () = ();)* }
        }
    };
    if !scope.is_clean() {
        let errors = scope.compile_errors();
        return quote! {
            #errors
            #(#attrs)*
            #vis fn #name() -> ::tilewright_dsl::ir::Kernel { ::std::unreachable!() }
            #names
        };
    }
    let b = builder(proc_macro2::Span::call_site());
    quote! {
        #(#attrs)*
        #[allow(unused_braces, unused_parens)]
        #vis fn #name() -> ::tilewright_dsl::ir::Kernel {
            static __KERNEL: ::std::sync::OnceLock<::tilewright_dsl::ir::Kernel> = ::std::sync::OnceLock::new();
            let build = || {
                let builder = ::tilewright_dsl::build::Builder::new(#text);
                {
                    let #b = &builder;
                    #b.doc(#doc);
                    #parameters
                    #body
                }
                builder.finish().unwrap_or_else(|errors| {
                    let errors: ::std::vec::Vec<_> = errors.iter().map(::std::string::ToString::to_string).collect();
                    ::std::panic!("kernel `{}`: {}", #text, errors.join("; "))
                })
            };
            __KERNEL.get_or_init(build).clone()
        }
        #names
    }
}

/// The lines of a doc comment.
pub fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|a| match &a.meta {
        syn::Meta::NameValue(m) if m.path.is_ident("doc") => match &m.value {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value().trim().to_string()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn signature(scope: &mut Scope, function: &ItemFn) {
    let sig = &function.sig;
    if !sig.generics.params.is_empty() {
        scope.error(&sig.generics, "a kernel has no generics: extents are named in `Tensor<R, K>`");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        scope.error(ty, "a kernel returns nothing: it stores to an `Out`");
    }
    for token in [sig.asyncness.map(|t| t.span), sig.constness.map(|t| t.span)].into_iter().flatten() {
        scope.error_at(token, "a kernel is a plain `fn`");
    }
}

fn parameters(scope: &mut Scope, function: &ItemFn) -> TokenStream {
    let mut lets = TokenStream::new();
    let mut extents: Vec<Ident> = Vec::new();
    for input in &function.sig.inputs {
        let FnArg::Typed(input) = input else {
            scope.error(input, "a kernel has no `self`");
            continue;
        };
        let Some(name) = plain(&input.pat) else {
            scope.error(&input.pat, "a parameter has a plain name");
            continue;
        };
        let made = parameter(scope, name, &input.ty, &mut extents);
        lets.extend(quote!(#[allow(unused_variables)] let #name = #made;));
    }
    for extent in &extents {
        scope.declare(extent, Kind::Extent);
    }
    lets
}

fn parameter(scope: &mut Scope, name: &Ident, ty: &Type, extents: &mut Vec<Ident>) -> TokenStream {
    const FORMS: &str = "a parameter is `Tensor<..>`, `Out<..>`, `InOut<..>`, `f32` or `u32`";
    let (b, text) = (builder(name.span()), name.to_string());
    let segment = match ty {
        Type::Path(p) if p.path.segments.len() == 1 => &p.path.segments[0],
        other => return refuse(scope, other, FORMS),
    };
    let (role, method) = match segment.ident.to_string().as_str() {
        "f32" | "u32" if segment.arguments.is_none() => {
            scope.declare(name, Kind::Scalar);
            return quote!(#b.scalar::<#segment>(#text));
        }
        "Tensor" => (Role::In, "input"),
        "Out" => (Role::Out, "output"),
        "InOut" => (Role::InOut, "in_out"),
        _ => {
            scope.declare(name, Kind::Scalar);
            return refuse(scope, segment, FORMS);
        }
    };
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return refuse(scope, segment, "a tensor names its extents: `Tensor<R, K>`");
    };
    let mut dims = Vec::new();
    let mut elem = quote!(f32);
    for (i, argument) in arguments.args.iter().enumerate() {
        let dim = match argument {
            GenericArgument::Type(Type::Path(p)) => p.path.get_ident(),
            _ => None,
        };
        match dim {
            Some(ty) if i == 0 && (ty == "u32" || ty == "f32") => elem = quote!(#ty),
            Some(dim) => {
                if dim.to_string().chars().any(char::is_lowercase) {
                    scope.error(dim, "an extent is a name in capitals; `u32` may stand before the extents");
                }
                dims.push(dim.clone());
            }
            None => scope.error(argument, "an extent is a name in capitals"),
        }
    }
    if !(1..=4).contains(&dims.len()) && scope.is_clean() {
        scope.error(&arguments.args, format!("a tensor has 1 to 4 extents, not {}", dims.len()));
    }
    for dim in &dims {
        if !extents.contains(dim) {
            extents.push(dim.clone());
        }
    }
    scope.declare(name, Kind::Tensor { role, rank: dims.len() });
    let method = Ident::new(method, name.span());
    let (rank, dims) = (dims.len(), dims.iter().map(Ident::to_string));
    quote!(#b.#method::<#elem, #rank>(#text, [#(#dims),*]))
}

/// A body of statements; what it reads of in-out tensors it must write.
fn body(scope: &mut Scope, block: &Block) -> TokenStream {
    let mark = scope.mark();
    let outer = std::mem::take(&mut scope.reads);
    let mut stores = Vec::new();
    let mut statements = TokenStream::new();
    for stmt in &block.stmts {
        statements.extend(statement(scope, stmt, &mut stores));
    }
    for (tensor, at, span) in std::mem::replace(&mut scope.reads, outer) {
        if !stores.contains(&(tensor.clone(), at)) {
            let message = format!("`{tensor}` is an `InOut`: the same body must write the element that it reads");
            scope.error_at(span, message);
        }
    }
    scope.leave(mark);
    statements
}

fn statement(scope: &mut Scope, stmt: &Stmt, stores: &mut Vec<(String, String)>) -> TokenStream {
    const FORMS: &str = "a statement is `let x = e;`, `for axis in a..b { .. }`, a store `y[i] = e;` or `assert!(e);`";
    match stmt {
        Stmt::Local(local) => expr::local(scope, local),
        Stmt::Expr(Expr::ForLoop(e), _) => {
            let bounds = range(scope, &e.expr);
            if let Some(label) = &e.label {
                scope.error(label, "loops have no labels: nothing jumps in a kernel");
            }
            let Some(axis) = plain(&e.pat) else {
                return refuse(scope, &e.pat, "an axis is a plain name: `for t in 0..T`");
            };
            if e.body.stmts.is_empty() {
                scope.error(e.for_token, "this loop stores nothing");
            }
            let mark = scope.mark();
            scope.declare(axis, Kind::Axis);
            let inner = body(scope, &e.body);
            scope.leave(mark);
            let Some((lo, hi)) = bounds else { return TokenStream::new() };
            let (b, text) = (builder(e.for_token.span), axis.to_string());
            quote!(#b.each(#text, #lo, #hi, |#axis| { #inner });)
        }
        Stmt::Expr(Expr::Assign(e), _) => store(scope, &e.left, &e.right, stores),
        Stmt::Expr(Expr::Binary(e), Some(_)) if matches!(&*e.left, Expr::Index(_)) => {
            refuse(scope, e.op, "a store is `=`: an element is written once, so use `sum(a..b, |k| e)`")
        }
        Stmt::Macro(m) if m.mac.path.is_ident("assert") => assertion(scope, &m.mac),
        Stmt::Expr(Expr::While(e), _) => refuse(scope, e.while_token, FORMS),
        Stmt::Expr(Expr::Loop(e), _) => refuse(scope, e.loop_token, FORMS),
        Stmt::Expr(Expr::If(e), _) => {
            refuse(scope, e.if_token, "`if` is a value, not a statement: `y[i] = if c { a } else { b };`")
        }
        other => refuse(scope, other, FORMS),
    }
}

/// `assert!(H % G == 0);`.
fn assertion(scope: &mut Scope, mac: &syn::Macro) -> TokenStream {
    let cond = match mac.parse_body::<Expr>() {
        Ok(cond) => cond,
        Err(error) => {
            scope.error_at(error.span(), "an assertion is one condition on extents: `assert!(H % G == 0);`");
            return TokenStream::new();
        }
    };
    if !of_extents(scope, &cond) {
        return TokenStream::new();
    }
    let (b, e) = (builder(mac.path.span()), value(scope, &cond));
    quote!(#b.assert(#e);)
}

/// Whether an expression is made of extents and constants; what is not is a mistake.
fn of_extents(scope: &mut Scope, e: &Expr) -> bool {
    match e {
        Expr::Lit(_) => true,
        Expr::Paren(e) => of_extents(scope, &e.expr),
        Expr::Unary(e) => of_extents(scope, &e.expr),
        Expr::Binary(e) => of_extents(scope, &e.left) & of_extents(scope, &e.right),
        Expr::Path(p) if p.path.get_ident().is_some() => {
            let kind = p.path.get_ident().and_then(|name| scope.lookup(name));
            if kind.is_some_and(|kind| kind != Kind::Extent) {
                scope.error(e, "only extents and constants may stand in an assertion");
            }
            kind == Some(Kind::Extent)
        }
        other => {
            scope.error(other, "only extents and constants may stand in an assertion");
            false
        }
    }
}

fn store(scope: &mut Scope, left: &Expr, right: &Expr, stores: &mut Vec<(String, String)>) -> TokenStream {
    let (base, indices) = chain(left);
    let e = value(scope, right);
    let at: Vec<_> = indices.iter().map(|i| value(scope, i)).collect();
    let name = match base {
        Expr::Path(p) => p.path.get_ident(),
        _ => None,
    };
    let Some(name) = name else {
        return refuse(scope, left, "a store is `tensor[i] = e;`");
    };
    match scope.lookup(name) {
        Some(Kind::Tensor { role: Role::In, .. }) => {
            refuse(scope, name, format!("`{name}` is an input: declare it `Out` or `InOut` to store to it"))
        }
        Some(Kind::Tensor { rank, .. }) => {
            count(scope, name, left, rank, at.len());
            stores.push((name.to_string(), scope.text(quote!(#([#at])*))));
            quote!(#name.set([#(#at),*], #e);)
        }
        Some(kind) => {
            let noun = kind.noun();
            refuse(scope, name, format!("`{name}` is {noun}: only `Out` and `InOut` tensors are stored to"))
        }
        None => TokenStream::new(),
    }
}

/// Tensors and scalars that nothing uses; an `Out` can only be used by a store.
fn unused(scope: &mut Scope, function: &ItemFn) {
    for input in &function.sig.inputs {
        let FnArg::Typed(input) = input else { continue };
        let Some(name) = plain(&input.pat) else { continue };
        if !scope.is_used(name) {
            scope.error(name, format!("`{name}` is never used: remove the parameter"));
        }
    }
    if function.block.stmts.is_empty() {
        scope.error_at(function.block.span(), "this kernel stores nothing");
    }
}
