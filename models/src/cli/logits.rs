//! `logits`: token ids in, a safetensors file out.

use std::io;
use std::path::Path;

use safetensors::{Dtype, View};

use super::args::LogitsArgs;
use super::error::CliError;
use super::model::{self, Folder};
use super::output;
use crate::error::ModelError;

/// Runs the command.
pub fn run(args: &LogitsArgs) -> Result<(), CliError> {
    model::check_flags(&args.engine)?;
    output::check_place("--output", &args.output, args.force)?;
    let folder = Folder::open(&args.model)?;
    folder.check_ids(&args.ids)?;
    let ids = &args.ids.0;
    let context = folder.context(args.engine.context, "the prompt has", ids.len(), 0)?;
    let options = model::options(&args.engine, args.tier.tier, context)?;
    let mut loaded = folder.load(&options)?;
    if args.verbose {
        super::generate::describe(&loaded);
    }

    let vocab = folder.config.vocab_size;
    let (shape, values) = if args.all {
        let rows = loaded.engine.prefill_all(ids)?;
        (vec![rows.len(), vocab], rows.concat())
    } else {
        let step = loaded.engine.prefill(ids)?;
        let missing = ModelError::NoCandidates { position: ids.len(), logits: 0, limit: vocab };
        (vec![vocab], step.logits.ok_or(missing)?)
    };
    output::write_file(&args.output, &safetensors(&args.output, shape, &values)?, args.force)?;
    output::line(&format!("wrote {}", args.output.display()));
    Ok(())
}

/// The file's bytes; `path` is for the message.
fn safetensors(path: &Path, shape: Vec<usize>, values: &[f32]) -> Result<Vec<u8>, CliError> {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let tensor = Tensor { shape, bytes };
    safetensors::serialize([("logits", &tensor)], None)
        .map_err(|e| CliError::Write { path: path.into(), source: io::Error::other(e.to_string()) })
}

struct Tensor {
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> std::borrow::Cow<'_, [u8]> {
        (&self.bytes).into()
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}
