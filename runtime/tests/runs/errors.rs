//! What a caller can do wrong, and what a device can do to it: each is a typed error, never a panic.

use crate::device;
use crate::saxpy::{WORKGROUP, decls, op, program, random, with_workgroup_memory};
use std::sync::Arc;
use tilewright_codegen::program::Program;
use tilewright_codegen::target::Target;
use tilewright_runtime::{
    AdapterChoice, AdapterKind, BufferDecl, BufferId, Buffers, Device, Executor, Graph, GraphFault, Params, Read, Role,
    RuntimeError, Submission, TargetSpec, plan,
};

fn graph(ops: Vec<tilewright_runtime::Op>) -> Graph {
    Graph { buffers: decls(64, 1), ops, submission: Submission::PerToken, max_dispatches: None }
}

fn fault(change: impl FnOnce(&mut Graph)) -> GraphFault {
    let mut graph = graph(vec![op(&Arc::new(program(64, 1)), 0, 1.0)]);
    change(&mut graph);
    match graph.check(device().target()) {
        Err(RuntimeError::Graph { op, fault }) if op == "saxpy" => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_graph_that_does_not_fit_its_programs_is_refused() {
    let (tensor, buffer) = ("y".to_string(), "y0".to_string());
    assert_eq!(
        fault(|g| g.ops[0].bindings.truncate(1)),
        GraphFault::Bindings { kernel: "saxpy".into(), expected: 2, found: 1 }
    );
    assert_eq!(
        fault(|g| g.ops[0].bindings[1].push(BufferId(0))),
        GraphFault::Parts { tensor: tensor.clone(), expected: 1, found: 2 }
    );
    assert_eq!(
        fault(|g| g.ops[0].bindings[1][0] = BufferId(7)),
        GraphFault::NoBuffer { tensor: tensor.clone(), id: 7, count: 2 }
    );
    assert_eq!(
        fault(|g| g.buffers[1].bytes = 100),
        GraphFault::BufferTooSmall { tensor, buffer, needed: 256, found: 100 }
    );
    assert_eq!(fault(|g| g.ops[0].bindings[0][0] = BufferId(1)), GraphFault::Aliased { buffer: "y0".into() });
    assert_eq!(fault(|g| g.ops[0].scalars.truncate(1)), GraphFault::NoScalar { name: "a".into() });
    let eight_parts = |g: &mut Graph| {
        let program = Arc::make_mut(&mut g.ops[0].program);
        program.shaders[0].loops.buffers[0].part = 8;
    };
    assert_eq!(fault(eight_parts), GraphFault::NoTensor { tensor: "x".into(), part: 8 });
}

#[test]
fn a_shader_for_a_larger_device_is_refused() {
    let with = |change: &dyn Fn(&mut Target)| {
        let mut program = with_workgroup_memory(64, 1024);
        program.shaders[0].subgroups = true;
        let mut target = Target::webgpu_subgroups();
        change(&mut target);
        match graph(vec![op(&Arc::new(program), 0, 1.0)]).check(&target) {
            Err(RuntimeError::Graph { fault, .. }) => Some(fault),
            Ok(()) => None,
            Err(other) => panic!("{other}"),
        }
    };
    let over = |limit, found, allowed| Some(GraphFault::OverLimit { limit, found, allowed });
    assert_eq!(with(&|_| ()), None);
    assert_eq!(with(&|t| t.max_storage_buffers = 1), over("max_storage_buffers", 2, 1));
    assert_eq!(with(&|t| t.max_invocations = 31), over("max_invocations", 32, 31));
    assert_eq!(with(&|t| t.max_workgroup_bytes = 1023), over("max_workgroup_bytes", 1024, 1023));
    assert_eq!(with(&|t| t.subgroups = None), Some(GraphFault::NoSubgroups));
}

#[test]
fn a_step_without_a_parameter_or_with_too_many_workgroups_is_refused() {
    // Without a capacity, so that workgroups are what is too many.
    let unlimited = Program { capacities: Default::default(), ..program(64, 1) };
    let graph = graph(vec![op(&Arc::new(unlimited), 0, 1.0)]);
    let buffers = Arc::new(Buffers::allocate(device(), &graph.buffers).unwrap());
    let missing = GraphFault::NoParameter { name: "t".into() };
    let expected = RuntimeError::Graph { op: "saxpy".into(), fault: missing };
    assert_eq!(plan::counters(&graph, &Params::new(), &[]), Err(expected.clone()));
    let mut executor = Executor::new(device(), graph, buffers).unwrap();
    assert_eq!(executor.step(&Params::new(), &[]), Err(expected));

    let most = device().target().max_workgroups;
    let error = executor.step(&Params::from([("t".into(), (most + 1) * WORKGROUP)]), &[]).unwrap_err();
    let found = Some(most + 1);
    let fault = GraphFault::TooManyWorkgroups { dimension: 0, found, allowed: most };
    assert_eq!(error, RuntimeError::Graph { op: "saxpy".into(), fault });

    let outside = Read { buffer: BufferId(1), offset: 252, bytes: 8 };
    let error = executor.step(&Params::from([("t".into(), 1)]), &[outside]).unwrap_err();
    assert_eq!(error, RuntimeError::OutOfRange { name: "y0".into(), size: 256, offset: 252, bytes: 8 });
}

#[test]
fn buffers_over_a_limit_are_refused_before_anything_is_allocated() {
    let allowed = device().target().max_buffer_bytes;
    let decl = BufferDecl { name: "embedding".into(), bytes: allowed + 4, role: Role::Weight };
    let error = Buffers::allocate(device(), &[decl]).err().unwrap();
    let (name, limit) = ("embedding".to_string(), "max_buffer_bytes");
    assert_eq!(error, RuntimeError::BufferTooLarge { name, needed: allowed + 4, limit, allowed });
}

#[test]
fn running_out_of_memory_names_the_buffer_and_the_bytes() {
    let bytes = device().target().max_binding_bytes & !15;
    let count = (4u64 << 40) / bytes;
    let decls: Vec<_> = (0..count).map(|i| BufferDecl { name: format!("w{i}"), bytes, role: Role::Weight }).collect();
    match Buffers::allocate(device(), &decls).err().unwrap() {
        RuntimeError::OutOfMemory { needed, planned, .. } => assert_eq!((needed, planned), (bytes, bytes * count)),
        other => panic!("{other}"),
    }
    let small = BufferDecl { name: "small".into(), bytes: 64, role: Role::Weight };
    assert!(Buffers::allocate(device(), &[small]).is_ok(), "the device is still of use");
}

#[test]
fn a_shader_that_the_device_refuses_is_an_error_with_its_name() {
    let mut broken = program(64, 1);
    broken.shaders[0].wgsl.push_str("\nnot a shader");
    let graph = graph(vec![op(&Arc::new(broken), 0, 1.0)]);
    let buffers = Arc::new(Buffers::allocate(device(), &graph.buffers).unwrap());
    match Executor::new(device(), graph, buffers).err().unwrap() {
        RuntimeError::Shader { kernel, schedule, reason } => {
            assert_eq!((kernel.as_str(), schedule.as_str()), ("saxpy", "lanes"));
            assert!(!reason.is_empty());
        }
        other => panic!("{other}"),
    }
    device().wait().unwrap();
}

#[test]
fn a_smaller_device_refuses_what_it_could_not_do() {
    let spec = TargetSpec::read("webgpu").unwrap();
    let small = Device::open(&AdapterChoice::Best, Some(&spec)).unwrap();
    assert_eq!(small.target().max_workgroup_bytes, 16 << 10);
    assert_eq!(small.target().subgroups, None);

    let decl = BufferDecl { name: "head".into(), bytes: (128 << 20) + 16, role: Role::Weight };
    let error = Buffers::allocate(&small, &[decl]).err().unwrap();
    assert!(matches!(error, RuntimeError::BufferTooLarge { limit: "max_binding_bytes", .. }), "{error}");

    let make = |bytes| {
        let graph = graph(vec![op(&Arc::new(with_workgroup_memory(64, bytes)), 0, 1.0)]);
        let buffers = Arc::new(Buffers::allocate(&small, &graph.buffers)?);
        Executor::new(&small, graph, buffers)?.step(&Params::from([("t".into(), 64)]), &[])?;
        small.wait()
    };
    assert_eq!(make(16 << 10), Ok(()));
    let error = make((16 << 10) + 4).unwrap_err().to_string();
    assert!(error.contains("16388 of max_workgroup_bytes, and the device allows 16384"), "{error}");

    // wgpu was given the lower limits too, so that even a wrong target would be found out.
    let mut wide = program(1024, 1);
    wide.shaders[0].wgsl = wide.shaders[0].wgsl.replace(&format!("workgroup_size({WORKGROUP}"), "workgroup_size(512");
    let graph = graph(vec![op(&Arc::new(wide), 0, 1.0)]);
    let graph = Graph { buffers: decls(1024, 1), ..graph };
    let buffers = Arc::new(Buffers::allocate(&small, &graph.buffers).unwrap());
    assert!(matches!(Executor::new(&small, graph, buffers), Err(RuntimeError::Shader { .. })));
}

#[test]
fn an_override_above_the_adapter_or_an_absent_adapter_is_refused() {
    let spec = TargetSpec { max_invocations: Some(1 << 20), ..TargetSpec::default() };
    let error = Device::open(&AdapterChoice::Best, Some(&spec)).err().unwrap();
    assert!(matches!(error, RuntimeError::TargetTooLarge { key: "max_invocations", .. }), "{error}");
    let error = Device::open(&AdapterChoice::Matching("no such card".into()), None).err().unwrap();
    assert!(error.to_string().contains(&device().adapter().name), "{error}");
}

#[test]
fn a_lost_device_says_what_it_was_given_last() {
    let lost = Device::open(&AdapterChoice::Best, None).unwrap();
    let graph = graph(vec![op(&Arc::new(program(64, 1)), 0, 1.0)]);
    let buffers = Arc::new(Buffers::allocate(&lost, &graph.buffers).unwrap());
    let mut executor = Executor::new(&lost, graph, Arc::clone(&buffers)).unwrap();
    let params = Params::from([("t".into(), 64)]);
    executor.step(&params, &[]).unwrap();
    lost.wait().unwrap();

    lost.destroy();
    let read = Read { buffer: BufferId(1), offset: 0, bytes: 16 };
    let is_loss = |e: RuntimeError| matches!(e, RuntimeError::DeviceLost { last, .. } if last == "saxpy");
    assert!(is_loss(executor.step(&params, &[read]).unwrap_err()));
    assert!(is_loss(lost.wait().unwrap_err()));
    assert!(is_loss(Buffers::allocate(&lost, buffers.decls()).err().unwrap()));
}

#[test]
fn a_probed_software_adapter_has_plain_subgroups() {
    assert_eq!(device().notes(), [""; 0]);
    if device().adapter().kind == AdapterKind::Software {
        assert!(device().target().subgroups.is_some(), "lavapipe and WARP have subgroup operations");
    }
    assert_ne!(random(1, 4), random(2, 4));
}
