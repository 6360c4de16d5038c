use tilewright_dsl::kernel;

#[kernel]
fn scale(x: InOut<N>) {
    for i in 0..N {
        x[i] = x[N - 1 - i];
    }
}

fn main() {}
