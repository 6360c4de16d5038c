//! Tokens that the device samples are those of the host, and have their distribution.

use std::sync::Arc;

use tilewright_codegen::compile;
use tilewright_codegen::shape::Shape;
use tilewright_models::engine::{Engine, EngineOptions, Step, Wants};
use tilewright_models::error::ModelError;
use tilewright_models::kernels::draw;
use tilewright_models::sampler::{SamplingParams, gumbel, hash, position_key};
use tilewright_runtime::{
    AdapterChoice, AdapterKind, BufferDecl, BufferId, Buffers, Device, Executor, Graph, Op, Params, Read, Role,
    ScalarSource, Submission,
};

use crate::goldens::{cases, load, tier, tiny};

const WARM: SamplingParams =
    SamplingParams { temperature: 0.7, top_k: 20, top_p: 0.8, repetition_penalty: 1.05, seed: 1 };

/// A row's pairs, the best first.
type Row = Vec<(u32, f32)>;

/// What the device draws of rows of K pairs each, with the noise of one seed and position.
fn drawn(rows: &[Row], params: &SamplingParams, position: u32) -> Vec<u32> {
    let device = Device::open(&AdapterChoice::Best, None).unwrap();
    let (t, k) = (rows.len() as u32, rows[0].len() as u32);
    let shape = Shape::new().fixed("T", t).fixed("K", k).fixed("N", 1);
    let program = compile(&draw::draw(), &draw::row(), &shape, device.target()).unwrap();
    let words = |f: &dyn Fn(&(u32, f32)) -> u32| rows.iter().flatten().map(f).collect::<Vec<u32>>();
    let contents =
        [words(&|pair| pair.1.to_bits()), words(&|pair| pair.0), vec![0; 4 * rows.len()], vec![0; rows.len()]];
    let decl = |(name, layout): (&str, &tilewright_codegen::program::TensorLayout)| BufferDecl {
        name: name.into(),
        bytes: layout.part_bytes(0),
        role: Role::Activation,
    };
    let buffers: Vec<BufferDecl> =
        ["value", "token", "index", "y"].into_iter().zip(&program.tensors).map(decl).collect();
    let allocated = Buffers::allocate(&device, &buffers).unwrap();
    for (i, words) in contents.iter().enumerate() {
        allocated.write(BufferId(i), 0, bytemuck::cast_slice(words)).unwrap();
    }
    let scalars = [
        ("keep", ScalarSource::U32(params.top_k as u32)),
        ("temperature", ScalarSource::F32(params.temperature)),
        ("top_p", ScalarSource::F32(params.top_p)),
        ("seed", ScalarSource::U32(position_key(params.seed, position))),
        ("limit", ScalarSource::U32(u32::MAX)),
    ];
    let op = Op {
        label: "draw".into(),
        group: 0,
        program: Arc::new(program),
        bindings: (0..4).map(|i| vec![BufferId(i)]).collect(),
        scalars: scalars.map(|(name, source)| (name.to_string(), source)).into(),
        reads: None,
        writes: None,
    };
    let graph = Graph { buffers, ops: vec![op], submission: Submission::PerToken, max_dispatches: None };
    let read = Read { buffer: BufferId(3), offset: 0, bytes: 4 * u64::from(t) };
    let back = Executor::new(&device, graph, Arc::new(allocated)).unwrap().step(&Params::new(), &[read]).unwrap();
    bytemuck::pod_collect_to_vec(&back[0])
}

/// Rows of random logits, sorted, with ids that do not repeat.
fn rows(count: u32, k: u32) -> Vec<Row> {
    let value = |n: u32| hash(n.wrapping_mul(31).wrapping_add(5)) as f32 / 4e8;
    let row = |t: u32| {
        let mut row: Row = (0..k).map(|c| (t * k + c, value(t * k + c))).collect();
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row
    };
    (0..count).map(row).collect()
}

