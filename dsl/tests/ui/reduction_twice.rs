use tilewright_dsl::kernel;

#[kernel]
fn scale(x: Tensor<N, N>, y: Out<N>) {
    for i in 0..N {
        let a = |r| sum(0..N, |j| x[r][j]);
        y[i] = a[i] + a[0];
    }
}

fn main() {}
