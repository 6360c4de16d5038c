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
    fn rounding_errs_by_half_a_step(value in -60000f32..60000.0) {
        for (storage, step) in [(Storage::F16, 2f32.powi(-11)), (Storage::Bf16, 2f32.powi(-8))] {
            let words = encode(storage, 1, 1, &[value]).expect("one value").words;
            let back = decode(storage, 1, 1, &words).expect("one value")[0];
            // The absolute term covers f16's subnormals.
            prop_assert!((back - value).abs() <= value.abs() * step + 2f32.powi(-25), "{} {}", value, back);
        }
    }
}
