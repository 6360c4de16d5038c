//! How a model's matrices lie on the device, where a user says it: `nf4`, or `nf4,head=int8,embedding=f16`.
//!
//! The rule: what is said takes the place of the tier's storage and of nothing else; vectors stay f32. A head that is the
//! embedding has one storage. Codes are never rounded to other codes. Absent: the formats, which are `dsl::storage`'s.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tilewright_dsl::schedule::Storage;
use tilewright_dsl::storage::quantised::Loss;

use crate::checkpoint::{EMBEDDING, HEAD};

/// A storage for each kind of matrix; what is not given is the tier's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stores {
    /// All matrices that the others do not name.
    pub weights: Option<Storage>,
    /// The head.
    pub head: Option<Storage>,
    /// The embedding.
    pub embedding: Option<Storage>,
}

impl Stores {
    /// The storage of a tensor.
    pub fn of(&self, tensor: &str) -> Option<Storage> {
        let own = match tensor {
            EMBEDDING => self.embedding,
            HEAD => self.head,
            _ => None,
        };
        own.or(self.weights)
    }

    /// The same for a model whose head is the embedding, if it is `tied`: what is said of one holds for the other.
    ///
    /// # Errors
    /// Where both are said, and differ.
    pub fn settled(self, tied: bool) -> Result<Stores, StoresError> {
        if !tied {
            return Ok(self);
        }
        match (self.head, self.embedding) {
            (Some(head), Some(embedding)) if head != embedding => Err(StoresError::Tied { head, embedding }),
            (head, embedding) => Ok(Stores { head: head.or(embedding), embedding: embedding.or(head), ..self }),
        }
    }

    /// What is asked for of weights that lie in files as these stores say.
    ///
    /// # Errors
    /// Where codes would have to become other codes.
    pub fn over(self, files: Stores) -> Result<Stores, StoresError> {
        for tensor in [EMBEDDING, HEAD, ""] {
            if let (Some(asked), Some(found)) = (self.of(tensor), files.of(tensor))
                && asked != found
                && asked.quantised()
                && found.quantised()
            {
                return Err(StoresError::Twice { asked, found });
            }
        }
        // What is asked of all matrices is asked of those, too, that the files name.
        let rest = if self.weights.is_some() { Stores::default() } else { files };
        Ok(Stores {
            weights: self.weights.or(rest.weights),
            head: self.head.or(rest.head),
            embedding: self.embedding.or(rest.embedding),
        })
    }

    /// Whether any matrix becomes codes.
    pub fn quantises(&self) -> bool {
        [self.weights, self.head, self.embedding].into_iter().flatten().any(Storage::quantised)
    }
}

/// The word of a storage on the command line.
pub fn word(storage: Storage) -> &'static str {
    storage.word().split('(').next().unwrap_or_default()
}

impl fmt::Display for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [("", self.weights), ("head=", self.head), ("embedding=", self.embedding)];
        let parts: Vec<String> =
            named.into_iter().filter_map(|(name, s)| Some(format!("{name}{}", word(s?)))).collect();
        f.write_str(&parts.join(","))
    }
}

impl FromStr for Stores {
    type Err = StoresError;

    fn from_str(text: &str) -> Result<Self, StoresError> {
        let mut stores = Stores::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').map_or(("", part), |(name, value)| (name.trim(), value));
            let place = match name {
                "" => &mut stores.weights,
                "head" => &mut stores.head,
                "embedding" => &mut stores.embedding,
                _ => return Err(StoresError::Part { found: name.into() }),
            };
            let value = value.trim();
            let found = Storage::ALL.iter().copied().find(|s| [s.word(), word(*s)].contains(&value));
            let Some(storage) = found else { return Err(StoresError::Storage { found: value.into() }) };
            if place.replace(storage).is_some() {
                return Err(StoresError::Again { part: part.trim().into() });
            }
        }
        Ok(stores)
    }
}

/// What a tensor lost when it became codes.
#[derive(Clone, PartialEq, Debug)]
pub struct Lost {
    /// The tensor.
    pub tensor: String,
    /// Its codes.
    pub storage: Storage,
    /// What was lost.
    pub loss: Loss,
}

