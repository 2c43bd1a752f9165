//! JSON output: writes a value in the style of the surrounding text.

use serde_json::Value;

/// How a text is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style<'t> {
    pub(crate) line_end: &'t str,
    /// One step of indentation.
    pub(crate) unit: &'t str,
    pub(crate) layout: Layout,
    /// Prefixes whose first character is written as an escape.
    pub(crate) escaped: &'t [&'t str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each member on a line of its own.
    Lines,
    /// All on one line, with a space after colons and commas.
    Spaced,
    /// All on one line without any space.
    Dense,
}

/// The value, whose first line is already indented by `indent`.
pub(crate) fn written(value: &Value, style: Style<'_>, indent: &str) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let inner = format!("{indent}{}", style.unit);
            let members = members.iter().map(|(key, value)| member(key, value, style, &inner));
            match style.layout {
                Layout::Lines => {
                    let separator = format!(",{}{inner}", style.line_end);
                    let body = members.collect::<Vec<_>>().join(&separator);
                    format!("{{{end}{inner}{body}{end}{indent}}}", end = style.line_end)
                }
                Layout::Spaced => format!("{{ {} }}", members.collect::<Vec<_>>().join(", ")),
                Layout::Dense => format!("{{{}}}", members.collect::<Vec<_>>().join(",")),
            }
        }
        // Lists hold words of a command line, which are easier to read on one line.
        Value::Array(items) => {
            let items = items.iter().map(|item| written(item, style, indent));
            let separator = if style.layout == Layout::Dense { "," } else { ", " };
            format!("[{}]", items.collect::<Vec<_>>().join(separator))
        }
        other => with_escapes(other.to_string(), style.escaped),
    }
}

/// A string in which each of these prefixes is escaped: it still reads as the same string.
fn with_escapes(text: String, beginnings: &[&str]) -> String {
    beginnings.iter().fold(text, |text, beginning| text.replace(beginning, &escaped(beginning)))
}

/// An ASCII text with its first character escaped.
pub(crate) fn escaped(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    format!("\\u{:04x}{rest}", first.as_bytes()[0])
}

pub(crate) fn member(key: &str, value: &Value, style: Style<'_>, indent: &str) -> String {
    let colon = if style.layout == Layout::Dense { ":" } else { ": " };
    format!("{}{colon}{}", Value::from(key), written(value, style, indent))
}
