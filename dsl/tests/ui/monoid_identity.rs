use tilewright_dsl::monoid;

#[monoid]
impl Mean {
    const IDENTITY: Self = Self { total: 0.0 - q, count: 0.0 };
    fn merge(a: Self, b: Self) -> Self {
        Self { total: a.total + b.total, count: a.count + b.count }
    }
}

fn main() {}
