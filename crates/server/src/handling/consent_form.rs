//! Consent form: the question that the user reads before a tool runs, and the choices.
//!
//! Arguments come from a model, and may be crafted to deceive the user. Therefore each is shown as JSON on one line, truncated,
//! with all control and invisible characters escaped.

use mcp_bash_harmless::{clip, json as harmless_json, line, text as harmless_text};
use mcp_bash_project::{Part, Template};
use mcp_bash_wire::{Limits, Object, Raw, RawBuf, Scanner, write};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// The only field of the form.
const FIELD: &str = "consent";

const ONCE: &str = "once";
const SESSION: &str = "session";
const NO: &str = "no";

/// The most characters shown of a long value, at its beginning and at its end.
const HEAD: usize = 300;
const TAIL: usize = 100;

/// After this many bytes, no more arguments are shown.
const ENOUGH: usize = 6000;

/// The longest question of an author, with its arguments, in characters.
const LONGEST_QUESTION: usize = 3000;

/// The longest name and title of a tool, and the longest name of an argument, in characters.
const LONGEST_NAME: usize = 100;

/// A longer value that is not a string is shown as it was sent, including its escapes.
const LONGEST_TREE: usize = 64 * 1024;

/// The user's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Once,
    Session,
    No,
    /// The user closed the form.
    Dismissed,
    /// The client sent none of the choices.
    Unclear,
}

/// The form for one call.
pub(super) struct ConsentForm<'a> {
    pub(super) name: &'a str,
    pub(super) title: Option<&'a str>,
    /// The question of the tool's author or of the policy.
    pub(super) question: Option<&'a str>,
    /// A JSON object.
    pub(super) arguments: &'a str,
    /// How long the consent can be remembered, if it can.
    pub(super) remembered: Option<Remembered>,
}

/// How long a consent can be remembered.
#[derive(Debug, Clone, Copy)]
pub(super) enum Remembered {
    ForSession,
    For(Duration),
}

impl ConsentForm<'_> {
    /// The params of `elicitation/create`, as JSON.
    pub(super) fn params(&self) -> String {
        let (choices, session) = match self.remembered {
            None => (&[ONCE, NO][..], String::new()),
            Some(remembered) => {
                let until = match remembered {
                    Remembered::ForSession => "in this session".to_owned(),
                    Remembered::For(time) => format!("for {} minutes", time.as_secs() / 60),
                };
                let words = format!("; `{SESSION}`: run it, and do not ask about exactly this call {until}");
                (&[ONCE, SESSION, NO][..], words)
            }
        };
        let description = format!("`{ONCE}`: run it this time{session}; `{NO}`: do not run it");
        let field =
            json!({ "type": "string", "title": "Run it?", "description": description, "enum": choices });
        json!({
            "mode": "form",
            "message": self.message(),
            "requestedSchema": { "type": "object", "properties": { FIELD: field }, "required": [FIELD] },
        })
        .to_string()
    }

    fn message(&self) -> String {
        let name = clip(self.name, LONGEST_NAME);
        let mut message = format!("May the tool `{}` run?", line(&name));
        if let Some(title) = self.title {
            let _ = write!(message, " ({})", line(&clip(title, LONGEST_NAME)));
        }
        if let Some(question) = self.question {
            let _ = write!(message, "\n\n{}", clip(&harmless_text(question), LONGEST_QUESTION));
        }
        let mut arguments = Vec::new();
        members(self.arguments, |name, value| arguments.push((name, value)));
        if arguments.is_empty() {
            message.push_str("\n\nIt gets no arguments.");
            return message;
        }
        message.push_str("\n\nIts arguments:");
        let (begin, count) = (message.len(), arguments.len());
        for (index, (name, value)) in arguments.into_iter().enumerate() {
            if message.len() - begin > ENOUGH {
                let _ = write!(message, "\n  … and {} more, which are not shown", count - index);
                break;
            }
            let _ = write!(message, "\n  {}: {}", shown_name(name), shown(value));
        }
        message
    }
}

