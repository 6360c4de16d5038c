//! Shader text as HTML with a class for each kind of word.
//!
//! A line is cut into words by characters alone, so that one table serves WGSL, HLSL and the loop IR; a word that begins a line and
//! stands before a type is a storage class, whatever a language calls it. The rule: everything that comes out is escaped. Absent:
//! any other grammar.

/// Words that shape the text in any of the languages.
const KEYWORDS: &[&str] = &[
    "barrier",
    "break",
    "by",
    "cbuffer",
    "const",
    "else",
    "enable",
    "fn",
    "for",
    "if",
    "in",
    "let",
    "param",
    "precise",
    "read",
    "read_write",
    "return",
    "shared",
    "static",
    "storage",
    "struct",
    "uniform",
    "var",
    "void",
    "while",
    "schedule",
    "workgroup",
];

/// Scalars, vectors and containers.
const TYPES: &[&str] =
    &["array", "bool", "f16", "f32", "float", "half", "i32", "int", "u32", "uint", "vec2", "vec3", "vec4"];

/// A line as HTML.
pub fn line(text: &str) -> String {
    let (code, comment) = match ["//", "# "].iter().filter_map(|c| text.find(c)).min() {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let inside: fn(char) -> bool =
            if first.is_ascii_digit() { |c| c.is_ascii_alphanumeric() || c == '.' } else { word };
        let marked = first == '@';
        let length = if marked {
            1 + rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1)
        } else if word(first) {
            rest.find(|c| !inside(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        let class = match token {
            _ if marked => "at",
            _ if first.is_ascii_digit() => "num",
            _ if KEYWORDS.contains(&token) => "kw",
            _ if is_type(token) => "ty",
            _ if word(first) && rest.len() == text.len() && before_type(after) => "kw",
            _ if word(first) && after.starts_with('(') => "fn",
            _ => "",
        };
        push(&mut out, class, token);
        rest = after;
    }
    push(&mut out, "com", comment);
    out
}

/// Whether the next word is a type.
fn before_type(after: &str) -> bool {
    let next = after.strip_prefix(' ').unwrap_or_default();
    is_type(next.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default())
}

/// A type's name, with `2` to `4` components in HLSL's way, or a buffer's.
fn is_type(token: &str) -> bool {
    let plain = token.trim_end_matches(['2', '3', '4']);
    let buffer = token.ends_with("Buffer") && token.starts_with(|c: char| c.is_ascii_uppercase());
    buffer || TYPES.contains(&token) || TYPES.contains(&plain)
}

fn push(out: &mut String, class: &str, token: &str) {
    match class {
        _ if token.is_empty() => {}
        "" => out.push_str(&escape(token)),
        _ => {
            out.push_str("<span class=");
            out.push_str(class);
            out.push('>');
            out.push_str(&escape(token));
            out.push_str("</span>");
        }
    }
}

/// Text that cannot be markup, in content and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_get_their_kind() {
        let html = line("    let a = fma(w4.x, 0.5f, vec2<f32>(b)[3u]); // <end>");
        for part in [
            "<span class=kw>let</span> a = ",
            "<span class=fn>fma</span>(w4.x, <span class=num>0.5f</span>",
            "<span class=ty>vec2</span>&lt;<span class=ty>f32</span>&gt;",
            "[<span class=num>3u</span>]",
            "<span class=com>// &lt;end&gt;</span>",
        ] {
            assert!(html.contains(part), "no {part} in {html}");
        }
        assert_eq!(line("@group(0) x"), "<span class=at>@group</span>(<span class=num>0</span>) x");
        assert_eq!(line("RWByteAddressBuffer y;"), "<span class=ty>RWByteAddressBuffer</span> y;");
        assert_eq!(line("uint4 a;"), "<span class=ty>uint4</span> a;");
        assert_eq!(
            line("local float a[2];"),
            "<span class=kw>local</span> <span class=ty>float</span> a[<span class=num>2</span>];"
        );
        assert!(line("    total float").starts_with("    total "), "inside a body it is a name");
        assert_eq!(line(""), "");
    }

    #[test]
    fn nothing_is_markup() {
        assert_eq!(line("<script>\"é'&"), "&lt;script&gt;&quot;é&#39;&amp;");
        for odd in ["@", "@é", "é@x", "0", "_", "//", "# <"] {
            assert!(!line(odd).contains("< "), "{odd}");
        }
    }
}
