//! `#[monoid]`: an identity and a merge.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Expr, ExprStruct, FnArg, GenericArgument, ImplItem, ImplItemFn, ItemImpl, Lit, Member, PathArguments, Type};

use crate::expr::{self, builder, local, plain, value};
use crate::reduce::fields;
use crate::scope::{Kind, Scope};

struct Field {
    name: Ident,
    ty: Ident,
    array: bool,
    identity: TokenStream,
}

pub fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemImpl = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut scope = Scope::default();
    scope.in_monoid = true;
    if !attr.is_empty() {
        scope.error(&attr, "`#[monoid]` takes no arguments");
    }
    let named = head(&mut scope, &item);
    let (mut identity, mut merge) = (None, None);
    for part in &item.items {
        match part {
            ImplItem::Const(c) if c.ident == "IDENTITY" => identity = self_literal(&mut scope, &c.expr),
            ImplItem::Fn(f) if f.sig.ident == "merge" => merge = Some(f),
            other => scope.error(other, "a monoid has `const IDENTITY: Self` and `fn merge(a: Self, b: Self) -> Self`"),
        }
    }
    let Some((name, letter)) = named else { return scope.compile_errors() };
    let (Some(identity), Some(merge)) = (identity, merge) else {
        if scope.is_clean() {
            let missing = if identity.is_none() {
                "const IDENTITY: Self = Self { .. };"
            } else {
                "fn merge(a: Self, b: Self) -> Self { .. }"
            };
            scope.error(&name, format!("monoid `{name}` has no `{missing}`"));
        }
        return scope.compile_errors();
    };
    let list = identity_fields(&mut scope, identity);
    if let (None, Some(field)) = (&letter, list.iter().find(|f| f.array)) {
        scope.error(&name, format!("`{}` is an array: give its extent a name, `{name}<C>`", field.name));
    }
    if let (Some(letter), false) = (&letter, list.iter().any(|f| f.array)) {
        scope.error(letter, format!("monoid `{name}` has no array field: leave `<{letter}>` out"));
    }
    let c = Ident::new("__c", Span::mixed_site());
    let merged = merged(&mut scope, merge, &name, &list, &c);
    if !scope.is_clean() {
        return scope.compile_errors();
    }
    generate(&item, &name, letter.as_ref(), &list, merged)
}

/// `impl Name<C>`.
fn head(scope: &mut Scope, item: &ItemImpl) -> Option<(Ident, Option<Ident>)> {
    const FORM: &str = "write `impl Name<C>`, or `impl Name` where no field is an array";
    let segment = match &*item.self_ty {
        Type::Path(p) if p.path.segments.len() == 1 && item.trait_.is_none() => &p.path.segments[0],
        other => {
            scope.error(other, FORM);
            return None;
        }
    };
    let letter = match &segment.arguments {
        PathArguments::None => None,
        PathArguments::AngleBracketed(a) if a.args.len() == 1 => match &a.args[0] {
            GenericArgument::Type(Type::Path(p)) => p.path.get_ident().cloned(),
            _ => None,
        },
        _ => None,
    };
    if letter.is_none() && !segment.arguments.is_none() {
        scope.error(segment, FORM);
        return None;
    }
    Some((segment.ident.clone(), letter))
}

fn self_literal<'a>(scope: &mut Scope, e: &'a Expr) -> Option<&'a ExprStruct> {
    match e {
        Expr::Struct(s) if s.path.is_ident("Self") => Some(s),
        other => {
            scope.error(other, "a monoid is built as `Self { field: e, .. }`");
            None
        }
    }
}

fn identity_fields(scope: &mut Scope, literal: &ExprStruct) -> Vec<Field> {
    let mut list = Vec::new();
    for field in &literal.fields {
        let Member::Named(name) = &field.member else {
            scope.error(&field.member, "fields have names");
            continue;
        };
        let (array, e) = match &field.expr {
            Expr::Closure(c) => (true, &*c.body),
            e => (false, e),
        };
        let Some(ty) = constant_type(e) else {
            scope.error(e, "an identity is a constant: `0.0`, `0`, `LOWEST`, `u32::MAX`");
            continue;
        };
        let identity = value(scope, e);
        list.push(Field { name: name.clone(), ty: Ident::new(ty, name.span()), array, identity });
    }
    list
}

fn constant_type(e: &Expr) -> Option<&'static str> {
    match e {
        Expr::Lit(l) => match &l.lit {
            Lit::Float(_) => Some("f32"),
            Lit::Int(n) => Some(if n.suffix() == "f32" { "f32" } else { "u32" }),
            _ => None,
        },
        Expr::Path(p) if p.path.is_ident("LOWEST") => Some("f32"),
        Expr::Path(p) => match p.path.segments.first()?.ident.to_string().as_str() {
            "f32" => Some("f32"),
            "u32" => Some("u32"),
            _ => None,
        },
        Expr::Unary(u) => constant_type(&u.expr),
        Expr::Paren(p) => constant_type(&p.expr),
        Expr::Binary(b) => constant_type(&b.left).filter(|l| constant_type(&b.right) == Some(*l)),
        _ => None,
    }
}

