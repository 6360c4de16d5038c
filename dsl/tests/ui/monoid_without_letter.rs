use tilewright_dsl::monoid;

#[monoid]
impl Mean {
    const IDENTITY: Self = Self { total: 0.0, each: |c| 0.0 };
    fn merge(a: Self, b: Self) -> Self {
        Self { total: a.total + b.total, each: |c| a.each[c] + b.each[c] }
    }
}

fn main() {}
