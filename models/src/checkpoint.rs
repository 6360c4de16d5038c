//! A model's weights: where they come from, read row by row as f32.
//!
//! [`Checkpoint`] maps one safetensors file, or the shards that `model.safetensors.index.json` names, and checks every
//! tensor against the configuration when it is opened: names, shapes, types, lengths. The rule: nothing is copied until
//! rows are asked for, so that weights of any size go to the GPU in chunks. [`WeightSource`] is that one question, and
//! [`crate::synth::Synth`] answers it by formula. Matrices may lie as codes ([`codes`]). Absent: any conversion other than to f32.

pub mod codes;
mod convert;
mod file;
mod layout;
mod stacked;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tilewright_dsl::schedule::Storage;

use crate::config::Config;
use crate::error::{ModelError, counted};
use crate::files::{self, read_json};
use crate::stores::Stores;
use codes::Coded;
pub use convert::Dtype;
use file::{Entry, WeightsFile};
use layout::layer_of;
pub use layout::{EMBEDDING, FINAL_NORM, HEAD, TensorSpec, expected_tensors, layer_tensor};
pub use stacked::Stacked;

/// Weights by name, in rows: the first dimension of a tensor counts its rows, and a vector's rows have one element.
pub trait WeightSource: Send + Sync {
    /// A tensor's shape.
    ///
    /// # Errors
    /// When the model has no such tensor.
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError>;

    /// Fills `out` with rows of a tensor, row-major, as f32.
    ///
    /// # Errors
    /// When the model has no such tensor, when it has fewer rows, or when `out` has another length than the rows.
    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError>;

    /// Rows of a tensor as words in `storage`, where that is how they lie in the files.
    ///
    /// # Errors
    /// As [`WeightSource::rows_f32`].
    fn rows_encoded(
        &self,
        _name: &str,
        _rows: Range<usize>,
        _storage: Storage,
    ) -> Result<Option<Vec<u32>>, ModelError> {
        Ok(None)
    }

    /// How the files say that matrices are stored.
    fn stores(&self) -> Stores {
        Stores::default()
    }

    /// Whether the head's weights are the embedding's.
    fn tied(&self) -> bool;

    /// The name of the tensor that the head multiplies with.
    fn head(&self) -> &'static str {
        if self.tied() { EMBEDDING } else { HEAD }
    }

    /// A whole tensor as f32, for small ones.
    ///
    /// # Errors
    /// When the model has no such tensor.
    fn tensor_f32(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let shape = self.shape(name)?;
        let mut out = vec![0.0; shape.iter().product()];
        self.rows_f32(name, 0..shape[0], &mut out)?;
        Ok(out)
    }
}

/// The weights files of a model folder, mapped and checked.
#[derive(Debug)]
pub struct Checkpoint {
    files: Vec<WeightsFile>,
    /// Which file holds a tensor.
    places: HashMap<String, usize>,
    /// Matrices that lie there as codes.
    coded: HashMap<String, Coded>,
    stores: Stores,
    tied: bool,
    notes: Vec<String>,
}

/// A tensor as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct TensorView<'a> {
    /// The storage type.
    pub dtype: Dtype,
    /// The dimensions, outermost first.
    pub shape: &'a [usize],
    /// The elements, little endian and row-major; not necessarily aligned.
    pub bytes: &'a [u8],
}

/// Older checkpoints store RoPE's frequencies, which follow from the configuration.
const ROTARY: &str = "rotary_emb.inv_freq";
const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

impl Checkpoint {
    /// Maps the weights in the folder `dir` and checks them against `config`.
    ///
    /// # Errors
    /// When a file is missing, truncated or malformed; when a tensor is missing, or has another shape or type than the
    /// configuration implies; when the checkpoint is quantised.
    pub fn open(dir: &Path, config: &Config) -> Result<Self, ModelError> {
        let single = dir.join(SINGLE);
        let index = dir.join(INDEX);
        let (files, places, listing) = if files::exists(&single) {
            let file = WeightsFile::open(&single)?;
            let places = file.tensors.keys().map(|name| (name.clone(), 0)).collect();
            (vec![file], places, single)
        } else if index.exists() {
            let (files, places) = open_shards(dir, &index)?;
            (files, places, index)
        } else {
            return Err(ModelError::NoFile { folder: dir.into(), file: SINGLE.into(), help: missing_help(dir) });
        };
        let stores = codes::stores(&files)?;
        let (coded, notes) = (HashMap::new(), Vec::new());
        let mut checkpoint = Self { files, places, coded, stores, tied: false, notes };
        checkpoint.refuse_quantised()?;
        checkpoint.check_tensors(config, &listing)?;
        checkpoint.check_strangers(config, &listing)?;
        checkpoint.settle_head(config, &listing)?;
        Ok(checkpoint)
    }

