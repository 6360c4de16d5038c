//! Graphs: results, submission policies, and that what is counted is what was planned.

use crate::device;
use crate::saxpy::{decls, op, program, random, with_workgroup_memory};
use std::sync::Arc;
use tilewright_codegen::program::Count;
use tilewright_runtime::{
    AdapterChoice, BufferId, Buffers, Compiling, Device, Executor, Graph, Params, Read, Submission, plan,
};

const ROW: u32 = 100;

const POLICIES: [Submission; 4] =
    [Submission::PerOp { wait: true }, Submission::PerOp { wait: false }, Submission::PerLayer, Submission::PerToken];

fn params(t: u32) -> Params {
    Params::from([("t".to_string(), t)])
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Seven ops in three groups over two rows, the coefficients of the ops.
fn graph(submission: Submission, max_dispatches: Option<u32>) -> (Graph, Vec<f32>) {
    let program = Arc::new(program(ROW, 2));
    let coefficients = vec![0.5, -1.25, 2.0, 0.125, -0.75, 1.5, 3.0];
    let groups = [0, 0, 1, 1, 1, 2, 2];
    let ops = coefficients.iter().zip(groups).map(|(a, group)| op(&program, group, *a)).collect();
    (Graph { buffers: decls(ROW, 2), ops, submission, max_dispatches }, coefficients)
}

fn read_rows() -> [Read; 2] {
    [1, 3].map(|id| Read { buffer: BufferId(id), offset: 0, bytes: u64::from(ROW) * 4 })
}

#[test]
fn every_policy_computes_the_same_and_counts_what_was_planned() {
    let inputs: Vec<_> = (0..4).map(|i| random(i, ROW as usize)).collect();
    for policy in POLICIES {
        for max_dispatches in [None, Some(3)] {
            for t in [ROW, 33, 1, 0] {
                let (graph, coefficients) = graph(policy, max_dispatches);
                let buffers = Arc::new(Buffers::allocate(device(), &graph.buffers).unwrap());
                for (i, values) in inputs.iter().enumerate() {
                    buffers.write(BufferId(i), 0, &bytes(values)).unwrap();
                }
                let planned = plan::counters(&graph, &params(t), &read_rows()).unwrap();
                let mut executor = Executor::new(device(), graph, buffers).unwrap();
                let rows = executor.step(&params(t), &read_rows()).unwrap();
                assert_eq!(executor.counted(), planned, "{policy:?}, {max_dispatches:?}, t = {t}");
                for (row, got) in rows.iter().enumerate() {
                    let (x, y) = (&inputs[2 * row], &inputs[2 * row + 1]);
                    check(&floats(got), x, y, &coefficients, t as usize);
                }
            }
        }
    }
}

/// The first `t` elements are sums within f32 rounding of seven steps, the rest are as they were.
fn check(got: &[f32], x: &[f32], y: &[f32], coefficients: &[f32], t: usize) {
    let sum: f64 = coefficients.iter().map(|a| f64::from(*a)).sum();
    for i in 0..y.len() {
        if i < t {
            let expected = f64::from(y[i]) + sum * f64::from(x[i]);
            assert!((f64::from(got[i]) - expected).abs() < 1e-5, "element {i} of {t}: {} is not {expected}", got[i]);
        } else {
            assert_eq!(got[i].to_bits(), y[i].to_bits(), "element {i} is past {t}");
        }
    }
}

#[test]
fn plans_count_dispatches_submits_waits_and_bytes() {
    let row = u64::from(ROW) * 4;
    let cases = [
        (Submission::PerOp { wait: true }, None, 7, 7),
        (Submission::PerOp { wait: false }, None, 7, 1),
        (Submission::PerLayer, None, 3, 1),
        (Submission::PerToken, None, 1, 1),
        // Groups of 4, 6 and 4 dispatches in pieces of at most 3.
        (Submission::PerLayer, Some(3), 6, 1),
        (Submission::PerToken, Some(3), 5, 1),
    ];
    for (policy, max_dispatches, submits, waits) in cases {
        let (graph, _) = graph(policy, max_dispatches);
        let counted = plan::counters(&graph, &params(ROW), &read_rows()).unwrap();
        assert_eq!((counted.dispatches, counted.submits, counted.waits), (14, submits, waits), "{policy:?}");
        assert_eq!((counted.bytes_read, counted.bytes_written), (14 * row, 14 * row));
        assert_eq!(counted.readback_bytes, 2 * row);
    }
    let (graph, _) = graph(Submission::PerToken, None);
    let nothing = plan::counters(&graph, &params(0), &read_rows()).unwrap();
    assert_eq!((nothing.dispatches, nothing.submits, nothing.bytes_read), (0, 1, 0), "only the reads are left");
}

#[test]
fn an_op_may_state_its_own_traffic() {
    let (mut graph, _) = graph(Submission::PerToken, None);
    graph.ops.truncate(1);
    graph.ops[0].reads = Some(Count::Mul(Box::new(Count::Param("n".into())), Box::new(Count::Const(2))));
    graph.ops[0].writes = Some(Count::Param("n".into()));
    let counted = plan::counters(&graph, &params(10), &[]).unwrap();
    assert_eq!((counted.dispatches, counted.bytes_read, counted.bytes_written), (2, 80, 40));
}

#[test]
fn equal_groups_of_a_plan_are_printed_once() {
    let (graph, _) = graph(Submission::PerLayer, None);
    let text = plan::text(&graph, &params(ROW), &read_rows()[..1]).unwrap();
    let line = "  saxpy            saxpy[lanes]                     4 + 4            x0, x1 -> y0, y1\n";
    let expected = [
        "14 dispatches, 3 submits, 1 wait; 5,600 bytes read, 5,600 written, 400 read back\n",
        "submitted group by group; parameters t = 100\n",
        &format!("group 0\n{}", line.repeat(2)),
        &format!("group 1\n{}", line.repeat(3)),
        &format!("group 2\n{}", line.repeat(2)),
        "read back 400 bytes of y0 at 0\n",
    ];
    assert_eq!(text, expected.concat());

    let mut even = graph;
    even.ops.remove(2);
    let text = plan::text(&even, &params(ROW), &[]).unwrap();
    assert!(text.contains(&format!("groups 0 to 2, each\n{}", line.repeat(2))), "{text}");
}

#[test]
fn steps_see_what_the_host_wrote_between_them() {
    let program = Arc::new(program(ROW, 1));
    let graph = Graph {
        buffers: decls(ROW, 1),
        ops: vec![op(&program, 0, 1.0)],
        submission: Submission::PerToken,
        max_dispatches: None,
    };
    let buffers = Arc::new(Buffers::allocate(device(), &graph.buffers).unwrap());
    let mut executor = Executor::new(device(), graph, Arc::clone(&buffers)).unwrap();
    for step in 1..=3 {
        buffers.write(BufferId(0), 0, &bytes(&[step as f32; ROW as usize])).unwrap();
        assert_eq!(executor.step(&params(ROW), &[]).unwrap(), Vec::<Vec<u8>>::new());
    }
    let sums = buffers.read(BufferId(1), 4, 8).unwrap();
    assert_eq!(floats(&sums), [6.0, 6.0], "1 + 2 + 3, from zeros");
}

#[test]
fn uploads_of_many_pieces_arrive_whole() {
    let bytes = (37 << 20) + 12;
    let decl = tilewright_runtime::BufferDecl { name: "w".into(), bytes, role: tilewright_runtime::Role::Weight };
    let buffers = Buffers::allocate(device(), &[decl.clone(), decl]).unwrap();
    let mut uploader = buffers.uploader();
    let sent: Vec<Vec<u8>> =
        (0..2).map(|seed| random(seed, bytes as usize / 4).iter().flat_map(|v| v.to_le_bytes()).collect()).collect();
    for (i, data) in sent.iter().enumerate() {
        let (head, tail) = data.split_at(20 << 20);
        uploader.write(BufferId(i), 20 << 20, tail).unwrap();
        uploader.write(BufferId(i), 0, head).unwrap();
    }
    uploader.finish().unwrap();
    for (i, data) in sent.iter().enumerate() {
        assert!(buffers.read(BufferId(i), 0, bytes).unwrap() == *data, "buffer {i} differs");
    }
}

#[test]
fn compiling_tells_of_each_text_once() {
    let device = Device::open(&AdapterChoice::Best, None).unwrap();
    let (mut graph, _) = graph(Submission::PerToken, None);
    graph.ops.push(op(&Arc::new(with_workgroup_memory(ROW, 1024)), 3, 1.0));
    let told = |graphs: &[Graph]| {
        let mut told = Vec::new();
        let mut progress =
            |c: Compiling<'_>| told.push(format!("{}/{} {} of {}", c.kernel, c.schedule, c.number, c.count));
        device.compile(&graphs.iter().collect::<Vec<_>>(), &mut progress).unwrap();
        told
    };
    // Two texts, whatever the number of parts, ops and graphs.
    assert_eq!(told(&[graph.clone(), graph.clone()]), ["saxpy/lanes 1 of 2", "saxpy/lanes 2 of 2"]);
    assert_eq!(told(&[graph]), [""; 0], "they are ready");
}
