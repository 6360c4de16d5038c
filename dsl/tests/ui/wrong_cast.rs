use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[i] + i as f64;
    }
}

fn main() {}
