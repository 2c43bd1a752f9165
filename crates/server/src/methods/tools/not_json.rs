//! Output that is not one JSON value: explains the problem and how its author can fix it.

use mcp_bash_project::excerpt;
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// The most bytes of output that are inspected.
const LONGEST: usize = 1024 * 1024;

/// The most lines of an output that are tried as the beginning of its JSON object.
const MOST_BEGINNINGS: usize = 8;

/// Why the output of a tool is not one JSON value.
pub(super) fn explain(stdout: &str) -> String {
    let Some(line) = stdout.lines().find(|line| !line.trim().is_empty()) else {
        return "it printed nothing".to_owned();
    };
    if let Some(count) = several_values(stdout) {
        return format!(
            "it is {count} JSON values, one after another. Print one: an object with all of them, or a list (`jq -s .` makes one)"
        );
    }
    let place = if is_followed_by_text(stdout) {
        format!("it is a JSON value with text behind it: `{}`", excerpt(last_line(stdout)))
    } else {
        format!("it is not JSON. It begins with `{}`", excerpt(line))
    };
    format!(
        "{place}. Only the result belongs on standard output: debug output goes to standard error (`>&2`) or to `mcp_log`"
    )
}

/// Why the JSON in an output is not used, and how to fix it.
pub(super) fn unread(stdout: &str) -> Option<&'static str> {
    if several_values(stdout).is_some() {
        return Some(
            "a tool printed several JSON values, which are sent as text; print one: an object with all of them, or a list \
             (`jq -s .` makes one)",
        );
    }
    ends_with_object(stdout).then_some(
        "a tool printed text before its JSON object, so that all of it is sent as text; print only the result on standard \
         output: debug output goes to standard error (`>&2`) or to `mcp_log`",
    )
}

/// Whether the output ends with a JSON object that begins on its own line.
fn ends_with_object(stdout: &str) -> bool {
    let text = stdout.trim_end();
    if text.len() > LONGEST || !text.ends_with('}') {
        return false;
    }
    let begins = text.match_indices("\n{").map(|(place, _)| &text[place + 1..]);
    begins.take(MOST_BEGINNINGS).any(|rest| serde_json::from_str::<&RawValue>(rest).is_ok())
}

/// The number of JSON values, if the output contains nothing else and begins with an object or array.
pub(super) fn several_values(stdout: &str) -> Option<usize> {
    if stdout.len() > LONGEST || !stdout.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut count = 0;
    for value in Deserializer::from_str(stdout).into_iter::<Box<RawValue>>() {
        value.ok()?;
        count += 1;
    }
    (count > 1).then_some(count)
}

fn is_followed_by_text(stdout: &str) -> bool {
    stdout.len() <= LONGEST
        && stdout.trim_start().starts_with(['{', '['])
        && Deserializer::from_str(stdout)
            .into_iter::<Box<RawValue>>()
            .next()
            .is_some_and(|value| value.is_ok())
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_not_one_value_is_explained() {
        assert_eq!(explain(" \n"), "it printed nothing");
        assert!(
            explain("{\"a\":1}\n{\"b\":2}\n")
                .starts_with("it is 2 JSON values, one after another. Print one")
        );
        assert!(
            explain("{\"a\":1}\ndone\n").starts_with("it is a JSON value with text behind it: `done`. Only")
        );
        assert!(
            explain("starting\n{\"a\":1}\n").starts_with("it is not JSON. It begins with `starting`. Only")
        );
        assert!(explain("{\"a\": }").starts_with("it is not JSON. It begins with `{\"a\": }`"));
        assert_eq!(several_values("{\"a\":1}"), None);
        assert_eq!(several_values("1 2 3"), None);
        assert_eq!(several_values("[1]{}[2]"), Some(3));
    }

    #[test]
    fn json_that_is_sent_as_text_is_explained() {
        assert!(unread("{\"a\":1}\n{\"b\":2}\n").unwrap().contains("`jq -s .`"));
        for text in ["starting\n{\"a\":1}\n", "[INFO] a\n{\n  \"a\": 1\n}", "x\n{y}\n{}"] {
            assert!(unread(text).unwrap().contains("standard error"), "{text}");
        }
        for text in ["", "plain", "a {\"b\": 1}", "use {\n}\n", "x\n{y}", "{\"a\":1}\ndone\n"] {
            assert_eq!(unread(text), None, "{text}");
        }
    }
}
