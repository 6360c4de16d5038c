//! Measurements: profiles and the two numbers of an adapter.

use crate::device;
use crate::saxpy::{decls, op, program};
use std::sync::Arc;
use tilewright_runtime::{
    AdapterChoice, Buffers, Device, Executor, Graph, Params, Profile, Submission, TargetSpec, copy_bandwidth,
    empty_dispatch, plan,
};

#[test]
fn a_profile_has_a_call_for_each_dispatch_and_the_planned_bytes() {
    let program = Arc::new(program(4096, 2));
    let ops = (0..1500).map(|i| op(&program, i / 100, 0.5)).collect();
    let graph = Graph { buffers: decls(4096, 2), ops, submission: Submission::PerLayer, max_dispatches: None };
    let buffers = Arc::new(Buffers::allocate(device(), &graph.buffers).unwrap());
    let params = Params::from([("t".into(), 4096)]);
    let planned = plan::counters(&graph, &params, &[]).unwrap();
    let mut executor = Executor::new(device(), graph, buffers).unwrap();
    let mut profile = Profile::default();
    executor.profiled_step(&params, &[], &mut profile).unwrap();
    assert_eq!(executor.counted(), planned);
    let [row] = profile.rows.as_slice() else { panic!("{profile:?}") };
    assert_eq!((row.kernel.as_str(), row.schedule.as_str(), row.calls), ("saxpy", "lanes", 3000));
    assert_eq!(row.bytes, planned.bytes_read + planned.bytes_written);
    assert!(row.us > 0.0 && row.us < 60e6, "{} µs", row.us);
}

#[test]
fn an_adapter_copies_and_dispatches_at_plausible_rates() {
    let copy = copy_bandwidth(device()).unwrap();
    assert!((0.1..20_000.0).contains(&copy), "{copy} GB/s");
    let dispatch = empty_dispatch(device()).unwrap();
    assert!((0.0..10_000.0).contains(&dispatch), "{dispatch} µs");
}

#[test]
fn the_least_of_each_limit_is_enough_to_open_and_measure() {
    for limit in [
        "max_invocations=1",
        "max_binding_bytes=16384",
        "max_buffer_bytes=16384",
        "max_storage_buffers=2",
        "max_workgroups=4",
    ] {
        let spec = TargetSpec::read(limit).unwrap();
        let device = Device::open(&AdapterChoice::Best, Some(&spec)).unwrap_or_else(|e| panic!("{limit}: {e}"));
        assert!(copy_bandwidth(&device).unwrap_or_else(|e| panic!("{limit}: {e}")) > 0.0, "{limit}");
        empty_dispatch(&device).unwrap_or_else(|e| panic!("{limit}: {e}"));
    }
}
