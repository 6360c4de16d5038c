//! Kernels beside each other whose grid axes are their own: how many workgroups there are, and what each of them does.
#![allow(missing_docs, reason = "a test")]

use std::collections::BTreeMap;
use tilewright_codegen::compile;
use tilewright_codegen::fuse::beside;
use tilewright_codegen::interp::run;
use tilewright_codegen::program::Program;
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_dsl::ir::Kernel;
use tilewright_dsl::kernel;
use tilewright_dsl::schedule::Schedule;

#[kernel]
fn doubled(x: Tensor<T, N>, y: Out<T, N>) {
    for t in 0..T {
        for i in 0..N {
            y[t][i] = 2.0 * x[t][i];
        }
    }
}

/// Two or three of them in one grid.
fn together(parts: &[&str]) -> Kernel {
    let parts: Vec<_> = parts.iter().map(|p| (*p, doubled())).collect();
    let parts: Vec<_> = parts.iter().map(|(p, k)| (*p, k)).collect();
    beside("together", &parts, &["t", "T"]).expect("they share their outermost axis")
}

/// `together`, each part by its own levels; T is known at run time where `capacity` is not 0.
fn program(levels: &[(&str, &str, u32)], rows: u32, capacity: u32, most: u32) -> Program {
    let kernel = together(&levels.iter().map(|(part, ..)| *part).collect::<Vec<_>>());
    let lines: String = levels.iter().map(|(part, levels, _)| format!("{part}.i: {levels};")).collect();
    let schedule: Schedule = format!("schedule own for together {{ t: grid; {lines} }}").parse().expect("a schedule");
    let shape = if capacity > 0 { Shape::new().param("T", capacity) } else { Shape::new().fixed("T", rows) };
    let shape = levels.iter().fold(shape, |s, (part, _, n)| s.fixed(&format!("{part}.N"), *n));
    let target = Target { max_workgroups: most, ..Target::webgpu() };
    compile(&kernel, &schedule, &shape, &target).unwrap_or_else(|e| panic!("{e}"))
}

fn dispatch(program: &Program, rows: u32) -> [u32; 2] {
    let params = BTreeMap::from([("T".to_string(), rows)]);
    assert_eq!(program.shaders.len(), 1, "one grid is one dispatch");
    program.shaders[0].dispatch.clone().map(|count| count.eval(&params).expect("a size"))
}

/// Runs the workgroups, and asks that each element of the `rows` rows was stored once, nothing else, and is right.
fn stores_each_once(program: &Program, rows: u32, workgroups: [u32; 2]) {
    let loops = &program.shaders[0].loops;
    let layout = |tensor: &str| program.tensors.iter().find(|t| t.name == tensor).expect("a binding has a tensor");
    let words = |tensor: &str| layout(tensor).dims[0] * layout(tensor).stride;
    let value = |word: u32| (word % 1021 + 1) as f32;
    let mut buffers: Vec<Vec<u32>> =
        loops.buffers.iter().map(|b| (0..words(&b.tensor)).map(|w| value(w).to_bits()).collect()).collect();
    let given: Vec<u32> = loops.params.iter().map(|_| rows).collect();
    let seen = run(loops, workgroups, &given, &mut buffers, 4).unwrap_or_else(|e| panic!("{e}"));
    let outputs = loops.buffers.iter().enumerate().filter(|(_, b)| b.tensor.ends_with(".y"));
    for (i, buffer) in outputs {
        let layout = layout(&buffer.tensor);
        for (word, (stored, found)) in (0u32..).zip(seen.written[i].iter().zip(&buffers[i])) {
            let inside = word / layout.stride < rows && word % layout.stride < layout.dims[1];
            assert_eq!(*stored, u8::from(inside), "stores of word {word} of `{}`", buffer.tensor);
            let right = if inside { 2.0 * value(word) } else { value(word) };
            assert_eq!(f32::from_bits(*found), right, "word {word} of `{}`", buffer.tensor);
        }
    }
}

#[test]
fn workgroups_are_the_sum_of_the_branches() {
    let levels = [("a", "grid, lanes(4)", 9), ("b", "grid, lanes(8), unroll(2)", 33), ("c", "serial, lanes(8)", 5)];
    for rows in [1, 3] {
        // ⌈9 / 4⌉ + ⌈33 / 16⌉ + 1 for each row.
        let fixed = program(&levels, rows, 0, 65_535);
        assert_eq!(dispatch(&fixed, rows), [rows * 7, 1]);
        stores_each_once(&fixed, rows, [rows * 7, 1]);
        let at_run_time = program(&levels, rows, 8, 65_535);
        assert_eq!(dispatch(&at_run_time, rows), [rows * 7, 1]);
        stores_each_once(&at_run_time, rows, [rows * 7, 1]);
    }
}

#[test]
fn workgroups_beyond_the_last_branch_do_nothing() {
    let levels = [("a", "grid, lanes(4)", 9), ("b", "grid", 7)];
    for capacity in [0, 4] {
        // Ten workgroups a row, and eight along a dimension: two rows of workgroups are folded to eight by three.
        let folded = program(&levels, 2, capacity, 8);
        let [x, y] = dispatch(&folded, 2);
        assert!(x <= 8 && y <= 8 && x * y >= 20, "{x} by {y}");
        stores_each_once(&folded, 2, [x, y]);
        stores_each_once(&folded, 2, [x, y + 2]);
        let flat = program(&levels, 2, capacity, 65_535);
        stores_each_once(&flat, 2, [25, 1]);
    }
}

#[test]
fn a_grid_over_the_limit_of_a_dimension_is_folded() {
    let levels = [("a", "grid", 40_001), ("b", "grid, lanes(2)", 60_003)];
    for capacity in [0, 2] {
        let large = program(&levels, 1, capacity, 65_535);
        let [x, y] = dispatch(&large, 1);
        let asked = 40_001 + 30_002;
        assert!(x <= 65_535 && (2..=65_535).contains(&y), "{x} by {y}");
        assert!(x * y >= asked && x * (y - 1) < asked, "{x} by {y} for {asked}");
        stores_each_once(&large, 1, [x, y]);
    }
}
