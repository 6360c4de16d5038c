use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        let a = tan(x[i]);
        y[i] = a * q;
    }
}

fn main() {}
