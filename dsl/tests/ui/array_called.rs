use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        let a = |c| x[c];
        y[i] = a(i);
    }
}

fn main() {}