/// The question of an author, with the values of its arguments.
pub(crate) fn filled(template: &Template, arguments: &str) -> String {
    let mut question = String::new();
    for part in &template.parts {
        match part {
            Part::Fixed(text) => question.push_str(text),
            Part::Argument(name) | Part::Each(name) => {
                // The last duplicate is used, as in most JSON parsers.
                let mut found = None;
                members(arguments, |key, value| {
                    if key.string().is_some_and(|key| key == *name) {
                        found = Some(value);
                    }
                });
                question.push_str(&found.map_or_else(|| "(nothing)".to_owned(), shown));
            }
        }
    }
    question
}

fn members<'a>(object: &'a str, visit: impl FnMut(Raw<'a>, Raw<'a>)) {
    if let Ok(whole) = Scanner::new(object, Limits::NONE).whole_value() {
        // Scanned before, so this cannot fail.
        let _ = Scanner::again(whole).members(visit);
    }
}

fn shown_name(name: Raw<'_>) -> String {
    let name = name.string().unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if !name.is_empty() && name.chars().all(is_plain) && name.len() <= LONGEST_NAME {
        name.into_owned()
    } else {
        quoted(&clip(&name, LONGEST_NAME))
    }
}

/// A value as JSON on one line, of limited length.
fn shown(value: Raw<'_>) -> String {
    if let Some(text) = value.string() {
        return cut(&text, quoted);
    }
    // Parsed and written again, so that escapes hide no letters.
    let value = value.text();
    let read = (value.len() <= LONGEST_TREE).then(|| serde_json::from_str::<Value>(value).ok()).flatten();
    let text = read.map_or_else(|| write::compact(value), |value| value.to_string());
    cut(&text, |part| harmless_json(part).into_owned())
}

/// The whole text, or its beginning, end and length.
fn cut(text: &str, show: impl Fn(&str) -> String) -> String {
    let Some((head, _)) = text.char_indices().nth(HEAD) else { return show(text) };
    let Some((tail, _)) = text.char_indices().nth_back(TAIL - 1) else { return show(text) };
    if tail <= head {
        return show(text);
    }
    let count = text.chars().count();
    format!("{} … {} ({count} characters in all)", show(&text[..head]), show(&text[tail..]))
}

fn quoted(text: &str) -> String {
    harmless_json(&write::string(text)).into_owned()
}

/// The choice in the response to a form. `may_remember` tells whether `session` was offered.
pub(super) fn choice(answer: &RawBuf, may_remember: bool) -> Choice {
    let Ok(answer) = Object::read(answer.as_raw(), "the answer", &["action", "content"]) else {
        return Choice::Unclear;
    };
    match answer.get("action").and_then(Raw::string).as_deref() {
        Some("accept") => {}
        Some("decline") => return Choice::No,
        Some("cancel") => return Choice::Dismissed,
        _ => return Choice::Unclear,
    }
    let content = answer.get("content").filter(|content| content.is_object());
    let content = content.and_then(|content| Object::read(content, "the content", &[FIELD]).ok());
    match content.and_then(|content| content.get(FIELD)).and_then(Raw::string).as_deref() {
        Some(ONCE) => Choice::Once,
        Some(SESSION) if may_remember => Choice::Session,
        Some(NO) => Choice::No,
        _ => Choice::Unclear,
    }
}

/// Whether the params of an `elicitation/create` ask for consent, for a client that already knows its answer.
pub fn asks_for_consent(params: &Value) -> bool {
    let fields = params["requestedSchema"]["properties"].as_object();
    fields.is_some_and(|fields| {
        fields.len() == 1
            && fields.get(FIELD).and_then(|field| field["enum"].as_array()).is_some_and(|choices| {
                choices.first().is_some_and(|first| first == ONCE)
                    && choices.last().is_some_and(|last| last == NO)
            })
    })
}

