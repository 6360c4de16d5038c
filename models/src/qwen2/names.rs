//! Buffers that the engine writes or reads by name.

/// Token ids of a step, `[T]`.
pub const IDS: &str = "ids";
/// The row that `last_row` takes, `[1]`.
pub const ROW: &str = "row";
/// Cosines and then sines of the rotary embedding, [P, D].
pub const ANGLES: &str = "angles";
/// Logits, [1, V].
pub const LOGITS: &str = "logits";
/// The best logits and their ids, [1, 2K + 3].
pub const PAIRS: &str = "pairs";
/// The parameter that seed and position of a step's token make.
pub const KEY: &str = "key";
/// The token that the device picks, `[1]`.
pub const TOKEN: &str = "token";
/// The greedy token behind each position of a step of a few, `[T]`.
pub const TOKENS: &str = "tokens";
/// The parameter that says in how many parts a step reads the cache.
pub const PARTS: &str = "parts";
/// The pages of the sequence at hand, in the order of its positions.
pub const PAGE_TABLE: &str = "page table";
/// The parameter that says how many positions a step's last one sees.
pub const SEEN: &str = "seen";
/// The parameter that says how many query heads a step has, those of all its positions.
pub const HEADS: &str = "heads";
