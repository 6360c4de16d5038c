//! Three kinds of plot as SVG text: bars, a line over a logarithmic axis, and several lines over two of them.
//!
//! The rule: a plot is readable on a light and on a dark page, in print and without colours; every value is written out beside its
//! mark, with its spread. Absent: a library; what is drawn are rectangles, lines and words.
//! SVG 2: <https://www.w3.org/TR/SVG2/>.

use std::fmt::Write;

use crate::spread::Spread;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 170.0;

const STYLE: &str = "\
<style>text{font:13px system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:15px}.q{fill:#57606a}.b{fill:#0969da}\
.l{stroke:#0969da;stroke-width:2;fill:none}.s{stroke:#24292f;stroke-width:1.5}.g{stroke:#d0d7de}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#8d96a0}.b{fill:#4493f8}.l{stroke:#4493f8}.s{stroke:#e6edf3}.g{stroke:#3d444d}}\
</style>";

/// One bar a row, with its name before it and its value behind it.
pub fn bars(title: &str, unit: &str, rows: &[(String, Spread)]) -> String {
    let height = 54.0 + 26.0 * rows.len() as f64;
    let most = rows.iter().map(|(_, s)| s.max).fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * value / most;
    let mut out = head(title, unit, height);
    for (i, (name, spread)) in rows.iter().enumerate() {
        let y = 50.0 + 26.0 * i as f64;
        let width = (x(spread.median) - LEFT).max(1.0);
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>\
             <rect class=\"b\" x=\"{LEFT:.0}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"16\"/>\
             <path class=\"s\" d=\"M{:.1} {:.0}H{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.0}\">{}</text>",
            LEFT - 8.0,
            y + 13.0,
            escaped(name),
            x(spread.min),
            y + 8.0,
            x(spread.max).max(x(spread.min) + 1.0),
            x(spread.max) + 8.0,
            y + 13.0,
            told(spread)
        );
    }
    out + "</svg>\n"
}

/// Values over a logarithmic axis of whole numbers.
pub fn line(title: &str, unit: &str, axis: &str, points: &[(u32, Spread)]) -> String {
    let height = 320.0;
    let (top, bottom) = (68.0, height - 64.0);
    let (first, last) = (points.first().map_or(1, |p| p.0), points.last().map_or(2, |p| p.0));
    let span = (f64::from(last) / f64::from(first)).ln().max(1e-9);
    let most = points.iter().map(|(_, s)| s.max).fold(f64::MIN_POSITIVE, f64::max);
    let x = |n: u32| 60.0 + (WIDTH - 60.0 - RIGHT) * (f64::from(n) / f64::from(first)).ln() / span;
    let y = |value: f64| bottom - (bottom - top) * value / most;
    let mut out = head(title, unit, height);
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        let _ = writeln!(
            out,
            "<path class=\"g\" d=\"M60 {0:.1}H{1:.0}\"/><text class=\"q\" x=\"52\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(value),
            WIDTH - RIGHT + 20.0,
            y(value) + 4.0,
            three(value)
        );
    }
    let place = |(i, (n, s)): (usize, &(u32, Spread))| {
        format!("{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(*n), y(s.median))
    };
    let path: String = points.iter().enumerate().map(place).collect();
    let _ = writeln!(out, "<path class=\"l\" d=\"{path}\"/>");
    for (n, spread) in points {
        let (x, mid) = (x(*n), y(spread.median));
        let _ = writeln!(
            out,
            "<path class=\"s\" d=\"M{x:.1} {:.1}V{:.1}\"/><circle class=\"b\" cx=\"{x:.1}\" cy=\"{mid:.1}\" r=\"4\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{n}</text>\
             <text class=\"q\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}–{}</text>",
            y(spread.max),
            y(spread.min),
            y(spread.max) - 8.0,
            three(spread.median),
            bottom + 18.0,
            bottom + 34.0,
            three(spread.min),
            three(spread.max)
        );
    }
    let _ = writeln!(out, "<text class=\"q\" x=\"60\" y=\"{:.0}\">{}</text>", height - 10.0, escaped(axis));
    out + "</svg>\n"
}