    /// A tensor as it is stored, if the files hold it.
    pub fn tensor(&self, name: &str) -> Option<TensorView<'_>> {
        let (file, entry) = self.entry(name)?;
        let dtype = Dtype::from_name(&entry.dtype)?;
        Some(TensorView { dtype, shape: &entry.shape, bytes: file.bytes(entry) })
    }

    /// What the user may want to know about the files though it is not an error.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The bytes of all weights as stored.
    pub fn stored_bytes(&self) -> u64 {
        self.places.keys().filter_map(|name| self.entry(name)).map(|(file, e)| file.bytes(e).len() as u64).sum()
    }

    fn entry(&self, name: &str) -> Option<(&WeightsFile, &Entry)> {
        let file = &self.files[*self.places.get(name)?];
        Some((file, file.tensors.get(name)?))
    }

    fn refuse_quantised(&self) -> Result<(), ModelError> {
        const SIGNS: [&str; 5] =
            [".qweight", ".qzeros", ".weight_packed", ".weight_scale_inv", ".quant_state.bitsandbytes__nf4"];
        let sign = self.places.keys().filter(|name| SIGNS.iter().any(|s| name.ends_with(s))).min();
        match sign {
            Some(name) => Err(ModelError::Quantised {
                path: self.files[self.places[name]].path.clone(),
                method: format!("it holds `{name}`"),
            }),
            None => Ok(()),
        }
    }

    fn check_tensors(&mut self, config: &Config, listing: &Path) -> Result<(), ModelError> {
        // Whether the head may be absent is settled afterwards; if it is there, it must fit.
        for spec in expected_tensors(&Config { tie_word_embeddings: false, ..config.clone() }) {
            let storage = self.stores.of(&spec.name).filter(|_| spec.name != HEAD || self.has_head());
            if let Some(coded) = codes::check(&self.files, &self.places, listing, &spec, storage)? {
                self.coded.insert(spec.name, coded);
                continue;
            }
            let Some((file, entry)) = self.entry(&spec.name) else {
                if spec.name == HEAD {
                    continue;
                }
                return Err(ModelError::NoTensor {
                    path: listing.into(),
                    tensor: spec.name,
                    expected: spec.shape,
                    help: "are weights and config.json of the same model?".into(),
                });
            };
            let (path, tensor) = (file.path.clone(), spec.name);
            if entry.shape != spec.shape {
                let found = entry.shape.clone();
                return Err(ModelError::Shape { path, tensor, found, expected: spec.shape });
            }
            if Dtype::from_name(&entry.dtype).is_none() {
                return Err(ModelError::Dtype { path, tensor, found: entry.dtype.clone() });
            }
        }
        Ok(())
    }

    /// Layers beyond the configuration's are another model's; other tensors that it does not have are named.
    fn check_strangers(&mut self, config: &Config, listing: &Path) -> Result<(), ModelError> {
        let known: HashSet<String> = expected_tensors(&Config { tie_word_embeddings: false, ..config.clone() })
            .into_iter()
            .map(|spec| spec.name)
            .collect();
        let coded: HashSet<&String> = self.coded.values().map(|c| &c.entry).collect();
        let strange = |name: &&String| !known.contains(*name) && !coded.contains(name) && !name.ends_with(ROTARY);
        let mut strangers: Vec<&String> = self.places.keys().filter(strange).collect();
        strangers.sort_unstable();
        let layers = config.num_hidden_layers;
        let beyond = strangers.iter().filter_map(|name| Some((layer_of(name)?, name)));
        if let Some((layer, tensor)) = beyond.filter(|(layer, _)| *layer >= layers).max_by_key(|(layer, _)| *layer) {
            return Err(ModelError::ExtraLayer { path: listing.into(), layer, tensor: tensor.to_string(), layers });
        }
        if let Some(first) = strangers.first() {
            self.notes.push(format!(
                "{}: {} not Qwen2's and not used, such as `{first}`",
                listing.display(),
                counted(strangers.len(), "of its tensors is", "of its tensors are")
            ));
        }
        Ok(())
    }

    /// The head is the embedding if and only if the configuration says so and the files hold no other.
    fn settle_head(&mut self, config: &Config, listing: &Path) -> Result<(), ModelError> {
        if self.coded.contains_key(HEAD) || self.coded.contains_key(EMBEDDING) && self.has_head() {
            return Ok(());
        }
        let (Some(head), Some(embedding)) = (self.tensor(HEAD), self.tensor(EMBEDDING)) else {
            if config.tie_word_embeddings {
                self.tied = true;
                return Ok(());
            }
            return Err(ModelError::NoTensor {
                path: listing.into(),
                tensor: HEAD.into(),
                expected: vec![config.vocab_size, config.hidden_size],
                help:
                    "config.json says `tie_word_embeddings`: false; if the model shares its head with the embedding, \
                       set it to true; otherwise download the weights again"
                        .into(),
            });
        };
        if config.tie_word_embeddings {
            self.tied = head.dtype == embedding.dtype && head.bytes == embedding.bytes;
            if !self.tied {
                self.notes.push(format!(
                    "{}: config.json says `tie_word_embeddings`: true, but the files hold a different `{HEAD}`; using it",
                    listing.display()
                ));
            }
        }
        Ok(())
    }
}

impl WeightSource for Checkpoint {
    fn shape(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        match self.coded.get(name) {
            Some(coded) => Ok(coded.shape.clone()),
            None => self.known(name).map(|t| t.shape.to_vec()),
        }
    }

