//! `schedule!`: directives to a schedule value; the grammar is that of the canonical text.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, LitInt, LitStr, Path, Result, Token, Visibility, braced, parenthesized, token};

/// The head of a schedule.
struct Head {
    attrs: Vec<Attribute>,
    vis: Visibility,
    name: Ident,
    kernel: KernelRef,
    base: Option<Path>,
}

enum KernelRef {
    Path(Path),
    Fused(LitStr),
}

impl Parse for Head {
    fn parse(input: ParseStream) -> Result<Self> {
        let (attrs, vis, name) = (input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?);
        input.parse::<Token![for]>()?;
        let kernel = match input.peek(LitStr) {
            true => KernelRef::Fused(input.parse()?),
            false => KernelRef::Path(input.call(Path::parse_mod_style)?),
        };
        let base = match peek_word(input).as_deref() {
            Some("from") => {
                input.parse::<Ident>()?;
                Some(input.call(Path::parse_mod_style)?)
            }
            _ => None,
        };
        Ok(Head { attrs, vis, name, kernel, base })
    }
}

/// Directives as initialisers of `Schedule`'s fields, what they refer to, and the mistakes.
#[derive(Default)]
struct Body {
    workgroup: Option<u32>,
    axes: Vec<TokenStream>,
    folds: Vec<TokenStream>,
    stages: Vec<TokenStream>,
    computes: Vec<TokenStream>,
    stores: Vec<TokenStream>,
    tails: Vec<TokenStream>,
    /// Where the parts stand: `(Spot, (line, column))`.
    parts: Vec<TokenStream>,
    /// Names of levels, `serial as NAME`.
    levels: HashSet<String>,
    /// Levels that `stage` and `compute` name.
    at: Vec<Ident>,
    /// References into the kernel's module of names.
    references: Vec<TokenStream>,
    seen: HashSet<String>,
    errors: Vec<Error>,
}

pub fn expand(input: TokenStream) -> TokenStream {
    syn::parse::Parser::parse2(schedule, input).unwrap_or_else(|error| error.to_compile_error())
}

fn schedule(input: ParseStream) -> Result<TokenStream> {
    let head: Head = input.parse()?;
    if !input.peek(token::Brace) {
        let expected = if head.base.is_some() { "expected `{`" } else { "expected `from BASE` or `{`" };
        return Err(input.error(expected));
    }
    let content;
    braced!(content in input);
    let mut body = Body::default();
    while !content.is_empty() {
        if let Err(error) = body.directive(&content) {
            body.errors.push(error);
            while !content.is_empty() && !content.peek(Token![;]) {
                content.step(|cursor| Ok(((), cursor.token_tree().map_or(*cursor, |t| t.1))))?;
            }
            content.parse::<Option<Token![;]>>()?;
        }
    }
    Ok(generate(head, body))
}