/// The response to a consent form: once, or no.
pub fn consent_answer(is_given: bool) -> Value {
    json!({ "action": "accept", "content": { FIELD: if is_given { ONCE } else { NO } } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(question: Option<&str>, arguments: &str) -> String {
        let form = ConsentForm { name: "rm", title: Some("Remove"), question, arguments, remembered: None };
        let params: Value = serde_json::from_str(&form.params()).unwrap();
        assert!(asks_for_consent(&params));
        params["message"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_form_shows_the_tool_and_its_arguments() {
        assert_eq!(
            message(Some("Delete it?"), r#"{"path":"/a b","deep":{"x":[1, 2]},"n":1.50}"#),
            "May the tool `rm` run? (Remove)\n\nDelete it?\n\nIts arguments:\n  path: \"/a b\"\n  \
             deep: {\"x\":[1,2]}\n  n: 1.5"
        );
        assert!(message(None, "{}").ends_with("(Remove)\n\nIt gets no arguments."));
    }

    #[test]
    fn an_argument_cannot_imitate_the_form() {
        let hostile = json!({
            "path": "/tmp/x\n\nIts arguments:\n  path: \"/harmless\"",
            "escape": "\u{1b}[2J\u{202e}gpj\u{2028}\u{200b}",
            "a\nb": 1,
            "nested": { "k\u{1b}": "\u{9b}\n" },
        });
        // The same letters as escapes.
        let sent = hostile.to_string().replace("/tmp", r"\u002ftmp");
        let message = message(None, &sent);
        assert_eq!(message.lines().count(), 7, "{message}");
        assert!(
            message.contains(r#"  path: "/tmp/x\n\nIts arguments:\n  path: \"/harmless\"""#),
            "{message}"
        );
        assert!(message.contains(r#"  escape: "\u001b[2J\u202egpj\u2028\u200b""#), "{message}");
        assert!(message.contains(r#"  "a\nb": 1"#), "{message}");
        assert!(!message.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{2028}', '\u{200b}']), "{message}");
    }

    #[test]
    fn long_arguments_are_cut_and_the_form_says_so() {
        let long = format!("begin{}end", "x".repeat(1_000_000));
        let whole = message(None, &json!({ "text": long }).to_string());
        assert!(
            whole.len() < 1000
                && whole.contains("begin")
                && whole.contains("end\" (1000008 characters in all)")
        );
        let many: serde_json::Map<String, Value> =
            (0..5000).map(|number| (format!("a{number}"), "y".repeat(100).into())).collect();
        let whole = message(None, &Value::from(many).to_string());
        assert!(whole.len() < 8000 && whole.contains(" more, which are not shown"), "{}", whole.len());
    }

    #[test]
    fn only_a_clear_answer_is_a_consent() {
        let read = |text: &str, may_remember| {
            choice(&RawBuf::from(Scanner::new(text, Limits::NONE).whole_value().unwrap()), may_remember)
        };
        let accepted = |choice: &str| format!(r#"{{"action":"accept","content":{{"consent":{choice}}}}}"#);
        assert_eq!(read(&accepted("\"once\""), true), Choice::Once);
        assert_eq!(read(&accepted("\"session\""), true), Choice::Session);
        assert_eq!(read(&accepted("\"session\""), false), Choice::Unclear);
        assert_eq!(read(&accepted("\"no\""), true), Choice::No);
        assert_eq!(read(r#"{"action":"decline"}"#, true), Choice::No);
        assert_eq!(read(r#"{"action":"cancel"}"#, true), Choice::Dismissed);
        for unclear in [&*accepted("true"), &accepted("\"yes\""), r#"{"action":"accept"}"#, "{}", "[]"] {
            assert_eq!(read(unclear, true), Choice::Unclear, "{unclear}");
        }
        let given = consent_answer(true).to_string();
        assert_eq!(read(&given, false), Choice::Once);
        assert_eq!(read(&consent_answer(false).to_string(), false), Choice::No);
    }
}
