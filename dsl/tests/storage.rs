//! Storage formats: known words, round trips, padding.

use proptest::prelude::*;
use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::*;

#[test]
fn rows_are_padded_to_sixteen_bytes() {
    for (storage, extent, expected) in [
        (Storage::F32, 1, 4),
        (Storage::F32, 4, 4),
        (Storage::F32, 5, 8),
        (Storage::F16, 1, 8),
        (Storage::F16, 8, 8),
        (Storage::Bf16, 9, 16),
        (Storage::F32, 0, 0),
        // Codes and scales, each padded: 16 + 16 bytes, 48 + 16, 32 + 16 and 64 + 16.
        (Storage::Int8, 1, 32),
        (Storage::Int8, 37, 64),
        (Storage::Int8, 0, 0),
        (Storage::Nf4, 37, 96),
        (Storage::Nf4, 128, 160),
        (Storage::Int8, u32::MAX, u32::MAX),
        (Storage::Nf4, u32::MAX, u32::MAX),
    ] {
        assert_eq!(stride(storage, extent), expected, "{storage} {extent}");
    }
}

#[test]
fn known_values_are_these_words() {
    let words = |storage, values: &[f32]| encode(storage, 1, values.len() as u32, values).expect("it fits").words;
    assert_eq!(words(Storage::F32, &[1.0]), [0x3f80_0000, 0, 0, 0]);
    assert_eq!(words(Storage::F16, &[1.0, -2.0, 65504.0]), [0xc000_3c00, 0x0000_7bff, 0, 0]);
    assert_eq!(words(Storage::Bf16, &[1.0, -2.0, 3.0]), [0xc000_3f80, 0x0000_4040, 0, 0]);
    assert_eq!(encode_u32(2, 1, &[5, 6]), Ok(vec![5, 0, 0, 0, 6, 0, 0, 0]));
    // To nearest, ties to even: 1 + 2^-11 is between two halves, 1 + 2^-8 between two bf16.
    assert_eq!(words(Storage::F16, &[1.0 + 2f32.powi(-11), 1.0 + 3.0 * 2f32.powi(-11)])[0], 0x3c02_3c00);
    assert_eq!(words(Storage::Bf16, &[1.0 + 2f32.powi(-8), 1.0 + 3.0 * 2f32.powi(-8)])[0], 0x3f82_3f80);
}

#[test]
fn overflows_are_counted() {
    let values = [65519.9, 65520.0, -1e9, f32::INFINITY, f32::NAN, 1.0];
    assert_eq!(encode(Storage::F16, 2, 3, &values).map(|e| e.overflows), Ok(2));
    assert_eq!(encode(Storage::Bf16, 1, 2, &[f32::MAX, 1e38]).map(|e| e.overflows), Ok(1));
    assert_eq!(encode(Storage::F32, 1, 6, &values).map(|e| e.overflows), Ok(0));
}

#[test]
fn known_codes_are_these_words() {
    let words = |storage, values: &[f32]| encode(storage, 1, values.len() as u32, values).expect("it fits").words;
    // 127 · w / 2 to nearest, ties to even, and 128 more: 127, -127, 32 (31.75), 0, 64 (63.5).
    let scale = (2f32 / 127.0).to_bits();
    let expected = [0x80a0_01ff, 0x0000_00c0, 0, 0, scale, 0, 0, 0];
    assert_eq!(words(Storage::Int8, &[2.0, -2.0, 0.5, 0.0, 1.0]), expected);
    let values: Vec<f32> = quantised::LEVELS.iter().map(|l| l * 3.0).collect();
    assert_eq!(words(Storage::Nf4, &values), [0x7654_3210, 0xfedc_ba98, 0, 0, 3f32.to_bits(), 0, 0, 0]);
    assert_eq!(words(Storage::Nf4, &[0.0; 2]), [0x0000_0077, 0, 0, 0, 0, 0, 0, 0]);
    // A block of its own behind 64.
    let mut two = vec![1.0; 64];
    two.push(-8.0);
    let words = words(Storage::Nf4, &two);
    assert_eq!((words[0], words[8], words[12], words[13]), (0xffff_ffff, 0, 1f32.to_bits(), 8f32.to_bits()));
}

#[test]
fn codes_of_a_row_do_not_depend_on_other_rows() {
    let values: Vec<f32> = (0..3 * 70).map(|i| ((i * 37 % 101) as f32 - 50.0) * (1 + i / 70) as f32).collect();
    for storage in [Storage::Int8, Storage::Nf4] {
        let all = encode(storage, 3, 70, &values).expect("three rows").words;
        let apart = values.chunks(70).flat_map(|row| encode(storage, 1, 70, row).expect("one row").words);
        assert_eq!(all, apart.collect::<Vec<_>>());
    }
}

/// Normally distributed numbers, from uniform ones of a generator with a seed (Box and Muller 1958).
fn gaussian(count: usize) -> Vec<f32> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / 16_777_216.0
    };
    (0..count)
        .map(|_| {
            let (u, v) = (uniform().max(1e-12), uniform());
            ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
        })
        .collect()
}

