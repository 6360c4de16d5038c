//! Kernels that are well formed, and have no right shader at the usual extents.

use tilewright_dsl::build::{Builder, E, Input, MonoidBuilder, Output};
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::kernel;

/// Each element's right neighbour: the last one has none.
#[kernel]
pub fn next(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i + 1];
    }
}

/// Each element's left neighbour: the first one has none.
#[kernel]
pub fn previous(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i - 1];
    }
}

/// The same, inside the tensor.
#[kernel]
pub fn clamped(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[max(i, 1) - 1] + x[min(i + 1, N - 1)];
    }
}

/// Everything one place on.
#[kernel]
pub fn shifted(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i + 1] = x[i];
    }
}

/// As many elements as another tensor has.
#[kernel]
pub fn other_extent(x: Tensor<C>, y: Out<N>) {
    for i in 0..C {
        y[i] = x[i];
    }
}

/// Sums that read one element too many: `0..N - n` ends in time, one more does not.
#[kernel]
pub fn long_suffix(x: Tensor<N>, y: Out<N>) {
    for n in 0..N {
        y[n] = sum(0..N - n + 1, |j| x[n + j]);
    }
}

/// An index that is constant and far away.
#[kernel]
pub fn far(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[1e20 as u32];
    }
}

#[kernel]
pub fn all_to_one(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[0] = x[i];
    }
}

/// Two neighbours to one element.
#[kernel]
pub fn halved(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i / 2] = x[i];
    }
}

/// Round a ring that is shorter than the way.
#[kernel]
pub fn ring(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i % 40] = x[i];
    }
}

/// Rows of 8 that are 16 long.
#[kernel]
pub fn overlapping(x: Tensor<N>, y: Out<R>) {
    for h in 0..4 {
        for d in 0..16 {
            y[h * 8 + d] = x[d];
        }
    }
}

/// A loop beside the one that writes.
#[kernel]
pub fn again(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i];
    }
    for j in 0..N {
        y[j] = x[j] * 2.0;
    }
}

/// Both ends of a row meet in the middle and go on.
#[kernel]
pub fn mirrored(x: InOut<N>) {
    for i in 0..N {
        let one = x[i];
        let two = x[N - 1 - i];
        x[i] = one + two;
        x[N - 1 - i] = one - two;
    }
}

#[kernel]
pub fn infinite(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i] + 1.0 / 0.0;
    }
}

/// Right until N is 1.
#[kernel]
pub fn mean_of_others(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i] * (1.0 / (N as f32 - 1.0));
    }
}

#[kernel]
pub fn root(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i] + sqrt(0.0 - 1.0);
    }
}

#[kernel]
pub fn power(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i] + exp(1000.0);
    }
}

#[kernel]
pub fn far_shift(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i] + (i << 32) as f32;
    }
}

#[kernel]
pub fn rest_of_nothing(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i % (N - 48)];
    }
}

fn copies<'b>(b: &'b Builder, value: impl Fn(E<'b, f32>) -> E<'b, f32>) -> (Input<'b, f32, 1>, Output<'b, f32, 1>) {
    let (x, y) = (b.input::<f32, 1>("x", ["N"]), b.output::<f32, 1>("y", ["N"]));
    b.each("i", 0, b.extent("N"), |i| y.set([i], value(x.at([i]))));
    (x, y)
}

/// A constant that is no number.
pub fn no_number() -> Kernel {
    let b = Builder::new("no_number");
    copies(&b, |x| x + b.f32(f32::NAN));
    b.finish().expect("it is well formed")
}

/// A monoid whose identity is infinite.
pub fn infinite_identity() -> Kernel {
    let m = MonoidBuilder::new("Least", None);
    let v = m.field::<f32>("v", f32::INFINITY);
    let merge = vec![v.a.min(v.b).id()];
    let least = m.finish(merge).expect("it is well formed");
    let b = Builder::new("infinite_identity");
    let (x, y) = (b.input::<f32, 2>("x", ["N", "N"]), b.output::<f32, 1>("y", ["N"]));
    b.each("i", 0, b.extent("N"), |i| {
        y.set([i], b.fold(&least, "j", 0, b.extent("N"), None, |j, _| vec![x.at([i, j]).id()]).field(0));
    });
    b.finish().expect("it is well formed")
}

/// More axes than a set of them holds.
pub fn many_axes() -> Kernel {
    let b = Builder::new("many_axes");
    let (x, y) = (b.input::<f32, 1>("x", ["N"]), b.output::<f32, 1>("y", ["N"]));
    for n in 0..65 {
        b.each(&format!("i{n}"), n, n + 1, |i| y.set([i], x.at([i])));
    }
    b.finish().expect("it is well formed")
}