/// A token differs only where the second best score is within 1e-4 of the best, or where top-p cuts within 1e-5 of its bound.
#[test]
fn thousands_of_rows_are_drawn_as_by_the_host() {
    const NEAR: f32 = 1e-4;
    let rows = rows(4000, 64);
    let settings = [
        SamplingParams { top_k: 50, ..WARM },
        SamplingParams { top_k: 64, temperature: 1.3, top_p: 1.0, seed: 1 << 40, ..WARM },
        SamplingParams { top_k: 1, ..WARM },
        SamplingParams { top_k: 40, temperature: 1e-3, top_p: 0.5, ..WARM },
    ];
    for params in settings {
        let found = drawn(&rows, &params, 9);
        let key = position_key(params.seed, 9);
        let mut near = 0;
        for (t, (row, found)) in rows.iter().zip(&found).enumerate() {
            let score = |c: &tilewright_models::sampler::Candidate| c.logit + gumbel(key, c.id);
            let mut scores: Vec<f32> = params.kept_pairs(row).iter().map(score).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            let kept = |top_p: f32| SamplingParams { top_p, ..params }.kept_pairs(row).len();
            let cut = params.top_p < 1.0 && kept(params.top_p - 1e-5) != kept(params.top_p + 1e-5);
            let close = scores.get(1).is_some_and(|second| scores[0] - second < NEAR * scores[0].abs().max(1.0));
            if cut || close {
                near += 1;
                continue;
            }
            assert_eq!(*found, params.sample_pairs(row, 9).unwrap(), "row {t}, {params:?}");
        }
        assert!(near < 20, "{near} rows are too near to tell");
    }
}

/// Pearson's statistic of 6,000 draws with as many noises against the host's probabilities; and against others it is large.
#[test]
fn draws_have_the_hosts_distribution() {
    let logits = [2.0, 1.6, 1.1, 0.9, 0.2, -0.4, -0.5, -3.0];
    for params in [SamplingParams { top_p: 1.0, ..WARM }, WARM] {
        let rows: Vec<Row> = (0..6000).map(|t| (0..8).map(|c| (t * 8 + c, logits[c as usize])).collect()).collect();
        let found = drawn(&rows, &params, 4);
        let mut counts = [0u32; 8];
        found.iter().for_each(|token| counts[*token as usize % 8] += 1);
        let statistic = |params: SamplingParams| {
            let kept = params.kept_pairs(&rows[0]);
            let drawn: u32 = kept.iter().map(|c| counts[c.id as usize]).sum();
            if drawn != 6000 {
                return f64::INFINITY;
            }
            let one = |c: &tilewright_models::sampler::Candidate| {
                let expected = c.probability * 6000.0;
                (f64::from(counts[c.id as usize]) - expected).powi(2) / expected
            };
            kept.iter().map(one).sum()
        };
        // Seven degrees of freedom exceed 24.3 once in a thousand times.
        assert!(statistic(params) < 24.3, "{counts:?}: {}", statistic(params));
        assert!(statistic(SamplingParams { temperature: 1.0, ..params }) > 24.3, "another temperature is told apart");
    }
}

fn engine(number: usize, wants: Wants) -> Engine {
    load(&tiny(), &EngineOptions { wants, context: Some(128), ..tier(number) })
}

/// A text of `count` tokens, sampled by whoever the engine leaves it to.
fn text(engine: &mut Engine, params: &SamplingParams, prompt: &[u32], count: usize) -> Vec<u32> {
    engine.reset();
    engine.reseed(params.seed);
    let mut history = prompt.to_vec();
    let choose = |step: &Step, history: &[u32]| match (step.token, &step.top, &step.logits) {
        (Some(token), ..) => Ok(token),
        (None, Some(top), _) => params.sample_pairs(&top.pairs, history.len()),
        (None, None, Some(logits)) => params.sample(logits, history, history.len(), logits.len()),
        _ => panic!("an empty step"),
    };
    let first = choose(&engine.prefill(prompt).unwrap(), &history).unwrap();
    history.push(first);
    let mut take = |step: Step| -> Result<Option<u32>, ModelError> {
        let token = choose(&step, &history)?;
        history.push(token);
        Ok((history.len() < prompt.len() + count).then_some(token))
    };
    engine.decode_on(first, 100, &mut take).unwrap();
    history.split_off(prompt.len())
}

