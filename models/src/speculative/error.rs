//! What can be wrong with a draft, or with what is asked of speculative steps.

/// Why a draft does not fit its target, or steps were not planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpeculativeError {
    /// The draft has more parameters than the target, so that guessing costs more than knowing.
    #[error(
        "the draft {draft} has {found} parameters and the target {target} has {most}; expected a smaller draft; exchange the two, or leave \
         the draft out"
    )]
    Larger {
        /// The draft's name.
        draft: String,
        /// Its parameters.
        found: u64,
        /// The target's name.
        target: String,
        /// Its parameters.
        most: u64,
    },

    /// The two have other tokens under the same ids.
    #[error(
        "the draft's tokenizer {draft} is not the target's {target}: {found}; expected the same tokens under the same ids; use a draft of \
         the same family"
    )]
    Tokenizers {
        /// The draft's file.
        draft: String,
        /// The target's file.
        target: String,
        /// The first difference.
        found: String,
    },

    /// Without tokenizers, the vocabularies say whether ids mean the same.
    #[error(
        "the draft {draft} has a vocabulary of {found}, the target {target} one of {expected}, and there is no tokenizer to say that their \
         tokens are the same; use a draft with the target's vocabulary, or put tokenizer.json into both folders"
    )]
    Vocabulary {
        /// The draft's name.
        draft: String,
        /// Its vocabulary.
        found: usize,
        /// The target's name.
        target: String,
        /// Its vocabulary.
        expected: usize,
    },

    /// More positions than the engine was planned to verify here.
    #[error("{found} ids to verify at once; at most {most} fit here")]
    TooMany {
        /// How many.
        found: usize,
        /// How many would do.
        most: usize,
    },

    /// A way back to positions that were never there.
    #[error("a rollback to position {found}, and there are {most} positions")]
    Rollback {
        /// The position asked for.
        found: u32,
        /// Positions in use.
        most: u32,
    },
}
