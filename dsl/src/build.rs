//! The builder: makes a [`Kernel`] from calls that read like its text, and is the only way to make one.
//!
//! It keeps three rules. Types are Rust's: a value is an [`E<f32>`](E), `E<u32>` or `E<bool>`, so that a mixed-up sum does
//! not compile. Equal expressions get one handle (hash-consing), so that whatever is written twice is shared. Everything
//! else (names, ranks, roles, axes used outside their loop) is collected and comes out of [`Builder::finish`] at once.
//! `#[kernel]` expands one-to-one to these calls. Schedules and any simplification are deliberately absent: what was
//! written is what stands in the arena.
//!
//! ```
//! use tilewright_dsl::build::Builder;
//!
//! let b = Builder::new("linear");
//! let (w, x) = (b.input::<f32, 2>("w", ["R", "K"]), b.input::<f32, 2>("x", ["T", "K"]));
//! let y = b.output::<f32, 2>("y", ["T", "R"]);
//! b.each("t", 0, b.extent("T"), |t| {
//!     b.each("r", 0, b.extent("R"), |r| {
//!         y.set([t, r], b.sum("k", 0, b.extent("K"), |k| w.at([r, k]) * x.at([t, k])));
//!     });
//! });
//! let linear = b.finish().expect("the kernel is well formed");
//! assert_eq!(linear.axes.len(), 3);
//! ```

mod monoid;
mod order;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;

pub use monoid::{Folded, MonoidBuilder, MonoidValue, Pair, Reduced, argmax, max, sum};
pub use value::{E, Elem, Elements, InOut, Input, Integer, Named, Number, Output, Value, operators};

use crate::check::{self, KernelError};
use crate::ir::*;

/// Makes one kernel.
pub struct Builder {
    state: RefCell<State>,
}

struct State {
    kernel: Kernel,
    seen: HashMap<Expr, ExprId>,
    errors: Vec<KernelError>,
    /// The bodies of the open `for`s, the outermost first; the kernel's own body is at 0.
    bodies: Vec<Vec<Stmt>>,
}

impl Builder {
    /// An empty kernel of that name.
    pub fn new(name: &str) -> Self {
        let kernel = Kernel {
            name: name.into(),
            doc: String::new(),
            extents: Vec::new(),
            tensors: Vec::new(),
            scalars: Vec::new(),
            axes: Vec::new(),
            monoids: Vec::new(),
            lets: Vec::new(),
            exprs: Vec::new(),
            types: Vec::new(),
            asserts: Vec::new(),
            body: Vec::new(),
        };
        let state = State { kernel, seen: HashMap::new(), errors: Vec::new(), bodies: vec![Vec::new()] };
        Builder { state: RefCell::new(state) }
    }

    /// Sets the doc comment.
    pub fn doc(&self, text: &str) {
        self.state.borrow_mut().kernel.doc = text.into();
    }

    /// The kernel, or everything that is wrong with it.
    pub fn finish(self) -> Result<Kernel, Vec<KernelError>> {
        let State { mut kernel, mut errors, mut bodies, .. } = self.state.into_inner();
        kernel.body = bodies.swap_remove(0);
        if errors.is_empty() {
            errors = check::kernel(&kernel);
        }
        if errors.is_empty() { Ok(order::canonical(kernel)) } else { Err(errors) }
    }

