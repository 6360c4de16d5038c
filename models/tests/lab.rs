//! Both sides of the lab's ratios compute the same.

use std::collections::BTreeMap;

use tilewright_dsl::eval::{Data, Value, eval};
use tilewright_models::kernels::{rmsnorm, softmax};
use tilewright_models::lab::chain::Chain;
use tilewright_models::lab::norms::{extents, rmsnorm_links, softmax_links};
use tilewright_runtime::{AdapterChoice, Device};

const ROWS: u32 = 3;
const COLUMNS: u32 = 300;

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn one_kernel_and_a_chain_of_small_ones_are_what_the_kernel_means() {
    let device = Device::open(&AdapterChoice::Best, None).unwrap();
    for (kernel, links) in
        [(rmsnorm::rmsnorm(), rmsnorm_links as fn(bool) -> Vec<_>), (softmax::softmax(), softmax_links)]
    {
        for fused in [true, false] {
            let mut chain = Chain::new(&device, &links(fused), &extents(ROWS, COLUMNS)).unwrap();
            let inputs: BTreeMap<String, Data> =
                kernel.tensors.iter().map(|t| (t.name.clone(), Data::F32(chain.values(&t.name).unwrap()))).collect();
            assert_eq!(inputs["x"].len(), (ROWS * COLUMNS) as usize, "300 columns need no padding");
            let sizes = extents(ROWS, COLUMNS).map(|(name, n)| (name.to_string(), n));
            let sizes = sizes.into_iter().filter(|(name, _)| kernel.extents.contains(name)).collect();
            let mut expected = inputs.clone();
            let scalars = BTreeMap::from([("eps".to_string(), Value::F32(1e-6))]);
            let scalars =
                scalars.into_iter().filter(|(name, _)| kernel.scalars.iter().any(|s| s.name == *name)).collect();
            eval(&kernel, &sizes, &scalars, &mut expected).unwrap();
            chain.time(1).unwrap();
            let Data::F32(expected) = &expected["y"] else { panic!("y is real") };
            let found = chain.values("y").unwrap();
            assert!(distance(&found, expected) < 2e-6, "{} fused: {fused}", kernel.name);
            assert_eq!(chain.dispatches, links(fused).len());
        }
    }
}
