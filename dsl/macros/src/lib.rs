//! The handwriting of the kernel language: `#[kernel]`, `#[monoid]` and `schedule!`, which expand one-to-one to calls of
//! `tilewright_dsl`'s builder and to its schedule values.
//!
//! The rule: a mistake is one error under the user's own token, and several mistakes are told at once. Names and forms are
//! checked here; types are Rust's, since every value is a typed handle; whether a schedule applies is checked where it is
//! applied. Any meaning is deliberately absent.

mod expr;
mod kernel;
mod monoid;
mod reduce;
mod schedule;
mod scope;

use proc_macro::TokenStream;

/// Makes a kernel of a function: `fn linear() -> Kernel`, and beside it the hidden module `linear` with the names of its
/// axes, tensors and values, which `schedule!` refers to.
///
/// Parameters are `Tensor<R, K>`, `Out<T, R>`, `InOut<..>` (of f32, or `Tensor<u32, T>`) and scalars `f32`, `u32`.
/// Statements are `let x = e;`, `let a = |c| e;`, `for axis in a..b { .. }`, stores `y[t][r] = e;`, and `assert!(H % G == 0);`, which
/// says what must hold of the extents. Expressions are loads,
/// arithmetic, comparisons, `as f32 | u32`, `if c { a } else { b }`, the functions `exp log sqrt rsqrt tanh abs floor bits min
/// max`, and the reductions `sum | max | argmax (a..b, |k| e)` and `fold(a..b, |j| Monoid { .. })`.
#[proc_macro_attribute]
pub fn kernel(attr: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attr.into(), item.into()).into()
}

/// Makes a monoid of an `impl Name<C> { const IDENTITY: Self = Self { .. }; fn merge(a: Self, b: Self) -> Self { .. } }`:
/// the struct `Name`, which `fold` takes, with `Name::monoid()`. `<C>` is the extent of its array fields (`value: |c| 0.0`)
/// and is left out where there are none.
#[proc_macro_attribute]
pub fn monoid(attr: TokenStream, item: TokenStream) -> TokenStream {
    monoid::expand(attr.into(), item.into()).into()
}

/// Makes a schedule: `schedule! { /// doc  pub name for kernel from base { workgroup 64; axis: grid, lanes(32); .. } }` is
/// `pub fn name() -> Schedule`. `kernel` is a path to a `#[kernel]`, or the name of a fused kernel in quotes; `from base` takes
/// over the directives of `base()`, and a directive about the same thing replaces it.
#[proc_macro]
pub fn schedule(input: TokenStream) -> TokenStream {
    schedule::expand(input.into()).into()
}
