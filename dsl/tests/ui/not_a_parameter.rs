use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>, n: usize) {
    for i in 0..N {
        y[i] = x[i] + n as f32;
    }
}

fn main() {}