fn generate(head: Head, body: Body) -> TokenStream {
    let Head { attrs, vis, name, kernel, base } = head;
    let text = name.to_string();
    let result = quote!(::tilewright_dsl::schedule::Schedule);
    if !body.errors.is_empty() {
        let errors = body.errors.iter().map(Error::to_compile_error);
        return quote! {
            #(#errors)*
            #(#attrs)* #vis fn #name() -> #result { ::std::unreachable!() }
        };
    }
    let (kernel_name, check) = match &kernel {
        KernelRef::Fused(name) => (name.value(), TokenStream::new()),
        KernelRef::Path(path) => {
            let last = path.segments.last().map(|s| s.ident.unraw().to_string()).unwrap_or_default();
            (last, body.check(path, base.is_some()))
        }
    };
    let workgroup = match body.workgroup {
        Some(n) => quote!(::std::option::Option::Some(#n)),
        None => quote!(::std::option::Option::None),
    };
    let Body { axes, folds, stages, computes, stores, tails, parts, .. } = body;
    let (start, named) = (position(Span::call_site()), position(name.span()));
    let derived = base.map(|base| quote!(let schedule = #base().derived(schedule);));
    quote! {
        #(#attrs)*
        #vis fn #name() -> #result {
            #check
            #[allow(unused_imports)]
            use ::tilewright_dsl::schedule::{AxisLevels, Compute, Fold, Level, LevelKind, Origin, Place, Spot, Stage, Storage, Tail};
            #[allow(unused_imports)]
            use ::std::option::Option::{self, None, Some};
            let schedule = #result {
                name: ::std::convert::From::from(#text),
                kernel: ::std::convert::From::from(#kernel_name),
                workgroup: #workgroup,
                axes: ::std::vec![#(#axes),*],
                folds: ::std::vec![#(#folds),*],
                stages: ::std::vec![#(#stages),*],
                computes: ::std::vec![#(#computes),*],
                stores: ::std::vec![#(#stores),*],
                tails: ::std::vec![#(#tails),*],
                origin: Origin::new(::std::file!(), #start, [(Spot::Name, #named), #(#parts),*]),
            };
            #derived
            schedule
        }
    }
}

impl Body {
    /// One directive with its `;`.
    fn directive(&mut self, input: ParseStream) -> Result<()> {
        let word = input.call(Ident::parse_any)?;
        if input.peek(Token![:]) || input.peek(Token![.]) {
            self.axis(word, input)?;
        } else {
            match word.to_string().as_str() {
                "workgroup" => {
                    self.part(input.span(), quote!(Workgroup));
                    let n = number(input)?;
                    self.once(&word, "workgroup".into())?;
                    self.workgroup = Some(n);
                }
                "fold" => {
                    let axis = self.axis_name(input)?;
                    self.once(&axis, format!("fold {axis}"))?;
                    let words = [("serial", "Serial"), ("tree", "Tree"), ("subgroup", "Subgroup")];
                    let (how, at) = choice(input, "Fold", &words)?;
                    self.named_part(at, "Fold", &axis);
                    self.folds.push(pair(&axis, how));
                }
                "tail" => {
                    let axis = self.axis_name(input)?;
                    self.once(&axis, format!("tail {axis}"))?;
                    let (how, at) = choice(input, "Tail", &[("guard", "Guard"), ("exact", "Exact")])?;
                    self.named_part(at, "Tail", &axis);
                    self.tails.push(pair(&axis, how));
                }
                "store" => {
                    let tensor = self.reference(input, "tensor")?;
                    self.once(&tensor, format!("store {tensor}"))?;
                    let (how, at) = choice(input, "Storage", &STORAGES)?;
                    if let Some(shares) = how.to_string().split("::").last().and_then(|v| shares(v.trim())) {
                        only(input, shares, at)?;
                    }
                    self.named_part(at, "Store", &tensor);
                    self.stores.push(pair(&tensor, how));
                }
                "stage" => {
                    let tensor = self.reference(input, "tensor")?;
                    let at = self.level_name(input)?;
                    let (place, _) = choice(input, "Place", &PLACES)?;
                    let storage = match peek_word(input).as_deref() {
                        Some("f16") => input.parse::<Ident>().map(|_| quote!(Storage::F16))?,
                        _ => quote!(Storage::F32),
                    };
                    let ahead = peek_word(input).as_deref() == Some("ahead");
                    if ahead {
                        input.parse::<Ident>()?;
                    }
                    self.once(&tensor, format!("stage {tensor} in {place}"))?;
                    let tensor = tensor.text();
                    self.part(word.span(), quote!(Stage(::std::convert::From::from(#tensor), #place)));
                    self.stages.push(quote!(Stage { tensor: ::std::convert::From::from(#tensor), at: ::std::convert::From::from(#at), place: #place, storage: #storage, ahead: #ahead }));
                }
                "compute" => {
                    let value = self.reference(input, "value")?;
                    let at = self.level_name(input)?;
                    let place = match input.peek(Token![:]) {
                        true => choice(input, "Place", &PLACES)?.0,
                        false => quote!(Place::Registers),
                    };
                    self.once(&value, format!("compute {value}"))?;
                    self.named_part(word.span(), "Compute", &value);
                    let value = value.text();
                    self.computes.push(quote!(Compute { value: ::std::convert::From::from(#value), at: ::std::convert::From::from(#at), place: #place }));
                }
                "merge" => return Err(Error::new(word.span(), "`merge` is not available yet")),
                _ => {
                    let forms = "expected `workgroup`, `fold`, `stage`, `compute`, `store`, `tail` or `axis: levels`";
                    return Err(Error::new(word.span(), forms));
                }
            }
        }
        input.parse::<Token![;]>()?;
        Ok(())
    }

    fn axis(&mut self, first: Ident, input: ParseStream) -> Result<()> {
        let axis = Name::after(first, input)?;
        self.refer(&axis, "axis");
        self.once(&axis, format!("axis {axis}"))?;
        self.named_part(axis.0[0].span(), "Axis", &axis);
        input.parse::<Token![:]>()?;
        let mut levels = vec![self.level(&axis, 0, input)?];
        while input.parse::<Option<Token![,]>>()?.is_some() {
            levels.push(self.level(&axis, levels.len(), input)?);
        }
        let axis = axis.text();
        self.axes
            .push(quote!(AxisLevels { axis: ::std::convert::From::from(#axis), levels: ::std::vec![#(#levels),*] }));
        Ok(())
    }

    /// The level of that number of an axis.
    fn level(&mut self, axis: &Name, index: usize, input: ParseStream) -> Result<TokenStream> {
        let word = input.call(Ident::parse_any)?;
        let text = axis.text();
        self.part(word.span(), quote!(Level(::std::convert::From::from(#text), #index)));
        let kind = match word.to_string().as_str() {
            "grid" => quote!(Grid),
            "serial" => quote!(Serial),
            "lanes" => quote!(Lanes),
            "unroll" => quote!(Unroll),
            "vector" => quote!(Vector),
            "matrix" => quote!(Matrix),
            _ => {
                let message = "expected a level: `grid`, `serial`, `lanes(n)`, `unroll(n)`, `vector(n)` or `matrix(n)`";
                return Err(Error::new(word.span(), message));
            }
        };
        let open = word == "grid" || word == "serial";
        let size = match input.peek(token::Paren) {
            true => {
                let content;
                parenthesized!(content in input);
                let n = number(&content)?;
                if !content.is_empty() {
                    return Err(content.error("expected `)`"));
                }
                quote!(Some(#n))
            }
            false if open => quote!(None),
            false => return Err(Error::new(word.span(), format!("expected a number: `{word}(n)`"))),
        };
        let name = match input.parse::<Option<Token![as]>>()? {
            Some(as_token) if word != "serial" => {
                return Err(Error::new(as_token.span, "only a `serial` level is named with `as`"));
            }
            Some(_) => {
                let name = input.parse::<Ident>()?;
                if !self.levels.insert(name.to_string()) {
                    return Err(Error::new(name.span(), format!("two levels are named `{name}`")));
                }
                let name = name.to_string();
                quote!(Some(::std::convert::From::from(#name)))
            }
            None => quote!(None),
        };
        Ok(quote!(Level { kind: LevelKind::#kind, size: #size, name: #name }))
    }

    /// A part of the schedule stands there.
    fn part(&mut self, at: Span, spot: TokenStream) {
        let at = position(at);
        self.parts.push(quote!((Spot::#spot, #at)));
    }

    fn named_part(&mut self, at: Span, spot: &str, name: &Name) {
        let (spot, name) = (Ident::new(spot, Span::call_site()), name.text());
        self.part(at, quote!(#spot(::std::convert::From::from(#name))));
    }

    fn axis_name(&mut self, input: ParseStream) -> Result<Name> {
        self.reference(input, "axis")
    }

    fn reference(&mut self, input: ParseStream, kind: &str) -> Result<Name> {
        let first = input.call(Ident::parse_any)?;
        let name = Name::after(first, input)?;
        self.refer(&name, kind);
        Ok(name)
    }

    fn refer(&mut self, name: &Name, kind: &str) {
        if let [name] = &name.0[..] {
            let kind = Ident::new(kind, Span::call_site());
            self.references.push(quote!(#kind::#name));
        }
    }

    /// `at LEVEL`.
    fn level_name(&mut self, input: ParseStream) -> Result<String> {
        match peek_word(input).as_deref() {
            Some("at") => input.parse::<Ident>()?,
            _ => return Err(input.error("expected `at LEVEL`")),
        };
        let name = Name::after(input.call(Ident::parse_any)?, input)?;
        if let [single] = &name.0[..] {
            self.at.push(single.clone());
        }
        Ok(name.text())
    }

    fn once(&mut self, at: &dyn ToTokens, what: String) -> Result<()> {
        match self.seen.insert(what) {
            true => Ok(()),
            false => Err(Error::new_spanned(at, "a second directive about the same thing")),
        }
    }

    /// Lets rustc look up every axis, tensor and value, under the user's tokens. A derived schedule may name a level of its
    /// base, which only its application can know.
    fn check(&self, kernel: &Path, derived: bool) -> TokenStream {
        let mut references = self.references.clone();
        for at in &self.at {
            if !derived && !self.levels.contains(&at.to_string()) {
                references.push(quote!(axis::#at));
            }
        }
        quote! {
            #[allow(unused_imports)]
            const _: () = {
                use #kernel::{axis, tensor, value};
                #(let _ = #references;)*
            };
        }
    }
}

/// `k`, `softmax.c`, `norm.j`.
struct Name(Vec<Ident>);

impl Name {
    fn after(first: Ident, input: ParseStream) -> Result<Self> {
        let mut parts = vec![first];
        while input.parse::<Option<Token![.]>>()?.is_some() {
            parts.push(input.call(Ident::parse_any)?);
        }
        Ok(Name(parts))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<_> = self.0.iter().map(Ident::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().map(|i| i.to_token_stream()));
    }
}

fn pair(name: &Name, value: TokenStream) -> TokenStream {
    let name = name.text();
    quote!((::std::convert::From::from(#name), #value))
}

fn peek_word(input: ParseStream) -> Option<String> {
    input.cursor().ident().map(|(word, _)| word.to_string())
}

fn number(input: ParseStream) -> Result<u32> {
    let n: LitInt = input.parse().map_err(|e| Error::new(e.span(), "expected a number"))?;
    match n.base10_parse::<u32>() {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(Error::new(n.span(), "expected a number from 1 to 4294967295")),
    }
}

/// Line and column of a token, from 1.
fn position(span: Span) -> TokenStream {
    let span = span.unwrap();
    let (line, column) = (span.line() as u32, span.column() as u32);
    quote!((#line, #column))
}

const STORAGES: [(&str, &str); 5] =
    [("f32", "F32"), ("f16", "F16"), ("bf16", "Bf16"), ("int8", "Int8"), ("nf4", "Nf4")];

const PLACES: [(&str, &str); 2] = [("workgroup", "Workgroup"), ("registers", "Registers")];

/// `: WORD`, one of these, and where the word stands.
fn choice(input: ParseStream, of: &str, words: &[(&str, &str)]) -> Result<(TokenStream, Span)> {
    input.parse::<Token![:]>()?;
    let word = input.call(Ident::parse_any)?;
    let of = Ident::new(of, Span::call_site());
    if let Some((_, variant)) = words.iter().find(|w| word == w.0) {
        let variant = Ident::new(variant, Span::call_site());
        return Ok((quote!(#of::#variant), word.span()));
    }
    let words: Vec<_> = words.iter().map(|w| format!("`{}`", w.0)).collect();
    Err(Error::new(word.span(), format!("expected {}", words.join(" or "))))
}

/// What shares a scale, where elements are codes.
fn shares(variant: &str) -> Option<&'static str> {
    match variant {
        "Int8" => Some("channel"),
        "Nf4" => Some("64"),
        _ => None,
    }
}

/// `(SHARES)`, the only form there is.
fn only(input: ParseStream, shares: &str, at: Span) -> Result<()> {
    let message = format!("expected `({shares})` after it, its only form");
    if !input.peek(token::Paren) {
        return Err(Error::new(at, message));
    }
    let content;
    parenthesized!(content in input);
    let inside: TokenStream = content.parse()?;
    if inside.to_string() == shares { Ok(()) } else { Err(Error::new(at, message)) }
}
