//! `quantize`: a model folder with its matrices as codes.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};

use super::args::{ModelArgs, QuantizeArgs};
use super::error::CliError;
use super::interrupt;
use super::model::Folder;
use super::output::{self, Progress};
use crate::error::ModelError;
use crate::quantise::{Quantised, quantise};
use crate::stores::{self, Lost};

/// Runs the command.
pub fn run(args: &QuantizeArgs) -> Result<(), CliError> {
    if !args.store.quantises() {
        let message = format!("--store {} makes no codes of anything", args.store);
        return Err(CliError::usage(message, "int8 or nf4, such as `--store nf4,embedding=f16`"));
    }
    let folder = Folder::open(&ModelArgs { model: Some(args.input.clone()) })?;
    let weights = folder.weights()?;
    let (bar, watch) = (Progress::new("quantising"), interrupt::watch());
    let done = quantise(&folder.dir, &folder.config, &weights, args.store, &args.out, &mut |done, total| {
        bar.set(done, total);
        if watch.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    drop(bar);
    if let Err(ModelError::Stopped { path }) = done {
        return Err(CliError::Interrupted(format!("interrupted; what was begun in {} is removed", path.display())));
    }
    let done = done?;
    stores::summary(&done.lost).iter().for_each(|text| output::line(text));
    output::line(&format!(
        "wrote {} to {}: {} bytes of weights, {:.2} times less than in f32",
        args.store,
        args.out.display(),
        done.bytes,
        done.f32_bytes as f64 / done.bytes as f64
    ));
    if args.json {
        output::out(&format!("{:#}\n", report(&done, &args.out)))?;
    }
    Ok(())
}

/// What was written, and what each matrix lost.
fn report(done: &Quantised, out: &Path) -> Value {
    let row = |l: &Lost| {
        json!({
            "tensor": l.tensor,
            "storage": l.storage.to_string(),
            "relative_error": l.loss.relative(),
            "largest_error_of_bound": l.loss.worst,
        })
    };
    json!({
        "out": out.display().to_string(),
        "weight_bytes": done.bytes,
        "f32_bytes": done.f32_bytes,
        "tensors": done.lost.iter().map(row).collect::<Vec<_>>(),
    })
}
