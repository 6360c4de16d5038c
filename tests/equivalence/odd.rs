//! Schedules that nobody ships and that are legal: values held in workgroup memory along axes with vectors, and arrays that are
//! read along other levels than they were made by; folds over lanes that lie apart, by subgroups of every size.

use tilewright_dsl::ir::Kernel;
use tilewright_dsl::schedule::{Schedule, parse_file};
use tilewright_models::kernels;

const TEXT: &str = "
schedule held_pairs for rope_append { q.p: serial as po, vector(2); compute q.one at po: workgroup; }
schedule held_value for silu { t: grid; i: serial as io, lanes(4), vector(4); compute v at io: workgroup; }
schedule held_two for rope { p: serial as po, vector(4); compute two at po: workgroup; }
schedule columns_apart for attention { t: grid; h: grid; c: lanes(32), unroll(2); }
schedule columns_of_16 for attention { t: grid; h: grid; softmax.c: serial; c: serial, lanes(16); }
schedule columns_on_grid for attention { t: grid; h: grid; c: grid; }
schedule columns_in_steps for attention { t: grid; h: grid; softmax.c: serial, serial(4); c: serial, unroll(3); }
schedule lanes_apart for linear { k: serial, lanes(16); r: grid, lanes(4); t: grid, lanes(2); fold k: subgroup; }
schedule lanes_far_apart for linear { t: grid, lanes(2); k: serial, lanes(4); r: grid, lanes(32); fold k: subgroup; }
schedule octets_near for attention {
    t: grid;
    h: grid;
    j: serial, lanes(32);
    softmax.c: lanes(8), vector(8);
    c: lanes(8), vector(8);
    d: lanes(8), vector(8);
    fold d: subgroup;
    fold j: subgroup;
}
";

/// Kernels of the cache behind a table of pages, by schedules that walk along positions in every way.
pub fn paged() -> Vec<(Kernel, Schedule)> {
    let named = [
        ("kv_append", &["naive", "pairs"][..]),
        ("attention_values", &["naive"]),
        ("attention", &["naive", "columns", "grouped", "tree", "fours"]),
    ];
    let mut all = Vec::new();
    for (name, schedules) in named {
        let entry = kernels::named(name).expect("a kernel of the cache");
        let paged = kernels::paged::paged(&entry.kernel).expect("it has the tensors").expect("it is one of the cache");
        let kernel = Kernel { name: format!("{name}_paged"), ..paged };
        for schedule in entry.schedules.into_iter().filter(|s| schedules.contains(&s.name.as_str())) {
            all.push((kernel.clone(), Schedule { kernel: kernel.name.clone(), ..schedule }));
        }
    }
    all
}

/// Each with its kernel.
pub fn schedules() -> Vec<(Kernel, Schedule)> {
    let all = parse_file("odd", TEXT).expect("the schedules can be read");
    all.into_iter().map(|s| (kernels::named(&s.kernel).expect("a kernel of the model").kernel, s)).collect()
}
