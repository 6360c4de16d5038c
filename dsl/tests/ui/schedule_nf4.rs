use tilewright_dsl::{kernel, schedule};

#[kernel]
fn linear(w: Tensor<R, K>, x: Tensor<T, K>, y: Out<T, R>) {
    for t in 0..T {
        for r in 0..R {
            let s = sum(0..K, |k| w[r][k] * x[t][k]);
            y[t][r] = s;
        }
    }
}

schedule! {
    pub fast for linear {
        store w: nf4(32);
    }
}

fn main() {}
