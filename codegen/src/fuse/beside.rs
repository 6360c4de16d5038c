//! Kernels laid beside each other in one grid, and inputs that are one tensor.
//!
//! Both renumber what is there and add nothing: equal loads become one, every axis keeps its own levels.

use super::FuseError;
use super::arena::{Maps, compact, copy, empty, place, statements};
use std::collections::HashMap;
use tilewright_dsl::ir::{AxisId, ExtentId, Kernel, Let, MonoidId, Role, ScalarId, Stmt, TensorId};

/// Lays kernels beside each other: one body under their common outermost axis. What is named in `shared` (that axis,
/// extents, inputs, scalars) is the same thing in all of them; every other name gets its kernel's prefix.
///
/// # Errors
/// [`FuseError::NotBeside`] where a body is not one loop over the common axis, where shared things differ, or where an output
/// is shared.
pub fn beside(name: &str, parts: &[(&str, &Kernel)], shared: &[&str]) -> Result<Kernel, FuseError> {
    let mut new = empty(name, parts.iter().map(|(_, k)| k.name.as_str()).collect::<Vec<_>>().join(" beside "));
    let mut arena = HashMap::new();
    let mut inner = Vec::new();
    let mut outermost = None;
    for (prefix, kernel) in parts {
        let refuse = |why: &str| FuseError::NotBeside { kernel: kernel.name.clone(), why: why.into() };
        let full = |n: &str| if shared.contains(&n) { n.to_string() } else { format!("{prefix}.{n}") };
        let [Stmt::For(first, body)] = &kernel.body[..] else {
            return Err(refuse("its body is not one loop"));
        };
        let axis = &kernel.axis(*first).name;
        if !shared.contains(&axis.as_str()) {
            return Err(refuse(&format!("its outermost axis `{axis}` is not shared")));
        }
        let mut maps = Maps::default();
        for e in &kernel.extents {
            maps.extents.push(ExtentId(place(&mut new.extents, full(e), |a, b| a == b)));
        }
        for t in &kernel.tensors {
            let mut moved = t.clone();
            moved.name = full(&t.name);
            moved.dims = t.dims.iter().map(|d| maps.extents[d.0 as usize]).collect();
            let known = new.tensors.iter().position(|n| n.name == moved.name);
            if known.is_some_and(|i| new.tensors[i] != moved || t.role != Role::In) {
                return Err(refuse(&format!("the shared tensor `{}` is written, or has another shape", t.name)));
            }
            maps.tensors.push(TensorId(known.unwrap_or(new.tensors.len()) as u32));
            if known.is_none() {
                new.tensors.push(moved);
            }
        }
        for s in &kernel.scalars {
            let mut moved = s.clone();
            moved.name = full(&s.name);
            maps.scalars.push(ScalarId(place(&mut new.scalars, moved, |a, b| a == b)));
        }
        for m in &kernel.monoids {
            maps.monoids.push(MonoidId(place(&mut new.monoids, m.clone(), |a, b| a == b)));
        }
        let open = new.axes.len() as u32;
        maps.axes = (0..kernel.axes.len() as u32).map(|a| AxisId(open + a)).collect();
        let here = maps.axes[first.0 as usize];
        let there = *outermost.get_or_insert(here);
        maps.axes[first.0 as usize] = there;
        maps.exprs = copy(kernel, &mut new, &mut arena, &maps);
        for axis in &kernel.axes {
            let mut moved = axis.clone();
            moved.name = full(&axis.name);
            moved.lo = maps.exprs[axis.lo.0 as usize];
            moved.hi = maps.exprs[axis.hi.0 as usize];
            new.axes.push(moved);
        }
        for id in &kernel.asserts {
            let moved = maps.exprs[id.0 as usize];
            place(&mut new.asserts, moved, |a, b| a == b);
        }
        for l in &kernel.lets {
            new.lets.push(Let { name: full(&l.name), value: maps.exprs[l.value.0 as usize] });
        }
        let (own, common) = (new.axis(here), new.axis(there));
        if (own.lo, own.hi) != (common.lo, common.hi) {
            return Err(refuse(&format!("its axis `{}` has other bounds", own.name)));
        }
        inner.extend(statements(body, &maps));
    }
    let Some(outermost) = outermost else {
        return Err(FuseError::NotBeside { kernel: name.into(), why: "it has no parts".into() });
    };
    new.body = vec![Stmt::For(outermost, inner)];
    Ok(compact(&new))
}

/// Makes several inputs of a kernel one tensor with a name of its own; loads of the same element become one.
///
/// # Errors
/// [`FuseError::NotBeside`] where one of the names is no input, or where their ranks or types differ.
pub fn share(kernel: &Kernel, inputs: &[&str], name: &str) -> Result<Kernel, FuseError> {
    let refuse = |why: String| FuseError::NotBeside { kernel: kernel.name.clone(), why };
    let mut found = Vec::new();
    for input in inputs {
        let id = kernel.tensor_named(input).filter(|t| kernel.tensor(*t).role == Role::In);
        found.push(id.ok_or_else(|| refuse(format!("it has no input `{input}`")))?);
    }
    let Some(first) = found.first().copied() else { return Err(refuse("no inputs are named".into())) };
    let mut new = kernel.clone();
    let mut maps = Maps::same(kernel);
    for other in &found[1..] {
        let (a, b) = (kernel.tensor(first), kernel.tensor(*other));
        if a.elem != b.elem || a.dims.len() != b.dims.len() {
            return Err(refuse(format!("`{}` and `{}` have other ranks or types", a.name, b.name)));
        }
        maps.tensors[other.0 as usize] = first;
        for (one, two) in a.dims.iter().zip(&b.dims) {
            let one = maps.extents[one.0 as usize];
            maps.extents[two.0 as usize] = one;
        }
    }
    new.tensors[first.0 as usize].name = name.into();
    for t in &mut new.tensors {
        t.dims.iter_mut().for_each(|d| *d = maps.extents[d.0 as usize]);
    }
    (new.exprs, new.types) = (vec![], vec![]);
    maps.exprs = copy(kernel, &mut new, &mut HashMap::new(), &maps);
    for (axis, old) in new.axes.iter_mut().zip(&kernel.axes) {
        (axis.lo, axis.hi) = (maps.exprs[old.lo.0 as usize], maps.exprs[old.hi.0 as usize]);
    }
    for (l, old) in new.lets.iter_mut().zip(&kernel.lets) {
        l.value = maps.exprs[old.value.0 as usize];
    }
    new.asserts = kernel.asserts.iter().map(|id| maps.exprs[id.0 as usize]).collect();
    new.body = statements(&kernel.body, &maps);
    Ok(compact(&new))
}