    fn rows_f32(&self, name: &str, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelError> {
        if let Some((coded, bytes)) = self.codes(name) {
            element_range(name, &coded.shape, &rows, out.len())?;
            out.copy_from_slice(&coded.values(bytes, rows)?);
            return Ok(());
        }
        let tensor = self.known(name)?;
        let elements = element_range(name, tensor.shape, &rows, out.len())?;
        let size = tensor.dtype.size();
        convert::to_f32(tensor.dtype, &tensor.bytes[elements.start * size..elements.end * size], out);
        Ok(())
    }

    fn rows_encoded(&self, name: &str, rows: Range<usize>, storage: Storage) -> Result<Option<Vec<u32>>, ModelError> {
        let Some((coded, bytes)) = self.codes(name).filter(|(coded, _)| coded.storage == storage) else {
            return Ok(None);
        };
        element_range(name, &coded.shape, &rows, rows.len() * coded.shape[1])?;
        Ok(Some(coded.words(bytes, rows)))
    }

    fn stores(&self) -> Stores {
        self.stores
    }

    fn tied(&self) -> bool {
        self.tied
    }
}

impl Checkpoint {
    /// A matrix that lies in the files as codes, with the bytes of all its words.
    fn codes(&self, name: &str) -> Option<(&Coded, &[u8])> {
        let coded = self.coded.get(name)?;
        let (file, entry) = self.entry(&coded.entry)?;
        Some((coded, file.bytes(entry)))
    }

    /// Whether the files hold a head of its own, in any storage.
    fn has_head(&self) -> bool {
        let names = Storage::ALL.iter().map(|s| codes::entry_name(HEAD, *s));
        names.chain([HEAD.to_string()]).any(|name| self.places.contains_key(&name))
    }

    fn known(&self, name: &str) -> Result<TensorView<'_>, ModelError> {
        self.tensor(name).ok_or_else(|| ModelError::NoTensor {
            path: self.files.first().map(|f| f.path.clone()).unwrap_or_default(),
            tensor: name.into(),
            expected: Vec::new(),
            help: "no tensor of this name belongs to the model".into(),
        })
    }
}

/// The elements of `rows`, if the tensor has them and they fill a buffer of `length`.
pub(crate) fn element_range(
    name: &str,
    shape: &[usize],
    rows: &Range<usize>,
    length: usize,
) -> Result<Range<usize>, ModelError> {
    let (count, columns) = (shape.first().copied().unwrap_or(1), shape.iter().skip(1).product::<usize>());
    if rows.start > rows.end || rows.end > count || rows.len() * columns != length {
        return Err(ModelError::Rows {
            tensor: name.into(),
            rows: count,
            columns,
            asked: format!("asked for rows {}..{} into a buffer of {length} elements", rows.start, rows.end),
        });
    }
    Ok(rows.start * columns..rows.end * columns)
}

/// Opens every shard that the index names and checks that each holds what the index places there.
fn open_shards(dir: &Path, index: &Path) -> Result<(Vec<WeightsFile>, HashMap<String, usize>), ModelError> {
    let value = read_json(index)?;
    let wrong = |field: &str, found: String, expected: &str| ModelError::Field {
        path: index.into(),
        field: field.into(),
        found,
        expected: expected.into(),
    };
    let map = value["weight_map"].as_object().filter(|m| !m.is_empty());
    let map =
        map.ok_or_else(|| wrong("weight_map", "missing or empty".into(), "an object from tensor names to file names"))?;

    let mut shards: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for (tensor, shard) in map {
        let name = shard.as_str().filter(|s| Path::new(s).file_name().is_some_and(|f| f == *s));
        let name = name.ok_or_else(|| {
            wrong(&format!("weight_map.{tensor}"), shard.to_string(), "the name of a file beside the index")
        })?;
        shards.entry(name).or_default().push(tensor);
    }
    for (shard, tensors) in &shards {
        let path = dir.join(shard);
        if !path.is_file() {
            return Err(ModelError::NoShard {
                index: index.into(),
                shard: (*shard).into(),
                tensors: tensors.len(),
                found: if path.exists() { "it is no regular file" } else { "there is no such file" }.into(),
            });
        }
    }
    let (mut files, mut places) = (Vec::new(), HashMap::new());
    for (shard, tensors) in shards {
        let file = WeightsFile::open(&dir.join(shard))?;
        for tensor in tensors {
            if !file.tensors.contains_key(tensor) {
                return Err(ModelError::NotInShard { index: index.into(), tensor: tensor.clone(), shard: file.path });
            }
            places.insert(tensor.clone(), files.len());
        }
        files.push(file);
    }
    Ok((files, places))
}

fn missing_help(dir: &Path) -> String {
    let other =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| PathBuf::from(e.file_name())).find(|p| {
            p.extension().is_some_and(|e| e == "gguf" || e == "bin" || e == "pth" || e == "pt" || e == "safetensors")
        });
    match other {
        Some(name) => format!("{} is not read; expected {SINGLE}, or {INDEX} and its shards", name.display()),
        None => format!("expected {SINGLE}, or {INDEX} and its shards; download the weights"),
    }
}
