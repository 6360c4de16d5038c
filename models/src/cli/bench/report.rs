//! The optimisation report: each tier as an experiment, at a short and at a long context.
//!
//! The rule: a gain is claimed only where the ranges of the runs do not meet; where there is none, the numbers that bound a token's
//! time say why. Those bounds are the bytes at the speed of a copy and the dispatches at the cost of an empty one; what is left
//! is arithmetic, waiting for memory, and the host. Absent: opinions; hypothesis and risk are the tier's own text.

use std::fmt::Write;

use super::measure::{Bench, Device, Measured, Row};
use super::rule::TOLERANCE;
use super::table;
use crate::spread::Spread;
use crate::tiers::{self, Tier};

/// The measurements of one context.
type Context<'a> = (&'a Bench<'a>, &'a [Row]);

/// The document, of the short and of the long context.
pub fn markdown(contexts: [(&Bench, &Vec<Row>); 2], device: Option<&Device>) -> String {
    let contexts: [Context; 2] = contexts.map(|(bench, rows)| (bench, rows.as_slice()));
    let (short, rows) = contexts[0];
    let mut out = String::from("# Optimisation report\n\n");
    let _ = writeln!(out, "- model: `{}`", short.folder.dir.display());
    match device {
        Some(d) => {
            let _ = writeln!(out, "- adapter: {}", d.name);
            let _ = writeln!(
                out,
                "- a copy moves {:.1} GB/s, reading and writing; an empty dispatch takes {:.1} µs",
                d.copy_gb_per_s, d.dispatch_us
            );
        }
        None => out.push_str("- back end: the interpreter\n"),
    }
    let _ = writeln!(out, "- command: `{}`", command());
    let _ = writeln!(
        out,
        "- each speed is the median of {} runs after one to warm up, and the least and the most; tokens are held against tier 0's, \
         logits to {TOLERANCE:.0e} of the largest",
        short.args.runs
    );
    for (bench, rows) in contexts {
        let _ = writeln!(out, "\n## {}\n\n{}", title(bench), table::markdown(rows).trim_end());
    }
    for row in rows.iter().filter(|row| !row.auto) {
        experiment(&mut out, row.tier, &contexts, device);
    }
    out
}

fn command() -> String {
    let args: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    format!("tilewright {}", args.join(" "))
}

fn title(bench: &Bench) -> String {
    format!("{} tokens after a prompt of {}", bench.args.generate, bench.prompt)
}

fn experiment(out: &mut String, number: usize, contexts: &[Context; 2], device: Option<&Device>) {
    let tier = tiers::tier(number);
    let _ = writeln!(out, "\n## Tier {number}: {}\n", tier.name);
    let _ = writeln!(out, "- **Hypothesis.** {}", tier.hypothesis);
    change(out, tier);
    for (bench, rows) in contexts {
        let _ = writeln!(out, "- **After a prompt of {}.**", bench.prompt);
        let at = rows.iter().position(|row| row.tier == number && !row.auto);
        let Some((at, row)) = at.and_then(|at| Some((at, rows.get(at)?))) else { continue };
        let before = rows[..at].iter().rev().find_map(|row| Some((row.tier, row.result.as_ref().ok()?)));
        match &row.result {
            Err(error) => {
                let _ = writeln!(out, "  - It does not run here: {}", error.to_string().replace('\n', " "));
            }
            Ok(now) => {
                numbers(out, now, before);
                if let (Some((_, then)), Some(device)) = (before, device)
                    && !gained(&then.decode, &now.decode)
                {
                    let _ = writeln!(out, "  - Why decode gains nothing: {}", why(then, now, device));
                }
                time(out, now, device);
            }
        }
    }
    let _ = writeln!(out, "- **Risk.** {}", tier.risk);
}

fn change(out: &mut String, tier: &Tier) {
    let _ = writeln!(out, "- **Change.** {}", tier.change);
    let lines = tiers::changed_lines(tier);
    if !lines.is_empty() {
        let _ = writeln!(out, "\n  ```text");
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "  ```\n");
    }
}