fn merged(scope: &mut Scope, merge: &ImplItemFn, name: &Ident, list: &[Field], c: &Ident) -> TokenStream {
    let mut operands = TokenStream::new();
    let sides = [format_ident!("a"), format_ident!("b")];
    if merge.sig.inputs.len() != 2 {
        scope.error(&merge.sig.inputs, "a merge has two operands: `fn merge(a: Self, b: Self) -> Self`");
    }
    for (input, side) in merge.sig.inputs.iter().zip(&sides) {
        let operand = match input {
            FnArg::Typed(t) => plain(&t.pat),
            FnArg::Receiver(_) => None,
        };
        let Some(operand) = operand else {
            scope.error(input, "an operand has a plain name: `fn merge(a: Self, b: Self) -> Self`");
            continue;
        };
        scope.declare(operand, Kind::Operand);
        let parts = list.iter().map(|f| {
            let (field, pair) = (&f.name, pair(&f.name));
            let part = quote!(#pair.#side);
            if f.array { quote!(#field: ::tilewright_dsl::build::Elements::each(#part)) } else { quote!(#field: #part) }
        });
        operands.extend(quote!(#[allow(unused_variables)] let #operand = #name { #(#parts),* };));
    }
    let (lets, last) = expr::lets_then(scope, &merge.block, "a monoid `Self { .. }`");
    let lets: Vec<_> = lets.iter().map(|l| local(scope, l)).collect();
    let Some(literal) = last.and_then(|e| self_literal(scope, e)) else { return operands };
    let built = fields(scope, literal, c);
    // The literal takes the span of the user's `Self`, where rustc names missing fields.
    let name = Ident::new(&name.to_string(), literal.path.segments[0].ident.span());
    quote!(#operands #(#lets)* #name { #built })
}

/// The variable of a field's operands.
fn pair(name: &Ident) -> Ident {
    Ident::new(&format!("__field_{name}"), Span::mixed_site())
}

fn generate(item: &ItemImpl, name: &Ident, letter: Option<&Ident>, list: &[Field], merged: TokenStream) -> TokenStream {
    let attrs = &item.attrs;
    let b = builder(Span::call_site());
    let text = name.to_string();
    let array = match letter.map(Ident::to_string) {
        Some(letter) => quote!(::std::option::Option::Some(#letter)),
        None => quote!(::std::option::Option::None),
    };
    let (mut members, mut pairs, mut ids, mut results) = (vec![], vec![], vec![], vec![]);
    for (number, field) in list.iter().enumerate() {
        let Field { name, ty, array, identity } = field;
        let (pair, text) = (pair(name), name.to_string());
        let doc = format!("Field `{name}`{}.", if *array { ", an array" } else { "" });
        let (handle, make, read) = match array {
            true => (quote!(Elements), quote!(array), quote!(elements)),
            false => (quote!(E), quote!(field), quote!(field)),
        };
        members.push(quote!(#[doc = #doc] pub #name: ::tilewright_dsl::build::#handle<'b, #ty>));
        pairs.push(quote!(let #pair = monoid.#make::<#ty>(#text, #identity);));
        ids.push(quote!(self.#name.id()));
        results.push(quote!(#name: folded.#read::<#ty>(#number)));
    }
    quote! {
        #(#attrs)*
        #[derive(Clone, Copy)]
        pub struct #name<'b> { #(#members),* }

        impl #name<'_> {
            /// The monoid.
            #[allow(unused_braces, unused_parens)]
            pub fn monoid() -> ::tilewright_dsl::ir::Monoid {
                let monoid = ::tilewright_dsl::build::MonoidBuilder::new(#text, #array);
                let merged = {
                    let #b = monoid.exprs();
                    #(#pairs)*
                    let merged = { #merged };
                    ::tilewright_dsl::build::MonoidValue::contributions(merged)
                };
                monoid.finish(merged).unwrap_or_else(|errors| {
                    let errors: ::std::vec::Vec<_> = errors.iter().map(::std::string::ToString::to_string).collect();
                    ::std::panic!("monoid `{}`: {}", #text, errors.join("; "))
                })
            }
        }

        impl<'b> ::tilewright_dsl::build::MonoidValue<'b> for #name<'b> {
            const ARRAY: ::std::option::Option<&'static str> = #array;
            fn monoid() -> ::tilewright_dsl::ir::Monoid {
                #name::monoid()
            }
            fn contributions(self) -> ::std::vec::Vec<::tilewright_dsl::ir::ExprId> {
                ::std::vec![#(#ids),*]
            }
            fn result(folded: ::tilewright_dsl::build::Folded<'b>) -> Self {
                #name { #(#results),* }
            }
        }
    }
}
