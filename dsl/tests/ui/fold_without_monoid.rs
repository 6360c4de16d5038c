use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = fold(0..N, |j| x[j]);
    }
}

fn main() {}
