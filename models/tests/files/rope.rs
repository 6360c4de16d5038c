//! Rotary tables against transformers'.

use tilewright_models::config::{Config, RopeScaling};
use tilewright_models::rope::{RopeTables, inverse_frequencies};
use tilewright_models::synth::preset;

use crate::goldens::{asset, config, golden, tensor};

/// Every model with a golden table: positions 0 to 4, [5, D] with the halves of a row equal.
#[test]
fn tables_are_those_of_transformers() {
    let bundled = ["tiny", "draft"].map(|n| (asset(n), golden(n).join("hidden_ascii_capital.safetensors")));
    let variants = ["f32", "heads7", "odd48", "sharded_f16", "untied", "yarn"].map(|n| {
        let dir = golden("variants").join(n);
        (dir.clone(), dir.join("golden_hidden_n5.safetensors"))
    });
    for (dir, file) in bundled.into_iter().chain(variants) {
        let tables = RopeTables::new(&config(&dir), 0..5);
        for (name, ours) in [("rope_cos", &tables.cos), ("rope_sin", &tables.sin)] {
            let (shape, theirs) = tensor(&file, name);
            assert_eq!(shape, [5, 2 * tables.half_dim]);
            for (at, their) in theirs.iter().enumerate() {
                let (position, column) = (at / shape[1], at % tables.half_dim);
                let our = ours[position * tables.half_dim + column];
                assert!((our - their).abs() <= 1e-6, "{} {name} {position} {column}: {our}, {their}", dir.display());
            }
        }
    }
}

#[test]
fn a_range_is_a_part_of_the_whole() {
    let config = config(&golden("variants/yarn"));
    let whole = RopeTables::new(&config, 0..100);
    let part = RopeTables::new(&config, 37..41);
    let half = whole.half_dim;
    assert_eq!(part.cos, whole.cos[37 * half..41 * half]);
    assert_eq!(part.sin, whole.sin[37 * half..41 * half]);
}

/// Angles are products in f32, as the weights were trained with: far from 0 that differs visibly from exact angles.
#[test]
fn long_positions_round_as_f32() {
    let config = preset("qwen2.5-0.5b").unwrap();
    let position = 32_767;
    let tables = RopeTables::new(&config, position..position + 1);
    let frequencies = inverse_frequencies(&config);
    assert_eq!(frequencies[0], 1.0);
    let mut differs = 0.0f64;
    for (i, frequency) in frequencies.iter().enumerate() {
        let exact_frequency = 1e6f64.powf(-(i as f64) / 32.0);
        assert!((f64::from(*frequency) / exact_frequency - 1.0).abs() < 2.5e-7);
        let rounded = f64::from(position as f32 * frequency);
        assert!((f64::from(tables.cos[i]) - rounded.cos()).abs() < 1e-7);
        assert!((f64::from(tables.sin[i]) - rounded.sin()).abs() < 1e-7);
        differs = differs.max((f64::from(tables.cos[i]) - (position as f64 * exact_frequency).cos()).abs());
    }
    assert!(differs > 1e-4 && differs < 1e-2, "{differs}");
}

#[test]
fn linear_scaling_divides_frequencies() {
    let plain = preset("tiny-test").unwrap();
    let mut stretched: Config = plain.clone();
    stretched.rope.scaling = RopeScaling::Linear { factor: 4.0 };
    let (a, b) = (inverse_frequencies(&plain), inverse_frequencies(&stretched));
    assert!(a.iter().zip(&b).all(|(a, b)| a / 4.0 == *b));
}
