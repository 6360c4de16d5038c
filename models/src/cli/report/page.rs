//! The figures as Markdown, as JSON, and as files.

use std::fmt::Write;

use serde_json::{Value, json};

use super::super::args::ReportArgs;
use super::{Figure, Tier, peers};
use crate::plot::{bars, line, told};
use crate::spread::Spread;

/// The files of a report, in the order of [`Page::files`].
pub const FILES: [&str; 4] = ["report.md", "report.json", "tiers.svg", "context.svg"];

/// Everything that was measured.
pub struct Page<'a> {
    /// The flags.
    pub args: &'a ReportArgs,
    /// The adapter, in the words of `doctor`.
    pub device: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The first model's speed on each tier.
    pub tiers: Vec<Tier>,
    /// The first model's speed after each prompt.
    pub contexts: Vec<(u32, Spread)>,
}

impl Page<'_> {
    /// The page.
    pub fn markdown(&self) -> String {
        let mut out = String::from("# Figures\n\n");
        self.device.iter().for_each(|line| {
            let _ = writeln!(out, "- {line}");
        });
        let _ = writeln!(
            out,
            "- tilewright {}; each figure is the median of {} runs after one to warm up, and the least and the most\n",
            env!("CARGO_PKG_VERSION"),
            self.args.runs
        );
        let _ = writeln!(out, "| model | figure | here | % of copy | {} |", peers::HEADS.join(" | "));
        let _ = writeln!(out, "|---|---|---|---|{}", "---|".repeat(peers::HEADS.len()));
        for figure in &self.figures {
            let here = match (&figure.value, &figure.error) {
                (Some(spread), _) => format!("{} {}", told(spread), figure.unit),
                (None, error) => format!("none: {}", error.as_deref().unwrap_or("not measured").replace('|', "/")),
            };
            let copy = figure.percent_of_copy.map_or(String::new(), |share| format!("{share:.1}"));
            let others = peers::beside(&figure.model, &figure.what).join(" | ");
            let _ = writeln!(out, "| {} | {} | {here} | {copy} | {others} |", figure.model, figure.what);
        }
        let _ = writeln!(out, "\n{}\n\nThe commands:\n\n```sh", peers::HOW);
        let mut told = Vec::new();
        for figure in self.figures.iter().filter(|f| !f.command.is_empty()) {
            if !told.contains(&&figure.command) {
                let _ = writeln!(out, "{}", figure.command);
                told.push(&figure.command);
            }
        }
        out.push_str("```\n");
        if self.args.output.is_some() {
            out.push_str(
                "\n![Decode speed of each tier](tiers.svg)\n\n![Decode speed after longer prompts](context.svg)\n",
            );
        }
        out
    }

    /// One object.
    pub fn json(&self) -> Value {
        let spread = Spread::json;
        let figure = |f: &Figure| {
            json!({
                "model": f.model,
                "figure": f.what,
                "unit": f.unit,
                "value": f.value.as_ref().map(spread),
                "percent_of_copy": f.percent_of_copy,
                "others": peers::HEADS.iter().zip(peers::beside(&f.model, &f.what)).filter(|(_, x)| !x.is_empty())
                    .map(|(head, x)| ((*head).to_string(), x.into())).collect::<serde_json::Map<String, Value>>(),
                "command": f.command,
                "error": f.error,
            })
        };
        let tier = |t: &Tier| json!({ "tier": t.number, "name": t.name, "decode_tokens_per_s": spread(&t.decode) });
        json!({
            "device": self.device,
            "runs": self.args.runs,
            "figures": self.figures.iter().map(figure).collect::<Vec<_>>(),
            "tiers": self.tiers.iter().map(tier).collect::<Vec<_>>(),
            "others_measured_by": peers::HOW,
        })
    }

    /// The texts of [`FILES`].
    pub fn files(&self) -> [String; 4] {
        let name = |t: &Tier| if t.name == "auto" { "auto".into() } else { format!("{} {}", t.number, t.name) };
        let rows: Vec<(String, Spread)> = self.tiers.iter().map(|t| (name(t), t.decode)).collect();
        let model = self.figures.first().map_or("", |f| f.model.as_str());
        let first = self.args.contexts.0[0];
        let tiers =
            bars(&format!("{model}: decode speed of each tier, after a prompt of {first}"), "tokens a second", &rows);
        let context =
            line(&format!("{model}: decode speed"), "tokens a second", "tokens of the prompt", &self.contexts);
        [self.markdown(), format!("{:#}\n", self.json()), tiers, context]
    }
}
