use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) -> f32 {
    for i in 0..N {
        y[i] = x[i];
    }
}

fn main() {}