fn numbers(out: &mut String, now: &Measured, before: Option<(usize, &Measured)>) {
    let speeds =
        |m: &Measured| format!("decode {}, prefill {} tok/s", table::speed(&m.decode), table::speed(&m.prefill));
    match before {
        None => {
            let _ = writeln!(out, "  - Baseline: this is one; {}", speeds(now));
        }
        Some((tier, then)) => {
            let _ = writeln!(out, "  - Baseline: tier {tier}; {}", speeds(then));
            let _ = writeln!(out, "  - Now: {}", speeds(now));
            let _ = writeln!(
                out,
                "  - Gain: decode {}; prefill {}",
                gain(&then.decode, &now.decode),
                gain(&then.prefill, &now.prefill)
            );
            let _ = writeln!(out, "  - A token's cost: {}", costs(then, now));
        }
    }
    let _ = writeln!(out, "  - Check: tokens {}", now.verdict.text());
}

/// Whether the slowest run now beats the fastest run then.
fn gained(then: &Spread, now: &Spread) -> bool {
    now.min > then.max
}

/// A factor, where the runs tell one from noise.
fn gain(then: &Spread, now: &Spread) -> String {
    let factor = now.median / then.median;
    match (gained(then, now), gained(now, then)) {
        (true, _) => format!("×{factor:.2}"),
        (_, true) => format!("×{factor:.2}, a loss"),
        _ => format!("none that the runs tell from noise (×{factor:.2}, and the ranges meet)"),
    }
}

/// What a change saved of bytes and dispatches, and what became of the rest.
fn why(then: &Measured, now: &Measured, device: &Device) -> String {
    let (a, b) = (Bounds::of(then, device), Bounds::of(now, device));
    let saved = a.bytes + a.dispatches - b.bytes - b.dispatches;
    let spread = [then.decode, now.decode].map(|s| (s.max - s.min) / s.median).into_iter().fold(0.0, f64::max);
    format!(
        "of {:.0} µs a token, its bytes and dispatches {} µs; the rest went from {:.0} to {:.0} µs; the runs \
         themselves differ by {:.0} %",
        a.token,
        if saved < 0.0 { format!("add {:.0}", -saved) } else { format!("save at best {saved:.0}") },
        a.rest(),
        b.rest(),
        100.0 * spread
    )
}

/// Microseconds of a token, and what two of its parts would take alone.
struct Bounds {
    token: f64,
    bytes: f64,
    dispatches: f64,
}

impl Bounds {
    fn of(measured: &Measured, device: &Device) -> Self {
        let bytes = (measured.info.bytes_read + measured.info.bytes_written) as f64;
        Bounds {
            token: 1e6 / measured.decode.median,
            bytes: bytes / device.copy_gb_per_s / 1e3,
            dispatches: f64::from(measured.info.dispatches) * device.dispatch_us,
        }
    }

    /// Arithmetic, waiting for memory, submits and the host.
    fn rest(&self) -> f64 {
        self.token - self.bytes - self.dispatches
    }
}

fn costs(then: &Measured, now: &Measured) -> String {
    let (a, b) = (&then.info, &now.info);
    let pairs = [
        ("submits", u64::from(a.submits), u64::from(b.submits)),
        ("dispatches", u64::from(a.dispatches), u64::from(b.dispatches)),
        ("bytes read back", a.readback_bytes, b.readback_bytes),
        ("bytes read and written", a.bytes_read + a.bytes_written, b.bytes_read + b.bytes_written),
    ];
    let one =
        |(what, a, b): (&str, u64, u64)| if a == b { format!("{a} {what}") } else { format!("{a} → {b} {what}") };
    pairs.map(one).join(", ")
}

/// Where a token's time goes, as far as two bounds can tell.
fn time(out: &mut String, now: &Measured, device: Option<&Device>) {
    let Some(device) = device else { return };
    let Bounds { token, bytes, dispatches } = Bounds::of(now, device);
    let share = |us: f64| format!("{us:.0} µs ({:.0} %)", 100.0 * us / token);
    let _ = writeln!(
        out,
        "  - Where {token:.0} µs a token go: its bytes at the speed of a copy would take {}, its dispatches if they were empty {}; \
         the rest is arithmetic, waiting for memory, submits and the host. A change that lowers only one of these gains at most \
         that share.",
        share(bytes),
        share(dispatches)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_within_noise_are_not_claimed() {
        let spread = |median, min, max| Spread { median, min, max };
        let slow = spread(10.0, 9.0, 11.0);
        assert_eq!(gain(&slow, &spread(20.0, 19.0, 21.0)), "×2.00");
        assert_eq!(gain(&slow, &spread(5.0, 4.0, 6.0)), "×0.50, a loss");
        assert!(gain(&slow, &spread(11.0, 10.5, 12.0)).starts_with("none"));
    }
}
