use tilewright_dsl::monoid;

#[monoid]
impl Mean {
    const IDENTITY: Self = Self { total: 0.0 };
}

fn main() {}
