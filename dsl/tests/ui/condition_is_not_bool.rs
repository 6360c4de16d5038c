use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = if i { x[i] } else { 0.0 };
    }
}

fn main() {}
