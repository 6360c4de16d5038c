//! What a program makes of random inputs, by the interpreter, held against what its kernel means.

use std::collections::BTreeMap;
use tilewright_codegen::interp::run;
use tilewright_codegen::program::{Program, TensorLayout};
use tilewright_codegen::shape::Shape;
use tilewright_codegen::target::Target;
use tilewright_codegen::{CompileError, compile};
use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::{Kernel, Role};
use tilewright_dsl::schedule::Schedule;

/// One run: extents (those that the shape leaves open too), scalars, and the tensors that matter; the others are zeros.
pub struct Case<'a> {
    pub extents: &'a [(&'a str, u32)],
    pub scalars: &'a [(&'a str, u32)],
    pub tensors: Vec<(&'a str, Data)>,
}

/// A kernel by a schedule's lines.
pub fn program(kernel: &Kernel, lines: &str, shape: &Shape) -> Result<Program, CompileError> {
    let schedule: Schedule = format!("schedule own for {} {{ {lines} }}", kernel.name).parse().expect("a schedule");
    compile(kernel, &schedule, shape, &Target::wide())
}

/// Runs a program, and asks that each tensor that the kernel writes is what the kernel means, to the last bit.
pub fn same(kernel: &Kernel, program: &Program, case: &Case) {
    let extents: BTreeMap<String, u32> = case.extents.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let scalars: BTreeMap<String, Value> = case.scalars.iter().map(|(n, v)| (n.to_string(), Value::U32(*v))).collect();
    let mut tensors: BTreeMap<String, Data> =
        case.tensors.iter().map(|(n, data)| (n.to_string(), data.clone())).collect();
    for t in &kernel.tensors {
        let n: u32 = t.dims.iter().map(|d| extents[&kernel.extents[d.0 as usize]]).product();
        let zeros = || {
            if t.elem == tilewright_dsl::ir::Type::U32 {
                Data::U32(vec![0; n as usize])
            } else {
                Data::F32(vec![0.0; n as usize])
            }
        };
        tensors.entry(t.name.clone()).or_insert_with(zeros);
    }
    let words: BTreeMap<String, Vec<u32>> = tensors.iter().map(|(n, data)| (n.clone(), words(data))).collect();
    eval(kernel, &extents, &scalars, &mut tensors).unwrap_or_else(|e| panic!("{e}"));
    let params: BTreeMap<String, u32> =
        case.extents.iter().chain(case.scalars).map(|(n, v)| (n.to_string(), *v)).collect();
    for shader in &program.shaders {
        let layout = |name: &str| program.tensors.iter().find(|t| t.name == name).expect("a binding has a tensor");
        let places = |name: &str| {
            let t = kernel.tensors.iter().find(|t| t.name == name).expect("a layout has a tensor");
            let dims: Vec<u32> = t.dims.iter().map(|d| extents[&kernel.extents[d.0 as usize]]).collect();
            places(layout(name), &dims)
        };
        let buffers = shader.loops.buffers.iter().map(|b| {
            let layout = layout(&b.tensor);
            let mut all =
                vec![0; (layout.dims[..layout.dims.len() - 1].iter().product::<u32>() * layout.stride) as usize];
            places(&b.tensor).into_iter().zip(&words[&b.tensor]).for_each(|(at, word)| all[at] = *word);
            all
        });
        let mut buffers: Vec<Vec<u32>> = buffers.collect();
        let given: Vec<u32> = shader.loops.params.iter().map(|p| params[&p.name]).collect();
        let dispatch = shader.dispatch.clone().map(|count| count.eval(&params).expect("a size"));
        run(&shader.loops, dispatch, &given, &mut buffers, 8).unwrap_or_else(|e| panic!("{e}\n{}", shader.wgsl));
        for (b, buffer) in shader.loops.buffers.iter().zip(&buffers) {
            if kernel.tensors.iter().any(|t| t.name == b.tensor && t.role == Role::In) {
                continue;
            }
            let found: Vec<u32> = places(&b.tensor).into_iter().map(|at| buffer[at]).collect();
            let want = self::words(&tensors[&b.tensor]);
            assert_eq!(found, want, "`{}` of `{}`\n{}", b.tensor, kernel.name, shader.wgsl);
        }
    }
}

fn words(data: &Data) -> Vec<u32> {
    match data {
        Data::U32(v) => v.clone(),
        Data::F32(v) => v.iter().map(|x| x.to_bits()).collect(),
    }
}

/// Where each element lies, in the order of the elements.
fn places(layout: &TensorLayout, dims: &[u32]) -> Vec<usize> {
    let mut rows = vec![0usize];
    for (d, n) in dims.iter().enumerate() {
        let below = if d + 1 == dims.len() { layout.stride } else { layout.dims[d] } as usize;
        rows = rows.iter().flat_map(|row| (0..*n as usize).map(move |i| row * below + i)).collect();
    }
    rows
}