/// Several lines over a logarithmic axis of whole numbers, against a logarithmic axis of values: a factor is as high everywhere.
pub fn lines(title: &str, unit: &str, axis: &str, series: &[(String, Vec<(u32, Spread)>)]) -> String {
    /// Dashes of each line, so that they differ without colours.
    const DASHES: [&str; 6] = ["none", "8 4", "2 4", "10 3 2 3", "14 6", "4 2"];
    let height = 340.0;
    let (top, bottom) = (68.0, height - 64.0);
    let points = || series.iter().flat_map(|(_, points)| points);
    let (first, last) = points().fold((u32::MAX, 1), |(a, b), (n, _)| (a.min(*n), b.max(*n)));
    let (least, most) = points().fold((f64::INFINITY, 0.0), |(a, b), (_, s)| (s.min.min(a), s.max.max(b)));
    let mut out = head(title, unit, height);
    if most <= 0.0 {
        return out + "</svg>\n";
    }
    let least = least.max(most * 1e-9);
    let along = |value: f64, from: f64, to: f64| (value / from).ln() / (to / from).ln().max(1e-9);
    let x = |n: u32| 60.0 + (WIDTH - 60.0 - RIGHT) * along(f64::from(n), f64::from(first), f64::from(last));
    let y = |value: f64| bottom - (bottom - top) * along(value.max(least), least, most);
    for decade in (least.log10().floor() as i32)..=(most.log10().ceil() as i32) {
        let value = 10f64.powi(decade);
        if (least..=most).contains(&value) {
            let _ = writeln!(
                out,
                "<path class=\"g\" d=\"M60 {0:.1}H{1:.0}\"/><text class=\"q\" x=\"52\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
                y(value),
                WIDTH - RIGHT + 10.0,
                y(value) + 4.0,
                three(value)
            );
        }
    }
    let mut labels: Vec<(f64, String)> = Vec::new();
    for (i, (name, points)) in series.iter().enumerate() {
        let place = |(i, (n, s)): (usize, &(u32, Spread))| {
            format!("{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(*n), y(s.median))
        };
        let path: String = points.iter().enumerate().map(place).collect();
        let _ = writeln!(out, "<path class=\"l\" stroke-dasharray=\"{}\" d=\"{path}\"/>", DASHES[i % DASHES.len()]);
        for (n, s) in points {
            let (x, from, to) = (x(*n), y(s.max), y(s.min));
            let _ = writeln!(
                out,
                "<path class=\"s\" d=\"M{x:.1} {from:.1}V{to:.1}\"/><circle class=\"b\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\"/>",
                y(s.median)
            );
        }
        if let Some((_, end)) = points.last() {
            labels.push((y(end.median), format!("{name}: {}", three(end.median))));
        }
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = 0.0;
    for (wished, label) in labels {
        let at = f64::max(wished + 4.0, free);
        free = at + 16.0;
        let _ = writeln!(out, "<text x=\"{:.0}\" y=\"{at:.1}\">{}</text>", WIDTH - RIGHT + 12.0, escaped(&label));
    }
    let mut all: Vec<u32> = points().map(|(n, _)| *n).collect();
    all.sort_unstable();
    all.dedup();
    for n in all {
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{n}</text>", x(n), bottom + 18.0);
    }
    let _ = writeln!(out, "<text class=\"q\" x=\"60\" y=\"{:.0}\">{}</text>", height - 10.0, escaped(axis));
    out + "</svg>\n"
}

fn head(title: &str, unit: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{0}\">{STYLE}\n\
         <text class=\"t\" x=\"8\" y=\"20\">{0}</text><text class=\"q\" x=\"8\" y=\"38\">{1}; the dark mark is the spread of the runs</text>",
        escaped(title),
        escaped(unit)
    )
}

/// A median with its spread, where there is one.
pub fn told(spread: &Spread) -> String {
    if spread.min == spread.max {
        return three(spread.median);
    }
    format!("{} ({}–{})", three(spread.median), three(spread.min), three(spread.max))
}

/// Three significant digits, and no fewer than are before the point.
pub fn three(x: f64) -> String {
    let digits = if x >= 100.0 || x == 0.0 { 0 } else { (2 - x.max(1e-3).log10().floor() as i32).max(0) as usize };
    format!("{x:.digits$}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(median: f64) -> Spread {
        Spread { median, min: median * 0.9, max: median * 1.1 }
    }

    #[test]
    fn every_value_is_written_out() {
        let bars = bars("a < b", "tok/s", &[("naive".into(), spread(10.0)), ("wide".into(), spread(1234.0))]);
        for part in ["a &lt; b", ">naive<", ">10.0 (9.00–11.0)<", ">1234 (1111–1357)<", "prefers-color-scheme:dark"]
        {
            assert!(bars.contains(part), "no {part}: {bars}");
        }
        assert_eq!((bars.matches("<rect").count(), bars.matches("</svg>").count()), (2, 1));
    }

    #[test]
    fn a_factor_is_as_high_everywhere() {
        let series =
            [("a".to_string(), vec![(1, spread(1.0)), (10, spread(10.0))]), ("b".into(), vec![(1, spread(100.0))])];
        let text = lines("t", "us", "n", &series);
        let ys: Vec<f64> = text
            .match_indices("cy=\"")
            .map(|(i, _)| text[i + 4..].split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!((ys[0] - ys[1] - (ys[1] - ys[2])).abs() < 0.2, "{ys:?}");
        assert!(text.contains(">a: 10.0<") && text.contains(">b: 100<") && text.contains("8 4"), "{text}");
        assert!(!text.contains("NaN") && !lines("t", "u", "a", &[("none".into(), Vec::new())]).contains("NaN"));
        assert!(!lines("t", "u", "a", &[("one".into(), vec![(5, spread(2.0))])]).contains("NaN"));
    }

    #[test]
    fn marks_lie_where_their_values_are() {
        let text = line("t", "tok/s", "prompt", &[(128, spread(100.0)), (1024, spread(50.0)), (8192, spread(25.0))]);
        let xs: Vec<f64> = text
            .match_indices("cx=\"")
            .map(|(i, _)| text[i + 4..].split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(
            xs.len() == 3 && (xs[1] - xs[0] - (xs[2] - xs[1])).abs() < 0.2,
            "equal factors are equal steps: {xs:?}"
        );
        assert!(text.contains(">100<") && text.contains(">90.0–110<"), "{text}");
        assert!(!text.contains("NaN") && !line("t", "u", "a", &[(5, spread(1.0))]).contains("NaN"));
    }
}
