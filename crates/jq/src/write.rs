//! JSON output.

use std::fmt::Write as _;
use std::rc::Rc;

use crate::order::sorted_keys;
use crate::value::Value;

/// How deep a value is written; deeper values are only marked as present.
const MAX_DEPTH: usize = 10_000;

/// How values are laid out.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The indentation of each level; `None` means one line without spaces.
    pub(crate) indent: Option<String>,
    pub(crate) sort_keys: bool,
    pub(crate) ascii: bool,
}

impl Layout {
    pub(crate) fn compact() -> Self {
        Self { indent: None, sort_keys: false, ascii: false }
    }

    pub(crate) fn text(&self, value: &Value) -> String {
        let mut out = String::new();
        self.write(value, &mut out);
        out
    }

    pub(crate) fn write(&self, value: &Value, out: &mut String) {
        self.write_nested(value, 0, out);
    }

    fn write_nested(&self, value: &Value, depth: usize, out: &mut String) {
        if depth > MAX_DEPTH {
            return out.push_str("<skipped: too deep>");
        }
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(number) => number.write(out),
            Value::String(text) => self.write_string(text, out),
            Value::Array(items) if items.is_empty() => out.push_str("[]"),
            Value::Array(items) => {
                self.write_items('[', ']', items.iter(), depth, out, |layout, item, out| {
                    layout.write_nested(item, depth + 1, out);
                });
            }
            Value::Object(members) if members.is_empty() => out.push_str("{}"),
            Value::Object(members) if self.sort_keys => {
                let sorted = sorted_keys(members).into_iter().map(|key| (key, &members[key]));
                self.write_items('{', '}', sorted, depth, out, |layout, (key, value), out| {
                    layout.write_member(key, value, depth, out);
                });
            }
            Value::Object(members) => {
                self.write_items('{', '}', members.iter(), depth, out, |layout, (key, value), out| {
                    layout.write_member(key, value, depth, out);
                });
            }
        }
    }

    fn write_member(&self, key: &str, value: &Value, depth: usize, out: &mut String) {
        self.write_string(key, out);
        out.push_str(if self.indent.is_some() { ": " } else { ":" });
        self.write_nested(value, depth + 1, out);
    }

    fn write_items<T>(
        &self,
        open: char,
        close: char,
        items: impl Iterator<Item = T>,
        depth: usize,
        out: &mut String,
        write: impl Fn(&Self, T, &mut String),
    ) {
        out.push(open);
        for (at, item) in items.enumerate() {
            if at > 0 {
                out.push(',');
            }
            self.break_line(depth + 1, out);
            write(self, item, out);
        }
        self.break_line(depth, out);
        out.push(close);
    }

    fn break_line(&self, depth: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            (0..depth).for_each(|_| out.push_str(indent));
        }
    }

    fn write_string(&self, text: &str, out: &mut String) {
        out.push('"');
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\t' => "\\t",
                b'\r' => "\\r",
                0x08 => "\\b",
                0x0c => "\\f",
                0..0x20 | 0x7f => "",
                _ => continue,
            };
            self.write_plain(&text[plain..at], out);
            plain = at + 1;
            if escape.is_empty() {
                let _ = write!(out, "\\u{byte:04x}");
            } else {
                out.push_str(escape);
            }
        }
        self.write_plain(&text[plain..], out);
        out.push('"');
    }

    fn write_plain(&self, text: &str, out: &mut String) {
        if !self.ascii || text.is_ascii() {
            return out.push_str(text);
        }
        for char in text.chars() {
            if char.is_ascii() {
                out.push(char);
            } else {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
}

impl Value {
    /// The value as compact JSON text.
    pub(crate) fn to_json(&self) -> String {
        Layout::compact().text(self)
    }

    /// A string as it is, anything else as JSON text.
    pub(crate) fn to_text(&self) -> Rc<str> {
        match self {
            Self::String(text) => text.clone(),
            other => other.to_json().into(),
        }
    }
}