#[test]
fn texts_are_those_of_the_host() {
    let prompt = &cases("tiny/cases.json", "tiny/last_logits.safetensors")[0].ids;
    let mut host = engine(11, Wants::Logits);
    let open = SamplingParams { temperature: 1.0, top_k: 50, top_p: 1.0, repetition_penalty: 1.0, ..WARM };
    let greedy = SamplingParams { temperature: 0.0, repetition_penalty: 1.3, ..WARM };
    for (params, seeds) in [(WARM, &[1, 1 << 33][..]), (open, &[2]), (greedy, &[1])] {
        let mut device = engine(11, Wants::Token(params));
        assert_eq!(device.info().readback_bytes, 4);
        for seed in seeds {
            // What an earlier text began beyond its end is forgotten.
            let params = SamplingParams { seed: *seed, ..params };
            let expected = text(&mut host, &params, prompt, 10);
            assert_eq!(text(&mut device, &params, prompt, 10), expected, "{params:?}");
        }
    }
    let mut pairs = engine(11, Wants::Pairs(WARM));
    assert_eq!(pairs.info().readback_bytes, (2 * 32 + 3) * 4);
    assert_eq!(text(&mut pairs, &WARM, prompt, 6), text(&mut host, &WARM, prompt, 6));
}

/// The logarithm of the sum of exponentials that comes back with the pairs is that of all logits.
#[test]
fn pairs_know_the_sum_over_all_logits() {
    let params = SamplingParams { repetition_penalty: 1.0, top_k: 50, ..WARM };
    let top = engine(11, Wants::Pairs(params)).prefill(&[5, 6, 7]).unwrap().top.unwrap();
    let logits = engine(11, Wants::Logits).prefill(&[5, 6, 7]).unwrap().logits.unwrap();
    let sum: f64 = logits.iter().map(|x| f64::from(*x).exp()).sum();
    assert!((f64::from(top.log_sum_exp) - sum.ln()).abs() < 1e-4, "{} {}", top.log_sum_exp, sum.ln());
    assert_eq!(top.pairs.len(), 64);
    assert!(top.pairs.iter().all(|(id, logit)| logits[*id as usize] == *logit));
}

#[test]
fn a_processor_leaves_it_to_the_host() {
    let (faster, token) = (Wants::Faster(WARM), Wants::Token(WARM));
    for gpu in [AdapterKind::Discrete, AdapterKind::Integrated, AdapterKind::Virtual, AdapterKind::Unknown] {
        assert_eq!(faster.settled(Some(gpu)), token);
    }
    for slow in [Some(AdapterKind::Software), None] {
        assert_eq!(faster.settled(slow), Wants::Logits);
        assert_eq!(token.settled(slow), token, "who asks for the device gets it");
        assert!(Wants::Faster(SamplingParams::GREEDY).settled(slow).is_plain_argmax());
    }
}

/// Settings that need every logit leave it to the host, and wrong ones are refused.
#[test]
fn what_a_device_does_not_sample_comes_back_whole() {
    for (number, params) in
        [(11, SamplingParams { top_k: 0, ..WARM }), (11, SamplingParams { top_k: 129, ..WARM }), (5, WARM)]
    {
        let engine = engine(number, Wants::Token(params));
        assert!(engine.sampling().is_none());
        assert_eq!(engine.info().readback_bytes, 4096 * 4);
    }
    let config = tilewright_models::config::Config::open(&tiny()).unwrap();
    let options = EngineOptions { wants: Wants::Token(SamplingParams { top_p: 0.0, ..WARM }), ..tier(11) };
    let refused = Engine::plan(&config, &tilewright_codegen::target::Target::webgpu(), &options).unwrap_err();
    assert!(matches!(refused, ModelError::Setting { setting: "--top-p", .. }), "{refused}");
}
