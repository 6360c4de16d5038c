use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>, z: Out<N>) {
    for i in 0..N {
        y[i] = x[i];
    }
    for i in 0..N {
        z[i] = x[i];
    }
}

fn main() {}
