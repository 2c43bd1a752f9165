//! Short text: foreign values and texts, shortened and without anything that a terminal would interpret.

use serde_json::Value;
use std::time::Duration;

/// How much of a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Short,
    Whole,
}

/// The length of a shortened value, in characters.
const SHORT: usize = 160;

/// A text that can be shown on one line.
pub fn visible(text: &str, length: Length) -> String {
    let mut shown = Shown::new(length);
    shown.text(text);
    shown.finish()
}

/// A JSON value as a person would write it: `{name: "Ada", tags: ["a", "b"]}`.
pub fn value(value: &Value, length: Length) -> String {
    let mut shown = Shown::new(length);
    shown.value(value);
    shown.finish()
}

/// A duration for people.
pub fn time(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    if milliseconds < 10.0 {
        format!("{milliseconds:.1} ms")
    } else if milliseconds < 1000.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// A count with its noun.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A line that grows until it is long enough.
struct Shown {
    line: String,
    characters: usize,
    most: usize,
    is_cut: bool,
}

impl Shown {
    fn new(length: Length) -> Self {
        let most = if length == Length::Whole { usize::MAX } else { SHORT };
        Self { line: String::new(), characters: 0, most, is_cut: false }
    }

    fn push(&mut self, character: char) {
        if self.characters >= self.most {
            self.is_cut = true;
            return;
        }
        self.characters += 1;
        self.line.push(character);
    }

    fn text(&mut self, text: &str) {
        for character in text.chars() {
            if self.is_cut {
                return;
            }
            self.push(character);
        }
    }

    fn quoted(&mut self, text: &str) {
        self.push('"');
        for character in text.chars() {
            if self.is_cut {
                return;
            }
            if matches!(character, '"' | '\\') {
                self.push('\\');
            }
            self.push(character);
        }
        self.push('"');
    }

    fn value(&mut self, value: &Value) {
        if self.is_cut {
            return;
        }
        match value {
            Value::String(text) => self.quoted(text),
            Value::Array(elements) => {
                self.push('[');
                for (index, element) in elements.iter().enumerate() {
                    self.separate(index);
                    self.value(element);
                }
                self.push(']');
            }
            Value::Object(members) => {
                self.push('{');
                for (index, (key, member)) in members.iter().enumerate() {
                    self.separate(index);
                    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
                    if is_plain && !key.is_empty() {
                        self.text(key);
                    } else {
                        self.quoted(key);
                    }
                    self.text(": ");
                    self.value(member);
                }
                self.push('}');
            }
            other => self.text(&other.to_string()),
        }
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.text(", ");
        }
    }

    fn finish(mut self) -> String {
        if self.is_cut {
            self.line.push('…');
        }
        crate::visible(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_shown_as_a_person_writes_them() {
        let given = json!({ "name": "Ada", "n": 1.5, "odd key": [true, null, "a\"b"], "": {} });
        let expected = r#"{name: "Ada", n: 1.5, "odd key": [true, null, "a\"b"], "": {}}"#;
        assert_eq!(value(&given, Length::Short), expected);
    }

    #[test]
    fn nothing_that_is_shown_moves_the_cursor_or_turns_the_line_around() {
        assert_eq!(
            visible("a\u{1b}[2Jb\nc\u{9b}d\u{202e}e", Length::Whole),
            "a\\u{1b}[2Jb\\nc\\u{9b}d\\u{202e}e"
        );
        assert_eq!(
            value(&json!({ "k\u{7}": "\u{1b}]0;x" }), Length::Whole),
            "{\"k\\u{7}\": \"\\u{1b}]0;x\"}"
        );
    }

    #[test]
    fn long_values_are_cut_unless_all_is_wanted() {
        let long = "x".repeat(1000);
        assert_eq!(visible(&long, Length::Short), format!("{}…", "x".repeat(SHORT)));
        assert_eq!(visible(&long, Length::Whole), long);
        assert_eq!(value(&json!([long]), Length::Short).chars().count(), SHORT + 1);
    }

    #[test]
    fn times_are_shown_in_a_fitting_unit() {
        for (micros, said) in [(1_240, "1.2 ms"), (12_400, "12 ms"), (1_260_000, "1.3 s")] {
            assert_eq!(time(Duration::from_micros(micros)), said);
        }
    }
}