/// What all tensors of a storage lost, a line each.
pub fn summary(lost: &[Lost]) -> Vec<String> {
    let line = |storage: &Storage| {
        let own: Vec<&Lost> = lost.iter().filter(|l| l.storage == *storage).collect();
        let worst = own.iter().max_by(|a, b| a.loss.relative().total_cmp(&b.loss.relative()))?;
        let all = own.iter().fold(Loss::default(), |sum, l| sum.and(l.loss));
        let bound = if *storage == Storage::Int8 { "absmax/254 of the channel" } else { "0.152 of the block's absmax" };
        Some(format!(
            "{storage}: {} tensors, relative error {:.2} %, at most {:.2} % (`{}`); the largest error is {:.4} of its bound, {bound}",
            own.len(),
            100.0 * all.relative(),
            100.0 * worst.loss.relative(),
            worst.tensor,
            all.worst
        ))
    };
    Storage::ALL.iter().filter_map(line).collect()
}

/// What is wrong with how a user wants matrices stored, or with quantised files.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum StoresError {
    /// No storage of that name.
    #[error("there is no storage `{found}`; expected f32, f16, bf16, int8 or nf4")]
    Storage {
        /// The word.
        found: String,
    },
    /// No matrix of that name.
    #[error(
        "`{found}` has no storage of its own; expected `head=` or `embedding=`, or a storage alone for all matrices"
    )]
    Part {
        /// The name.
        found: String,
    },
    /// Two storages for one thing.
    #[error("`{part}` says a second time how the same matrices are stored; keep one")]
    Again {
        /// The second one.
        part: String,
    },
    /// A head that is the embedding, in two storages.
    #[error(
        "the head is the embedding of this model, one tensor: it cannot be {head} and {embedding}; name one of the two, or both alike"
    )]
    Tied {
        /// The head's.
        head: Storage,
        /// The embedding's.
        embedding: Storage,
    },
    /// Codes of codes.
    #[error(
        "the files hold {found} codes, and {asked} of these would round a second time; quantise the original files"
    )]
    Twice {
        /// Asked for.
        asked: Storage,
        /// In the files.
        found: Storage,
    },
    /// Nothing to be quantised.
    #[error("`{stores}` makes no codes of anything; expected int8 or nf4")]
    NoCodes {
        /// What was asked for.
        stores: String,
    },
    /// Values without a code.
    #[error("{count} values of `{tensor}` are not finite, and {storage} has no code for them; store it in f32")]
    NoCode {
        /// The tensor.
        tensor: String,
        /// How many of its values.
        count: u64,
        /// Its codes.
        storage: Storage,
    },
    /// A scale that f32 rounds too much: of values below 2^-119.
    #[error(
        "`{tensor}`: an element is off by {worst} times what {storage} allows; its values are too small for it: store it in f32"
    )]
    Bound {
        /// The tensor.
        tensor: String,
        /// Its codes.
        storage: Storage,
        /// The largest difference as a part of the bound.
        worst: f64,
    },
    /// Files of another version of the format.
    #[error(
        "{path}: quantised in version `{found}` of the format, and this program reads version {known}; quantise the original files again"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The one that is read.
        known: &'static str,
    },
    /// Files that say something that this program does not know.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_and_printed() {
        for text in ["nf4", "int8,head=f16", "nf4,head=int8,embedding=bf16", "head=f32"] {
            assert_eq!(text.parse::<Stores>().map(|s| s.to_string()), Ok(text.to_string()));
        }
        assert_eq!("int8(channel)".parse::<Stores>().map(|s| s.weights), Ok(Some(Storage::Int8)));
        for (text, wrong) in [("q4", "`q4`"), ("", "``"), ("nf4,tail=f16", "`tail`"), ("nf4,int8", "`int8`")] {
            let error = text.parse::<Stores>().expect_err(text).to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_tied_head_has_one_storage() {
        let of = |text: &str| text.parse::<Stores>().expect("it is read");
        assert!(of("head=int8,embedding=f16").settled(true).is_err());
        assert!(of("head=int8,embedding=f16").settled(false).is_ok());
        let settled = of("nf4,head=int8").settled(true).expect("one of the two");
        assert_eq!((settled.of(EMBEDDING), settled.of("other")), (Some(Storage::Int8), Some(Storage::Nf4)));
    }

    #[test]
    fn codes_stay_what_they_are() {
        let of = |text: &str| text.parse::<Stores>().expect("it is read");
        assert!(of("int8").over(of("nf4")).is_err());
        assert_eq!(Stores::default().over(of("nf4,head=int8")), Ok(of("nf4,head=int8")));
        assert_eq!(of("nf4,head=int8").over(Stores::default()), Ok(of("nf4,head=int8")));
        assert_eq!(of("f16").over(of("nf4")).map(|s| s.of("other")), Ok(Some(Storage::F16)));
    }
}
