use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        assert!(i < N);
        y[i] = x[i];
    }
}

fn main() {}
