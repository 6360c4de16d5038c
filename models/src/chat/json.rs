//! JSON to template values, and template values to JSON as Python's `json.dumps` writes it.
//!
//! The rule: byte for byte what transformers' `tojson` gives, because the model was trained on it: `", "` and `": "`
//! between items, characters beyond ASCII as they are, floats as Python's `repr`, keys in their order, no HTML escapes.

use minijinja::value::{Kwargs, Value as Jinja, ValueKind};
use minijinja::{Error, ErrorKind};
use serde_json::{Map, Value};

/// A JSON value as a template sees it.
pub(super) fn to_jinja(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(b) => Jinja::from(*b),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(i), _) => Jinja::from(i),
            (None, Some(u)) => Jinja::from(u),
            (None, None) => Jinja::from(n.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(s) => Jinja::from(s.as_str()),
        Value::Array(items) => Jinja::from(items.iter().map(to_jinja).collect::<Vec<_>>()),
        Value::Object(map) => object_to_jinja(map),
    }
}

/// A JSON object as a template sees it, keys in order.
pub(super) fn object_to_jinja(map: &Map<String, Value>) -> Jinja {
    Jinja::from_pairs(map.iter().map(|(k, v)| (k.as_str(), to_jinja(v))))
}

/// The filter `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
pub(super) fn tojson(value: &Jinja, options: Kwargs) -> Result<Jinja, Error> {
    let indent: Option<Jinja> = options.get("indent")?;
    let separators: Option<Vec<String>> = options.get("separators")?;
    let writer = Writer {
        ensure_ascii: options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
        sort_keys: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        indent: match indent.filter(|i| !i.is_none()) {
            Some(i) => Some(usize::try_from(i)?),
            None => None,
        },
        separators,
    };
    options.assert_all_used()?;
    let mut out = String::new();
    writer.value(value, 0, &mut out)?;
    Ok(Jinja::from(out))
}

struct Writer {
    ensure_ascii: bool,
    sort_keys: bool,
    indent: Option<usize>,
    separators: Option<Vec<String>>,
}

impl Writer {
    fn value(&self, value: &Jinja, depth: usize, out: &mut String) -> Result<(), Error> {
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number if value.is_integer() => out.push_str(&value.to_string()),
            ValueKind::Number => out.push_str(&python_float(f64::try_from(value.clone())?)),
            ValueKind::String => self.string(value.as_str().unwrap_or_default(), out),
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.map(|item| (None, item)).collect();
                self.items(items, ['[', ']'], depth, out)?;
            }
            ValueKind::Map => {
                let mut items = Vec::new();
                for key in value.try_iter()? {
                    let item = value.get_item(&key)?;
                    items.push((Some(self.key(&key)?), item));
                }
                if self.sort_keys {
                    items.sort_by(|a, b| a.0.cmp(&b.0));
                }
                self.items(items, ['{', '}'], depth, out)?;
            }
            other => {
                let message = format!("{other} is not JSON serializable");
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        }
        Ok(())
    }

    fn key(&self, key: &Jinja) -> Result<String, Error> {
        let mut text = String::new();
        match key.as_str() {
            Some(s) => text.push_str(s),
            None => self.value(key, 0, &mut text)?,
        }
        Ok(text)
    }

    fn items(
        &self,
        items: Vec<(Option<String>, Jinja)>,
        [open, close]: [char; 2],
        depth: usize,
        out: &mut String,
    ) -> Result<(), Error> {
        let separator = |i: usize| self.separators.as_ref().and_then(|s| s.get(i)).map(String::as_str);
        let between = separator(0).unwrap_or(if self.indent.is_some() { "," } else { ", " });
        let colon = separator(1).unwrap_or(": ");
        let new_line = |depth: usize, out: &mut String| {
            if let Some(indent) = self.indent {
                out.push('\n');
                out.push_str(&" ".repeat(indent * depth));
            }
        };
        out.push(open);
        let empty = items.is_empty();
        for (n, (key, item)) in items.into_iter().enumerate() {
            if n > 0 {
                out.push_str(between);
            }
            new_line(depth + 1, out);
            if let Some(key) = key {
                self.string(&key, out);
                out.push_str(colon);
            }
            self.value(&item, depth + 1, out)?;
        }
        if !empty {
            new_line(depth, out);
        }
        out.push(close);
        Ok(())
    }

    fn string(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if c < ' ' || (self.ensure_ascii && !c.is_ascii()) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

/// A float as Python's `repr`: the shortest digits, an exponent from 1e16 up and below 1e-4.
fn python_float(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = x.to_string();
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumps(json: &str, options: Kwargs) -> String {
        tojson(&to_jinja(&serde_json::from_str(json).unwrap()), options).unwrap().to_string()
    }

    /// Expected values are what `json.dumps(..., ensure_ascii=False)` of Python 3.11 prints.
    #[test]
    fn as_python_writes_it() {
        let input = r#"{"z": [1, -2.0, 0.1, 1e16, 1e-5, 123456789012345678, 1e22, 0.0001, -0.0, 1.5e300],
            "a": "q\"\\\n\t\u0001\u007f é 法 👋 </tag> & 'x'", "e": {}, "l": [], "t": true, "n": null}"#;
        let expected = concat!(
            r#"{"z": [1, -2.0, 0.1, 1e+16, 1e-05, 123456789012345678, 1e+22, 0.0001, -0.0, 1.5e+300], "#,
            r#""a": "q\"\\\n\t\u0001"#,
            "\u{7f}",
            r#" é 法 👋 </tag> & 'x'", "e": {}, "l": [], "t": true, "n": null}"#
        );
        assert_eq!(dumps(input, Kwargs::from_iter::<[(&str, Jinja); 0]>([])), expected);
    }

    #[test]
    fn options_of_the_filter() {
        let options = |pairs: &[(&'static str, Jinja)]| pairs.iter().cloned().collect::<Kwargs>();
        let input = r#"{"b": [1, {"c": "é👋"}], "a": []}"#;
        assert_eq!(
            dumps(input, options(&[("indent", Jinja::from(2))])),
            "{\n  \"b\": [\n    1,\n    {\n      \"c\": \"é👋\"\n    }\n  ],\n  \"a\": []\n}"
        );
        let compact = Jinja::from(vec![",", ":"]);
        assert_eq!(
            dumps(
                input,
                options(&[("separators", compact), ("sort_keys", true.into()), ("ensure_ascii", true.into())])
            ),
            r#"{"a":[],"b":[1,{"c":"\u00e9\ud83d\udc4b"}]}"#
        );
    }
}
