use tilewright_dsl::{kernel, monoid};

#[monoid]
impl Mean<C> {
    const IDENTITY: Self = Self { total: 0.0, each: |c| 0.0 };
    fn merge(a: Self, b: Self) -> Self {
        Self { total: a.total + b.total, each: |c| a.each[c] + b.each[c] }
    }
}

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        let s = fold(0..N, |j| Mean { total: x[j], each: |c| x[c] });
        y[i] = s.total;
    }
}

fn main() {}
