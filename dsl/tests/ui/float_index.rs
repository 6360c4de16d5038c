use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N>, s: Tensor<N>, y: Out<N>) {
    for i in 0..N {
        y[i] = x[s[i]];
    }
}

fn main() {}
