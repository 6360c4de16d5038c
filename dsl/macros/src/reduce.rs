//! Reductions: `sum | max | argmax (a..b, |k| e)`, `fold(a..b, |j| Monoid { .. })`, and the literals of monoids.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprClosure, ExprStruct, Member, Pat, RangeLimits};

use crate::expr::{builder, lets_then, local, plain, refuse, value};
use crate::scope::{Kind, Scope};

/// `a..b`.
pub fn range(scope: &mut Scope, range: &Expr) -> Option<(TokenStream, TokenStream)> {
    let range = match range {
        Expr::Paren(p) => &p.expr,
        other => other,
    };
    match range {
        Expr::Range(r) => match (&r.start, &r.limits, &r.end) {
            (Some(lo), RangeLimits::HalfOpen(_), Some(hi)) => Some((value(scope, lo), value(scope, hi))),
            _ => {
                scope.error(range, "a range is `a..b`: both ends, the upper one excluded");
                None
            }
        },
        _ => {
            scope.error(range, "a range `a..b` is needed here");
            None
        }
    }
}

pub fn reduce(scope: &mut Scope, call: &ExprCall, name: &Ident, bounds: &Expr, body: &ExprClosure) -> TokenStream {
    if scope.in_monoid {
        return refuse(scope, name, "a monoid has no reductions");
    }
    scope.reduces = true;
    let bounds = range(scope, bounds);
    let axis = match body.inputs.first() {
        Some(Pat::Ident(_)) if body.inputs.len() == 1 => plain(&body.inputs[0]),
        _ => None,
    };
    let (Some((lo, hi)), Some(axis)) = (bounds, axis) else {
        if axis.is_none() {
            scope.error(&body.inputs, "a reduction's closure has one plain axis: `|k| e`");
        }
        return TokenStream::new();
    };
    let mark = scope.mark();
    scope.declare(axis, Kind::Axis);
    let (b, text) = (builder(name.span()), axis.to_string());
    let result = if name == "fold" {
        fold(scope, axis, &body.body, lo, hi)
    } else {
        let e = value(scope, &body.body);
        quote_spanned!(call.paren_token.span.join()=> #b.#name(#text, #lo, #hi, |#axis| #e))
    };
    scope.leave(mark);
    result
}

fn fold(scope: &mut Scope, axis: &Ident, body: &Expr, lo: TokenStream, hi: TokenStream) -> TokenStream {
    let mark = scope.mark();
    let (lets, last) = match body {
        Expr::Block(e) => lets_then(scope, &e.block, "a monoid"),
        other => (vec![], Some(other)),
    };
    let lets: Vec<_> = lets.iter().map(|l| local(scope, l)).collect();
    let Some(Expr::Struct(literal)) = last else {
        return match last {
            Some(e) => refuse(scope, e, "a fold builds a monoid: `fold(a..b, |j| Monoid { field: e, .. })`"),
            None => TokenStream::new(),
        };
    };
    let mut path = literal.path.clone();
    let span = path.span();
    let Some(extent) = array_extent(scope, &mut path) else { return TokenStream::new() };
    let monoid = Ident::new("__Monoid", Span::mixed_site().located_at(span));
    let c = Ident::new("__c", Span::mixed_site());
    let fields = fields(scope, literal, &c);
    scope.leave(mark);
    let (b, text) = (builder(span), axis.to_string());
    let trait_ = quote_spanned!(span=> ::tilewright_dsl::build::MonoidValue);
    let array = match &extent {
        Some(extent) => {
            let text = extent.to_string();
            quote!(<#monoid as #trait_>::ARRAY.map(|_| #b.extent(#text)))
        }
        None => quote!(<#monoid as #trait_>::ARRAY.map(|name| #b.extent(name))),
    };
    let known = match extent {
        Some(_) => TokenStream::new(),
        None => {
            let extents = scope.extents();
            let message =
                "the extent of this monoid's arrays is not an extent of this kernel: name one, `Monoid::<D> {{ .. }}`";
            quote_spanned! {span=>
                const _: () = assert!(
                    ::tilewright_dsl::build::has_extent(<#monoid<'static> as #trait_>::ARRAY, &[#(#extents),*]),
                    #message
                );
            }
        }
    };
    quote! {{
        type #monoid<'x> = #path<'x>;
        #known
        #b.fold_of(#text, #lo, #hi, #array, |#axis, #c| { #(#lets)* #monoid { #fields } })
    }}
}

/// Takes `<D>` off `Monoid::<D>`.
fn array_extent(scope: &mut Scope, path: &mut syn::Path) -> Option<Option<Ident>> {
    let Some(last) = path.segments.last_mut() else { return Some(None) };
    let arguments = std::mem::replace(&mut last.arguments, syn::PathArguments::None);
    let syn::PathArguments::AngleBracketed(arguments) = arguments else { return Some(None) };
    let given: Vec<_> = arguments.args.iter().collect();
    if let [syn::GenericArgument::Type(syn::Type::Path(p))] = &given[..]
        && let Some(name) = p.path.get_ident()
    {
        return match scope.lookup(name)? {
            Kind::Extent => Some(Some(name.clone())),
            kind => {
                scope.error(name, format!("`{name}` is {}: the size of a monoid's arrays is an extent", kind.noun()));
                None
            }
        };
    }
    scope.error(&arguments.args, "the size of a monoid's arrays is one extent: `Monoid::<D> { .. }`");
    None
}

/// The fields of a monoid's literal, each an expression, array fields (`|c| e`) with `c` standing for `element`.
pub fn fields(scope: &mut Scope, literal: &ExprStruct, element: &Ident) -> TokenStream {
    if let Some(dots) = literal.dot2_token {
        scope.error(dots, "write out every field");
    }
    let mut all = TokenStream::new();
    for field in &literal.fields {
        let Member::Named(name) = &field.member else {
            scope.error(&field.member, "fields have names");
            continue;
        };
        let e = match &field.expr {
            Expr::Closure(closure) => {
                let [index] = &closure.inputs.iter().filter_map(plain).collect::<Vec<_>>()[..] else {
                    scope.error(&closure.inputs, "an array field has one plain index: `|c| e`");
                    continue;
                };
                let mark = scope.mark();
                let kind = if scope.in_monoid { Kind::Element } else { Kind::Index };
                scope.declare_index(index, kind);
                let e = value(scope, &closure.body);
                scope.leave(mark);
                let e = match kind {
                    Kind::Index => quote!({ #[allow(unused_variables)] let #index = #element; #e }),
                    _ => e,
                };
                quote_spanned!(closure.span()=> ::tilewright_dsl::build::Elements::each(#e))
            }
            e => value(scope, e),
        };
        all.extend(quote!(#name: #e,));
    }
    all
}
