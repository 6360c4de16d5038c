//! What a plan's memory is for, beyond the role of each buffer.
//!
//! The rule: it is read off the declarations. Absent: what runs.

use tilewright_runtime::plan::MemoryPlan;
use tilewright_runtime::{Role, Size};

use super::Plan;

/// Activations that one kernel of attention leaves for another.
const BETWEEN: [&str; 7] = ["scores", "weights", "top", "total", "part max", "part weight", "part value"];

impl Plan {
    /// Bytes of activations that kernels of attention pass on to each other.
    pub fn between(&self) -> u64 {
        self.kept().map(|(_, bytes)| bytes).sum()
    }

    fn kept(&self) -> impl Iterator<Item = (&str, u64)> {
        let kept = |name: &str| BETWEEN.contains(&name);
        self.buffers().iter().filter(move |b| b.role == Role::Activation && kept(&b.name)).map(|b| (&*b.name, b.bytes))
    }

    /// Bytes by role, and what a variant of attention keeps where one was asked for.
    pub(super) fn memory_text(&self, memory: &MemoryPlan) -> String {
        let Some(asked) = self.asked else { return memory.to_string() };
        let names: Vec<String> = self.kept().map(|(name, bytes)| format!("`{name}` {}", Size(bytes))).collect();
        let names = if names.is_empty() { "nothing".into() } else { names.join(", ") };
        format!("{memory}\nattention  {asked}: {} of activations between its kernels: {names}", Size(self.between()))
    }
}
