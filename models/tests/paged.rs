//! Kernels behind a table of pages are their texts, and a wrong table does not go unnoticed.

use std::collections::BTreeMap;

use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::Kernel;
use tilewright_models::kernels::{self, attention::attention, kv_append::kv_append, paged::CACHES, paged::paged};

const PAGE: usize = 16;
const POSITIONS: usize = 70;
const WIDTH: usize = 2 * 6;

type Tensors = BTreeMap<String, Data>;

fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn run(kernel: &Kernel, tensors: Tensors) -> Tensors {
    let rows = [("T", 3), ("H", 4), ("G", 2), ("D", 6), ("P", 80), ("S", 2), ("Pages", 5), ("Rows", 96)];
    let extents = rows.map(|(n, v)| (n.to_string(), v)).into();
    let scalars = [("pos", Value::U32(POSITIONS as u32 - 3)), ("from", Value::U32(0)), ("scale", Value::F32(0.4))];
    let mut tensors = tensors;
    eval(kernel, &extents, &scalars.map(|(n, v)| (n.to_string(), v)).into(), &mut tensors).unwrap();
    tensors
}

fn floats<'t>(tensors: &'t Tensors, name: &str) -> &'t [f32] {
    match &tensors[name] {
        Data::F32(values) => values,
        Data::U32(_) => panic!("`{name}` holds integers"),
    }
}

/// Rows as a table places them in a pool of six pages.
fn placed(rows: &[f32], table: &[u32]) -> Vec<f32> {
    let mut pool = numbers(96 * WIDTH, 99);
    for (position, row) in rows.chunks_exact(WIDTH).take(POSITIONS).enumerate() {
        let at = table[position / PAGE] as usize * PAGE + position % PAGE;
        pool[at * WIDTH..][..WIDTH].copy_from_slice(row);
    }
    pool
}

fn mixed(table: &[u32], seen: &[u32]) -> (Vec<f32>, Vec<f32>) {
    let (q, k, v) = (numbers(3 * 4 * 6, 1), numbers(80 * WIDTH, 2), numbers(80 * WIDTH, 3));
    let own = [("q", &q), ("k", &k), ("v", &v)].map(|(n, x)| (n.to_string(), Data::F32(x.clone())));
    let mut contiguous: Tensors = own.into();
    contiguous.insert("y".into(), Data::F32(vec![0.0; q.len()]));
    let mut pooled = contiguous.clone();
    pooled.insert("k".into(), Data::F32(placed(&k, table)));
    pooled.insert("v".into(), Data::F32(placed(&v, table)));
    pooled.insert("table".into(), Data::U32(seen.to_vec()));
    let kernel = paged(&attention()).unwrap().unwrap();
    let (one, other) = (run(&attention(), contiguous), run(&kernel, pooled));
    (floats(&one, "y").to_vec(), floats(&other, "y").to_vec())
}

#[test]
fn attention_by_a_table_has_the_same_bits() {
    for table in [[0, 1, 2, 3, 4], [5, 0, 3, 1, 2]] {
        let (row, pages) = mixed(&table, &table);
        assert_eq!(row, pages);
    }
}

#[test]
fn a_wrong_entry_is_seen() {
    let table = [5, 0, 3, 1, 2];
    for at in 0..5 {
        let mut wrong = table;
        wrong[at] = 4;
        let (row, pages) = mixed(&table, &wrong);
        assert_ne!(row, pages, "entry {at}");
    }
}

/// New rows go where the table says; where two entries are one page, rows are lost.
#[test]
fn rows_are_appended_by_a_table() {
    let x = numbers(3 * WIDTH, 5);
    let append = |table: [u32; 5]| {
        let mut tensors: Tensors = [("x".to_string(), Data::F32(x.clone()))].into();
        tensors.insert("cache".into(), Data::F32(vec![0.0; 96 * WIDTH]));
        tensors.insert("table".into(), Data::U32(table.to_vec()));
        floats(&run(&paged(&kv_append()).unwrap().unwrap(), tensors), "cache").to_vec()
    };
    let cache = append([5, 0, 3, 1, 2]);
    for (t, row) in x.chunks_exact(WIDTH).enumerate() {
        let at = 2 * PAGE + (POSITIONS - 3 + t) % PAGE;
        assert_eq!(&cache[at * WIDTH..][..WIDTH], row);
    }
    assert_eq!(cache.iter().filter(|x| **x != 0.0).count(), x.len());
    assert_ne!(append([5, 0, 3, 1, 4]), cache);
}

/// Every kernel that a model gives its cache is one of the list.
#[test]
fn the_list_knows_every_kernel_of_the_cache() {
    for (name, tensors) in CACHES {
        let kernel = kernels::named(name).unwrap_or_else(|| panic!("no kernel `{name}`")).kernel;
        let paged = paged(&kernel).unwrap().unwrap();
        assert_eq!(paged.tensors.len(), kernel.tensors.len() + 1);
        assert!(tensors.iter().all(|t| kernel.tensor_named(t).is_some()));
    }
    assert!(paged(&kernels::named("linear").unwrap().kernel).unwrap().is_none());
}