    /// A tensor that is only read: [`Input::at`]. `dims` names its extents, outermost first.
    pub fn input<T: Elem, const N: usize>(&self, name: &str, dims: [&str; N]) -> Input<'_, T, N> {
        Input::new(self, self.tensor(name, Role::In, T::TYPE, &dims))
    }

    /// A tensor that is only written: [`Output::set`].
    pub fn output<T: Elem, const N: usize>(&self, name: &str, dims: [&str; N]) -> Output<'_, T, N> {
        Output::new(self, self.tensor(name, Role::Out, T::TYPE, &dims))
    }

    /// A tensor that is read and written in place; an iteration reads only elements that it alone writes.
    pub fn in_out<T: Elem, const N: usize>(&self, name: &str, dims: [&str; N]) -> InOut<'_, T, N> {
        InOut::new(self, self.tensor(name, Role::InOut, T::TYPE, &dims))
    }

    /// A scalar parameter.
    pub fn scalar<T: Elem>(&self, name: &str) -> E<'_, T> {
        let id = {
            let scalars = &mut self.state.borrow_mut().kernel.scalars;
            scalars.push(Scalar { name: name.into(), ty: T::TYPE });
            ScalarId(scalars.len() as u32 - 1)
        };
        self.push(Expr::Scalar(id))
    }

    /// An extent as a u32, by its name.
    pub fn extent(&self, name: &str) -> E<'_, u32> {
        let id = self.extent_id(name);
        self.push(Expr::Extent(id))
    }

    /// An f32 constant.
    pub fn f32(&self, value: f32) -> E<'_, f32> {
        self.push(Expr::F32(value.to_bits()))
    }

    /// A u32 constant.
    pub fn u32(&self, value: u32) -> E<'_, u32> {
        self.push(Expr::U32(value))
    }

    /// A bool constant.
    pub fn bool(&self, value: bool) -> E<'_, bool> {
        self.push(Expr::Bool(value))
    }

    /// `assert!(cond)`: what must hold of the extents, for the kernel to have a meaning.
    pub fn assert(&self, cond: E<'_, bool>) {
        self.state.borrow_mut().kernel.asserts.push(cond.id());
    }

    /// `for axis in lo..hi { body }`, in no order.
    pub fn each<'b>(
        &'b self,
        axis: &str,
        lo: impl Value<'b, u32>,
        hi: impl Value<'b, u32>,
        body: impl FnOnce(E<'b, u32>),
    ) {
        let (id, at) = self.axis(axis, AxisKind::Map, lo.value(self).id(), hi.value(self).id());
        self.state.borrow_mut().bodies.push(Vec::new());
        body(at);
        let mut state = self.state.borrow_mut();
        let inner = state.bodies.pop().unwrap_or_default();
        state.statement(Stmt::For(id, inner));
    }

    /// `if cond { yes } else { no }` as a value.
    pub fn select<'b, T: Elem>(&'b self, cond: E<'b, bool>, yes: E<'b, T>, no: E<'b, T>) -> E<'b, T> {
        self.push(Expr::Select(cond.id(), yes.id(), no.id()))
    }

    /// `let name = value;`: what `compute NAME at LEVEL` refers to. Gives the value back.
    pub fn name<V: Named>(&self, name: &str, value: V) -> V {
        self.state.borrow_mut().kernel.lets.push(Let { name: name.into(), value: value.named() });
        value
    }

    /// `let name = |i, ..| value`: an array of N dimensions, substituted where it is indexed.
    pub fn array<'b, V, const N: usize>(
        &'b self,
        value: impl Fn([E<'b, u32>; N]) -> V,
    ) -> impl Fn([E<'b, u32>; N]) -> V {
        value
    }

    fn tensor(&self, name: &str, role: Role, elem: Type, dims: &[&str]) -> TensorId {
        let dims = dims.iter().map(|d| self.extent_id(d)).collect();
        let tensors = &mut self.state.borrow_mut().kernel.tensors;
        tensors.push(Tensor { name: name.into(), role, elem, dims });
        TensorId(tensors.len() as u32 - 1)
    }

    fn extent_id(&self, name: &str) -> ExtentId {
        let extents = &mut self.state.borrow_mut().kernel.extents;
        let at = extents.iter().position(|e| e == name).unwrap_or_else(|| {
            extents.push(name.into());
            extents.len() - 1
        });
        ExtentId(at as u32)
    }

    fn axis(&self, name: &str, kind: AxisKind, lo: ExprId, hi: ExprId) -> (AxisId, E<'_, u32>) {
        let id = {
            let axes = &mut self.state.borrow_mut().kernel.axes;
            axes.push(Axis { name: name.into(), kind, lo, hi });
            AxisId(axes.len() as u32 - 1)
        };
        (id, self.push(Expr::Axis(id)))
    }

    fn monoid(&self, monoid: &Monoid) -> MonoidId {
        let monoids = &mut self.state.borrow_mut().kernel.monoids;
        let at = monoids.iter().position(|m| m == monoid).unwrap_or_else(|| {
            monoids.push(monoid.clone());
            monoids.len() - 1
        });
        MonoidId(at as u32)
    }

    fn push<T: Elem>(&self, expr: Expr) -> E<'_, T> {
        E::new(self, self.intern(expr, T::TYPE))
    }

    fn intern(&self, expr: Expr, ty: Type) -> ExprId {
        let mut state = self.state.borrow_mut();
        if let Some(&id) = state.seen.get(&expr) {
            return id;
        }
        let id = ExprId(state.kernel.exprs.len() as u32);
        state.kernel.exprs.push(expr.clone());
        state.kernel.types.push(ty);
        state.seen.insert(expr, id);
        id
    }

    fn store(&self, tensor: TensorId, at: Vec<ExprId>, value: ExprId) {
        self.state.borrow_mut().statement(Stmt::Store(tensor, at, value));
    }

    fn error(&self, error: KernelError) {
        self.state.borrow_mut().errors.push(error);
    }
}

impl State {
    fn statement(&mut self, stmt: Stmt) {
        if let Some(body) = self.bodies.last_mut() {
            body.push(stmt);
        }
    }
}

/// Whether a monoid's array extent is one of a kernel's; `#[kernel]` asserts it while compiling.
#[doc(hidden)]
pub const fn has_extent(extent: Option<&str>, extents: &[&str]) -> bool {
    let Some(wanted) = extent else { return true };
    let mut i = 0;
    while i < extents.len() {
        let (a, b) = (wanted.as_bytes(), extents[i].as_bytes());
        let mut same = a.len() == b.len();
        let mut j = 0;
        while same && j < a.len() {
            same = a[j] == b[j];
            j += 1;
        }
        if same {
            return true;
        }
        i += 1;
    }
    false
}
