//! The mistakes as values; their texts say whose, what, and what to do instead.

use crate::ir::Type;

/// What is wrong with a kernel or a monoid: its author's mistake.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum KernelError {
    /// A name that schedules could not spell.
    #[error("`{name}` is not a name: use letters, digits and `_`, parts joined by `.`")]
    BadName {
        /// The name.
        name: String,
    },
    /// Two tensors, scalars, axes or values of one name.
    #[error("the name `{name}` is given to {first} and to {second}: schedules could not tell them apart; rename one")]
    DuplicateName {
        /// The name.
        name: String,
        /// What has it first.
        first: &'static str,
        /// What has it next.
        second: &'static str,
    },
    /// A tensor without dimensions or with too many.
    #[error("tensor `{tensor}` has {rank} dimensions; 1 to 4 are possible")]
    Rank {
        /// The tensor.
        tensor: String,
        /// Its dimensions.
        rank: usize,
    },
    /// More or fewer indices than dimensions.
    #[error("tensor `{tensor}` has {expected} dimensions, but {found} indices are given")]
    IndexCount {
        /// The tensor.
        tensor: String,
        /// Its dimensions.
        expected: usize,
        /// The indices.
        found: usize,
    },
    /// A value of the wrong type.
    #[error("{place} is {found}; {expected} is needed there: convert with `as`")]
    TypeMismatch {
        /// Where.
        place: String,
        /// What is there.
        found: Type,
        /// What may be there.
        expected: Type,
    },
    /// An element type that cannot be stored.
    #[error("`{name}` is of type bool; tensors, scalars and fields are f32 or u32")]
    BoolStored {
        /// The tensor, scalar or field.
        name: String,
    },
    /// A load from an `Out`.
    #[error("tensor `{tensor}` is an `Out` and is read: declare it `InOut`, or name the value with `let` and use that")]
    ReadOfOutput {
        /// The tensor.
        tensor: String,
    },
    /// A store to a `Tensor`.
    #[error("tensor `{tensor}` is an input and is written: declare it `Out` or `InOut`")]
    WriteToInput {
        /// The tensor.
        tensor: String,
    },
    /// An `Out` or `InOut` without a store.
    #[error("tensor `{tensor}` is never written: store to it, or declare it `Tensor`")]
    NeverWritten {
        /// The tensor.
        tensor: String,
    },
    /// An input that nothing uses.
    #[error("tensor `{tensor}` is never read: remove the parameter")]
    NeverRead {
        /// The tensor.
        tensor: String,
    },
    /// A load from an `InOut` of an element that the body does not store to.
    #[error(
        "tensor `{tensor}` is read at an element that the same body does not write: an `InOut` may only be read where \
         it is written; use a `Tensor` for the old values and an `Out` for the new"
    )]
    InOutRead {
        /// The tensor.
        tensor: String,
    },
    /// A `for` without a store in it.
    #[error("the body of `for {axis}` stores nothing: store to an `Out`, or remove the loop")]
    EmptyLoop {
        /// The axis.
        axis: String,
    },
    /// An axis used where it has no value.
    #[error("axis `{axis}` is used outside its loop, in {place}: move the use inside")]
    AxisOutOfScope {
        /// The axis.
        axis: String,
        /// Where it is used.
        place: String,
    },
    /// An axis that not exactly one `for`, reduction or array binds, or one of another kind.
    #[error(
        "axis `{axis}` is bound {count} times as {kind}; exactly one `for`, reduction or array field binds an axis"
    )]
    AxisBinding {
        /// The axis.
        axis: String,
        /// How often.
        count: usize,
        /// What it was declared as.
        kind: &'static str,
    },
    /// A bound that depends on data.
    #[error(
        "the bounds of axis `{axis}` use a tensor or a reduction: only constants, extents, u32 scalars and enclosing axes \
         may bound an axis"
    )]
    DataBound {
        /// The axis.
        axis: String,
    },
    /// An assertion that a shape does not decide.
    #[error("kernel `{kernel}` asserts `{assertion}`: only constants and extents may stand in an assertion")]
    AssertNotExtents {
        /// The kernel.
        kernel: String,
        /// The assertion.
        assertion: String,
    },
    /// A reduction that does not fit its monoid.
    #[error("the reduction along `{axis}` gives {found} fields; monoid `{monoid}` has {expected}")]
    FieldCount {
        /// The reduction's axis.
        axis: String,
        /// The monoid.
        monoid: String,
        /// Its fields.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// Array fields without an array axis, or the reverse.
    #[error(
        "monoid `{monoid}` {}: give the extent of the array exactly where the monoid has array fields",
        if *.needed { "has array fields, but the reduction has no extent for them" } else { "has no array fields" }
    )]
    ArrayExtent {
        /// The monoid.
        monoid: String,
        /// Whether one is needed.
        needed: bool,
    },
    /// A scalar field read as an array, or the reverse, or a field that is not there.
    #[error("monoid `{monoid}` has no {} number {field}", if *.array { "array field" } else { "scalar field" })]
    NoSuchField {
        /// The monoid.
        monoid: String,
        /// The field's number.
        field: usize,
        /// What was asked for.
        array: bool,
    },
    /// A reduction used as a value.
    #[error("the reduction along `{axis}` is used as a value: read one of its fields")]
    ReductionAsValue {
        /// The reduction's axis.
        axis: String,
    },
    /// A field or element of something that is not a reduction.
    #[error("{place} reads a field of something that is not a reduction")]
    FieldOfValue {
        /// Where.
        place: String,
    },
    /// An array contribution indexed before it is reduced.
    #[error("an array contribution is indexed inside its own reduction: use the value itself")]
    ContributionIndexed,
    /// An expression that may not stand there.
    #[error("monoid `{monoid}`: {found} in {place}; a monoid is made of constants, operators and its operands' fields")]
    NotInMonoid {
        /// The monoid.
        monoid: String,
        /// What stands there.
        found: &'static str,
        /// Where.
        place: String,
    },
    /// A scalar field that depends on an element of an array field.
    #[error("monoid `{monoid}`: scalar field `{field}` uses an element of an array field")]
    ScalarFromArray {
        /// The monoid.
        monoid: String,
        /// The scalar field.
        field: String,
    },
    /// An operand of a merge outside one.
    #[error("an operand of a merge stands in kernel `{kernel}`: it has a meaning in a monoid alone")]
    PartInKernel {
        /// The kernel.
        kernel: String,
    },
    /// A handle that points nowhere or forward: values of two builders were mixed.
    #[error("{place} refers to {what} that is not (yet) in `{owner}`: values of two builders do not mix")]
    BrokenHandle {
        /// The kernel or monoid.
        owner: String,
        /// Where the handle stands.
        place: String,
        /// What it should point to.
        what: &'static str,
    },
}
