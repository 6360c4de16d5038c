//! Gumbel noise by hash: u32 and f32 arithmetic alone, so that a shader can make the same.
//!
//! The rule: the noise of a token depends on seed, position and id, not on what was drawn before. The hash is Wellons'
//! `lowbias32`, <https://nullprogram.com/blog/2018/07/31/>.

/// A 32-bit mix: every bit of `x` changes about half of the result's.
pub fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// What seed and position contribute, made once a position: `hash(hash(hash(low) + high) + position)`.
pub fn position_key(seed: u64, position: u32) -> u32 {
    let (low, high) = (seed as u32, (seed >> 32) as u32);
    // 0 is a fixed point of the hash; the odd constant (2^32 over the golden ratio) moves seed 0 off it.
    let seeded = hash(hash(low ^ 0x9e37_79b9).wrapping_add(high));
    hash(seeded.wrapping_add(position))
}

/// The Gumbel noise of a token: `-ln(-ln(u))` with u in (0, 1) from 23 bits of `hash(hash(id) + key)`.
pub fn gumbel(key: u32, id: u32) -> f32 {
    let bits = hash(hash(id).wrapping_add(key)) >> 9;
    // 23 bits and a half fit an f32's 24 exactly: u is never 0 or 1.
    let u = (bits as f32 + 0.5) * (1.0 / 8_388_608.0);
    -(-u.ln()).ln()
}