#[test]
fn gaussian_weights_lose_what_is_told() {
    let values = gaussian(128 * 2048);
    for (storage, expected, tolerance) in [(Storage::Int8, 0.0083, 0.0002), (Storage::Nf4, 0.092, 0.002)] {
        let encoded = encode(storage, 128, 2048, &values).expect("the lengths agree");
        let back = decode(storage, 128, 2048, &encoded.words).expect("the lengths agree");
        let square = |x: f64| x * x;
        let off: f64 = values.iter().zip(&back).map(|(a, b)| square(f64::from(*a) - f64::from(*b))).sum();
        let of: f64 = values.iter().map(|a| square(f64::from(*a))).sum();
        let relative = (off / of).sqrt();
        assert!((relative - expected).abs() < tolerance, "{storage}: {relative}");
        assert!((encoded.loss.relative() - relative).abs() < 1e-6, "{storage}: {:?}", encoded.loss);
        assert!(encoded.loss.within_bound() && encoded.loss.worst > 0.9, "{storage}: {:?}", encoded.loss);
        let ratio = (values.len() * 4) as f64 / (encoded.words.len() * 4) as f64;
        assert!(ratio > if storage == Storage::Int8 { 3.9 } else { 7.1 }, "{storage}: {ratio}");
    }
}

#[test]
fn what_has_no_code_is_counted_and_tiny_scales_break_the_bound() {
    for storage in [Storage::Int8, Storage::Nf4] {
        let encoded = encode(storage, 2, 2, &[f32::NAN, 1.0, f32::INFINITY, 2.0]).expect("the lengths agree");
        assert_eq!(encoded.overflows, 2);
        assert!(encode(storage, 1, 3, &[0.0; 3]).expect("three").loss.within_bound());
    }
    // The scale is subnormal: f32 has few bits for it.
    let tiny = encode(Storage::Int8, 1, 2, &[1e-43, 7e-44]).expect("two");
    assert!(!tiny.loss.within_bound(), "{:?}", tiny.loss);
}

#[test]
fn lengths_are_checked() {
    assert_eq!(
        encode(Storage::F16, 2, 3, &[0.0; 5]).expect_err("too short").to_string(),
        "2 rows of 3 make 6 elements, but there are 5"
    );
    assert_eq!(
        decode(Storage::F32, 2, 3, &[0; 6]).expect_err("too short").to_string(),
        "2 rows of 3 make 8 words, but there are 6"
    );
    assert_eq!(decode(Storage::F16, 3, 0, &[]), Ok(vec![]));
    assert!(encode(Storage::F16, usize::MAX, 3, &[0.0; 5]).is_err());
}

proptest! {
    #[test]
    fn what_is_representable_comes_back(which in 0..3usize, rows in 0usize..5, extent in 0u32..20, seed: u32) {
        let storage = Storage::ALL[which];
        let small = |i: u32| ((seed.wrapping_add(i).wrapping_mul(2654435761) >> 8) % 255) as f32 - 127.0;
        let values: Vec<f32> = (0..rows as u32 * extent).map(small).collect();
        let encoded = encode(storage, rows, extent, &values).expect("the lengths agree");
        let per_row = stride(storage, extent) / storage.per_word();
        prop_assert_eq!(encoded.words.len(), rows * per_row as usize);
        prop_assert_eq!(decode(storage, rows, extent, &encoded.words), Ok(values.clone()));
        // Whatever lies behind a row is zero.
        let padded = decode(storage, rows, stride(storage, extent), &encoded.words).expect("the stride is its own stride");
        for row in padded.chunks((stride(storage, extent) as usize).max(1)) {
            prop_assert!(row[extent as usize..].iter().all(|v| v.to_bits() == 0));
        }
        let ids: Vec<u32> = values.iter().map(|v| v.to_bits()).collect();
        let words = encode_u32(rows, extent, &ids).expect("the lengths agree");
        prop_assert_eq!(decode_u32(rows, extent, &words), Ok(ids));
    }

    #[test]
    fn every_channel_keeps_its_bound(rows in 1usize..4, extent in 1u32..200, seed: u32, exponent in -30i32..30) {
        let random = |i: u32| (seed.wrapping_add(i).wrapping_mul(2654435761) >> 8) as f32 / 8388608.0 - 1.0;
        let values: Vec<f32> = (0..rows as u32 * extent).map(|i| random(i) * 2f32.powi(exponent)).collect();
        for storage in [Storage::Int8, Storage::Nf4] {
            let encoded = encode(storage, rows, extent, &values).expect("the lengths agree");
            prop_assert!(encoded.loss.within_bound(), "{}: {:?}", storage, encoded.loss);
            let back = decode(storage, rows, extent, &encoded.words).expect("the lengths agree");
            let block = if storage == Storage::Int8 { extent } else { quantised::BLOCK } as usize;
            for (own, back) in values.chunks(extent as usize).zip(back.chunks(extent as usize)) {
                for (own, back) in own.chunks(block).zip(back.chunks(block)) {
                    let most = own.iter().fold(0f64, |m, v| m.max(f64::from(v.abs())));
                    let part = if storage == Storage::Int8 { 1.0 / 254.0 } else { 0.151_903_6 };
                    for (a, b) in own.iter().zip(back) {
                        // The product of code and scale is rounded once more here.
                        let allowed = most * part * (1.0 + 2f64.powi(-16)) + most * 2f64.powi(-24);
                        prop_assert!((f64::from(*a) - f64::from(*b)).abs() <= allowed, "{} {} {}", storage, a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn rounding_errs_by_half_a_step(value in -60000f32..60000.0) {
        for (storage, step) in [(Storage::F16, 2f32.powi(-11)), (Storage::Bf16, 2f32.powi(-8))] {
            let words = encode(storage, 1, 1, &[value]).expect("one value").words;
            let back = decode(storage, 1, 1, &words).expect("one value")[0];
            // The absolute term covers f16's subnormals.
            prop_assert!((back - value).abs() <= value.abs() * step + 2f32.powi(-25), "{} {}", value, back);
        }
    }
}
