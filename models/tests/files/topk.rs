//! The best logits and the penalty, as the texts of their kernels mean them, against a sort and a set.

use std::collections::BTreeMap;

use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_dsl::ir::{Kernel, LOWEST, Type};
use tilewright_models::kernels::{penalty, topk};

/// Runs a kernel; what it writes begins as zeros.
fn run(
    kernel: &Kernel,
    extents: &[(&str, usize)],
    scalars: &[(&str, Value)],
    inputs: &[(&str, &Data)],
) -> BTreeMap<String, Data> {
    let extents: BTreeMap<String, u32> = extents.iter().map(|(n, v)| (n.to_string(), *v as u32)).collect();
    let scalars = scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let mut tensors: BTreeMap<String, Data> = kernel
        .tensors
        .iter()
        .map(|t| {
            let count = t.dims.iter().map(|d| extents[&kernel.extents[d.0 as usize]] as usize).product();
            let zeros = if t.elem == Type::U32 { Data::U32(vec![0; count]) } else { Data::F32(vec![0.0; count]) };
            let given = inputs.iter().find(|(name, _)| *name == t.name).map(|(_, data)| (*data).clone());
            (t.name.clone(), given.unwrap_or(zeros))
        })
        .collect();
    eval(kernel, &extents, &scalars, &mut tensors).unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
    tensors
}

/// What the kernels make of a row, one after the other: the words that a host gets.
fn pairs(logits: &[f32], k: usize, limit: usize) -> Vec<u32> {
    let (v, n) = (logits.len(), logits.len().div_ceil(topk::CHUNK as usize));
    let (f, c) = (k.min(n), topk::CHUNK as usize);
    let x = Data::F32(logits.to_vec());
    let end = [("limit", Value::U32(limit as u32))];
    let chunks = run(&topk::topk_chunks(), &[("T", 1), ("V", v), ("N", n)], &end, &[("x", &x)]);
    let rank = |x: &Data, id: &Data, m: usize| {
        run(&topk::topk_rank(), &[("T", 1), ("M", m)], &[], &[("x", x), ("id", id)]).remove("rank").unwrap()
    };
    let order = rank(&chunks["best"], &chunks["index"], n);
    let sizes = [("T", 1), ("V", v), ("N", n), ("F", f), ("C", c)];
    let found = run(&topk::topk_values(), &sizes, &end, &[("x", &x), ("rank", &order)]);
    let order = rank(&found["value"], &found["id"], f * c);
    let inputs = [("x", &found["value"]), ("id", &found["id"]), ("rank", &order)];
    let first = run(&topk::topk_first(), &[("T", 1), ("M", f * c), ("K", k)], &[], &inputs);
    let mut inputs = vec![("value", &first["value"]), ("token", &first["token"])];
    inputs.extend(["best", "index", "weight"].map(|name| (name, &chunks[name])));
    let sizes = [("T", 1), ("K", k), ("N", n), ("W", 2 * k + 3)];
    match run(&topk::topk_pairs(), &sizes, &[], &inputs).remove("y") {
        Some(Data::U32(words)) => words,
        other => panic!("{other:?}"),
    }
}

/// Random logits; with `levels`, of so many values alone.
fn random(count: usize, seed: u64, levels: Option<u64>) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 20
    };
    let value = |n: u64| match levels {
        Some(levels) => (n % levels) as f32 - 1.0,
        None => (n % 20_000_003) as f32 / 1e6 - 10.0,
    };
    (0..count).map(|_| value(next())).collect()
}

#[test]
fn the_best_are_those_of_a_sort() {
    let sizes =
        [(1, 8, 1), (7, 8, 7), (7, 8, 3), (64, 8, 60), (65, 8, 65), (130, 64, 121), (517, 16, 517), (1000, 128, 999)];
    for (v, k, limit) in sizes {
        let mut low = random(v, 5, None);
        low.iter_mut().step_by(2).for_each(|x| *x = LOWEST);
        let mut last = random(v, 6, None);
        *last.last_mut().unwrap() = 50.0;
        let kinds = [random(v, 1, None), random(v, 2, Some(4)), vec![0.25; v], vec![LOWEST; v], low, last];
        for (kind, logits) in kinds.iter().enumerate() {
            let words = pairs(logits, k, limit);
            let mut sorted: Vec<(u32, f32)> = (0..limit as u32).map(|id| (id, logits[id as usize])).collect();
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            for (i, (id, value)) in sorted.iter().take(k).enumerate() {
                let found = (words[k + i], f32::from_bits(words[i]));
                assert_eq!(found, (*id, *value), "place {i} of {k} from {limit} of {v}, kind {kind}");
            }
            assert!(words[k + limit.min(k)..2 * k].iter().all(|id| *id as usize >= limit), "no others");
            let max = sorted[0].1;
            let sum: f64 = sorted.iter().map(|(_, x)| f64::from(x - max).exp()).sum();
            assert_eq!((f32::from_bits(words[2 * k]), words[2 * k + 2]), (max, 0));
            assert!((f64::from(f32::from_bits(words[2 * k + 1])) - sum).abs() < 1e-5 * sum, "kind {kind}");
        }
    }
}

#[test]
fn one_that_is_not_finite_is_told() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 63, 64, 99] {
            let mut logits = random(100, 3, None);
            logits[at] = bad;
            assert_eq!(pairs(&logits, 8, 100)[18], u32::MAX, "{bad} at {at}");
            // What lies beyond the limit is not looked at.
            assert_eq!(pairs(&logits, 8, at.max(1))[18], if at == 0 { u32::MAX } else { 0 });
        }
    }
}

/// Steps of several ids and of one, and others that take the place of what was cut off.
#[test]
fn the_penalty_knows_the_sequence_as_it_is() {
    const V: usize = 30;
    let steps: [(usize, &[u32]); 8] = [
        (0, &[3, 7, 3, 29]),
        (4, &[11]),
        (5, &[3]),
        (6, &[12, 13]),
        // Back to position 5.
        (5, &[14]),
        (6, &[7]),
        // Another text.
        (0, &[1, 2]),
        (2, &[29]),
    ];
    let mut first = Data::U32(vec![17; V]);
    let mut sequence: Vec<u32> = Vec::new();
    let logits = random(V, 9, None);
    for (pos, ids) in steps {
        sequence.truncate(pos);
        sequence.extend(ids);
        let inputs = [("ids", &Data::U32(ids.to_vec())), ("first", &first)];
        let sizes = [("T", ids.len()), ("V", V)];
        first =
            run(&penalty::first_seen(), &sizes, &[("pos", Value::U32(pos as u32))], &inputs).remove("first").unwrap();
        let Data::U32(found) = &first else { panic!("{first:?}") };
        for (v, found) in found.iter().enumerate() {
            let place = sequence.iter().position(|id| *id as usize == v).map_or(u32::MAX, |at| at as u32);
            assert_eq!(*found, place, "token {v} of {sequence:?}");
        }
        let inputs = [("x", &Data::F32(logits.clone())), ("first", &first)];
        let less = run(&penalty::penalise(), &[("T", 1), ("V", V)], &[("penalty", Value::F32(1.3))], &inputs);
        let Data::F32(less) = &less["y"] else { panic!("{less:?}") };
        for (v, (less, x)) in less.iter().zip(&logits).enumerate() {
            let seen = sequence.contains(&(v as u32));
            assert_eq!(
                *less,
                if !seen {
                    *x
                } else if *x < 0.0 {
                    x * 1.3
                } else {
                    x / 1.3
                },
                "token {v}"
            );
        }
    }
}
