//! A value as JSON text, in the style of the text around it.

use serde_json::Value;

/// How a text is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style<'t> {
    pub(crate) line_end: &'t str,
    /// One step of indentation.
    pub(crate) unit: &'t str,
    pub(crate) layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each member in a line of its own.
    Lines,
    /// All in one line, with a space after colons and commas.
    Spaced,
    /// All in one line without any space.
    Dense,
}

/// The value, whose first line is indented by `indent` already.
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
        // Lists hold words of a command line: they are read in one line.
        Value::Array(items) => {
            let items = items.iter().map(|item| written(item, style, indent));
            let separator = if style.layout == Layout::Dense { "," } else { ", " };
            format!("[{}]", items.collect::<Vec<_>>().join(separator))
        }
        other => other.to_string(),
    }
}

pub(crate) fn member(key: &str, value: &Value, style: Style<'_>, indent: &str) -> String {
    let colon = if style.layout == Layout::Dense { ":" } else { ": " };
    format!("{}{colon}{}", Value::from(key), written(value, style, indent))
}
