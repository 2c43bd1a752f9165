//! Expectations: compares the result of a case with what it expects.

use crate::cases::case::{
    Expect, ExpectedError, ExpectedLog, ExpectedProgress, FileAfter, Pattern, ResultSchema,
};
use crate::diff::{DiffLine, cut, diff};
use crate::host::{Heard, Logged, Progress};
use crate::result::{Got, GotError, Places};
use mcp_bash_terminal::words::counted;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// The largest file that is compared afterwards, in bytes.
const LONGEST_FILE: u64 = 16 * 1024 * 1024;

/// An expectation that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// One or more lines for people.
    pub(crate) problem: String,
    pub(crate) diff: Vec<DiffLine>,
}

impl Mismatch {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), diff: Vec::new() }
    }

    pub(crate) fn with_diff(problem: impl Into<String>, expected: &str, got: &str) -> Self {
        Self { problem: problem.into(), diff: diff(expected, got) }
    }
}

/// All mismatches, except for the snapshot.
pub(crate) fn mismatches(expect: &Expect, got: &Got, dir: &Path, places: &Places) -> Vec<Mismatch> {
    // The rest may follow from an answer that does not fit its question.
    let mut found: Vec<Mismatch> = got.heard.misplaced.iter().map(Mismatch::new).collect();
    check_error(expect, got, &mut found);
    // An unexpected error explains everything else.
    if found.is_empty() || got.error.is_none() {
        check_text(expect, got, &mut found);
        check_value(expect, got, &mut found);
    }
    check_heard(expect, &got.heard, &mut found);
    for (path, after) in &expect.files {
        check_file(path, after, dir, places, &mut found);
    }
    found
}

fn check_error(expect: &Expect, got: &Got, found: &mut Vec<Mismatch>) {
    match (&expect.error, &got.error) {
        (None, Some(error)) if !expect.wants_error() => found.push(Mismatch::new(format!(
            "it is an error{}:{}",
            error.code.map(|code| format!(" ({code})")).unwrap_or_default(),
            cut_lines(&error.message)
        ))),
        (Some(wanted), Some(error)) => check_wanted_error(wanted, error, found),
        (Some(_), None) => {
            found.push(Mismatch::new(format!(
                "an error is expected, and it succeeded:{}",
                cut_lines(&got.text)
            )));
        }
        _ => {}
    }
    if let Some(code) = expect.exit_code
        && got.exit_code != Some(code)
    {
        let was = got.exit_code.map_or_else(|| "there is none".to_owned(), |code| format!("it is {code}"));
        found.push(Mismatch::new(format!("the exit code {code} is expected; {was}")));
    }
}

fn check_wanted_error(wanted: &ExpectedError, error: &GotError, found: &mut Vec<Mismatch>) {
    if let Some(code) = wanted.code
        && error.code != Some(code)
    {
        let was = error.code.map_or_else(
            || "it is a result that says it failed, which has none".to_owned(),
            |code| format!("it is {code}"),
        );
        found.push(Mismatch::new(format!("the error code {code} is expected; {was}")));
    }
    check_contains("the error", &wanted.contains, &error.message, found);
    check_matches("the error", &wanted.matches, &error.message, found);
}

fn check_text(expect: &Expect, got: &Got, found: &mut Vec<Mismatch>) {
    if let Some(text) = &expect.text
        && without_end(text) != without_end(&got.text)
    {
        found.push(Mismatch::with_diff("the text is another", without_end(text), without_end(&got.text)));
    }
    check_contains("the text", &expect.contains, &got.text, found);
    for unwanted in expect.lacks.iter().filter(|text| got.text.contains(text.as_str())) {
        found.push(Mismatch::new(format!("the text contains `{}`, and must not", cut(unwanted))));
    }
    check_matches("the text", &expect.matches, &got.text, found);
}

fn check_value(expect: &Expect, got: &Got, found: &mut Vec<Mismatch>) {
    if expect.structured.is_none() && expect.structured_part.is_none() && expect.schema.is_none() {
        return;
    }
    let Some(value) = got.value() else {
        let problem =
            format!("there is no structured result, and the text is no JSON:{}", cut_lines(&got.text));
        return found.push(Mismatch::new(problem));
    };
    if let Some(wanted) = &expect.structured
        && !is_equal(wanted, &value)
    {
        found.push(Mismatch::with_diff("the structured result is another", &pretty(wanted), &pretty(&value)));
    }
    if let Some(wanted) = &expect.structured_part {
        let part = part_of(wanted, &value);
        if !is_equal(wanted, &part) {
            found.push(Mismatch::with_diff(
                "the structured result lacks a part",
                &pretty(wanted),
                &pretty(&part),
            ));
        }
    }
    if let Some(ResultSchema(schema)) = &expect.schema
        && let Err(problems) = schema.check_value(&value.to_string())
    {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        found.push(Mismatch::new(format!("the result does not fit the schema: {}", problems.join("; "))));
    }
}

fn check_heard(expect: &Expect, heard: &Heard, found: &mut Vec<Mismatch>) {
    if let Some(asks) = &expect.asks {
        let fits = asks.len() == heard.questions.len()
            && asks.iter().zip(&heard.questions).all(|(wanted, question)| question.contains(wanted.as_str()));
        if !fits {
            found.push(Mismatch::with_diff("it asks something else", &lines(asks), &lines(&heard.questions)));
        }
    }
    if heard.unanswered > 0 {
        let first = &heard.questions[heard.questions.len() - heard.unanswered..][0];
        found.push(Mismatch::new(format!("it asks “{}”, and `answers` has no answer to that", cut(first))));
    }
    if let Some(question) = &heard.unconfirmed {
        let problem = format!(
            "it asks for consent (“{}”); say `confirm: true` or `confirm: false` in the case",
            cut(question)
        );
        found.push(Mismatch::new(problem));
    }
    if heard.has_unused_consent {
        found.push(Mismatch::new("it has not asked for the consent that `confirm` gives or refuses"));
    }
    if heard.unused_answers > 0 {
        let number = heard.unused_answers;
        let problem = format!("{} of `answers` nobody asked for", counted(number, "answer"));
        found.push(Mismatch::new(problem));
    }
    if let Some(missing) = first_missing(&expect.progress, &heard.progress, is_such_progress) {
        let came: Vec<String> = heard.progress.iter().map(progress_words).collect();
        let problem = format!("no progress {} came in its turn", expected_progress_words(missing));
        found.push(Mismatch::new(format!("{problem}; {}", came_words(&came))));
    }
    if let Some(missing) = first_missing(&expect.logs, &heard.logs, is_such_log) {
        let came: Vec<String> =
            heard.logs.iter().map(|log| format!("[{}] {}", log.level, log.text)).collect();
        let level = missing.level.as_ref().map(|level| format!("[{level}] ")).unwrap_or_default();
        let text = missing.contains.as_deref().unwrap_or_default();
        found.push(Mismatch::new(format!("no log `{level}{text}` came in its turn; {}", came_words(&came))));
    }
}

/// The first wanted one that did not come after the ones before it.
fn first_missing<'w, W, C>(wanted: &'w [W], came: &[C], is_such: fn(&W, &C) -> bool) -> Option<&'w W> {
    let mut rest = came.iter();
    wanted.iter().find(|wanted| !rest.any(|came| is_such(wanted, came)))
}

fn is_such_progress(wanted: &ExpectedProgress, came: &Progress) -> bool {
    let is_number = |wanted: Option<f64>, came: Option<f64>| match (wanted, came) {
        (None, _) => true,
        (Some(wanted), Some(came)) => (wanted - came).abs() < 1e-9,
        (Some(_), None) => false,
    };
    is_number(wanted.progress, came.done)
        && is_number(wanted.total, came.total)
        && wanted.message.as_ref().is_none_or(|message| came.message.contains(message.as_str()))
}

fn is_such_log(wanted: &ExpectedLog, came: &Logged) -> bool {
    wanted.level.as_ref().is_none_or(|level| *level == came.level)
        && wanted.contains.as_ref().is_none_or(|text| came.text.contains(text.as_str()))
}

fn expected_progress_words(wanted: &ExpectedProgress) -> String {
    let number = |name: &str, value: Option<f64>| value.map(|value| format!("{name} {value}"));
    let message = wanted.message.as_ref().map(|message| format!("“{}”", cut(message)));
    let parts = [number("at", wanted.progress), number("of", wanted.total), message];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn progress_words(progress: &Progress) -> String {
    let done = progress.done.map_or_else(|| "?".to_owned(), |done| done.to_string());
    let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
    format!("{done}{total} {}", progress.message)
}

/// What came instead, in a few lines.
fn came_words(came: &[String]) -> String {
    const MOST: usize = 10;
    if came.is_empty() {
        return "none came at all".to_owned();
    }
    let mut words = String::from("these came:");
    for one in came.iter().take(MOST) {
        words.push_str("\n  ");
        words.push_str(&cut(one));
    }
    if came.len() > MOST {
        let _ = write!(words, "\n  … and {} more", came.len() - MOST);
    }
    words
}

fn check_file(path: &str, after: &FileAfter, dir: &Path, places: &Places, found: &mut Vec<Mismatch>) {
    let file = dir.join(path);
    let is_there = file.symlink_metadata().is_ok();
    match after {
        FileAfter::Absent if is_there => {
            found.push(Mismatch::new(format!("`{path}` is there, and must not be")));
        }
        FileAfter::Absent => {}
        _ if !is_there => found.push(Mismatch::new(format!("`{path}` is not there"))),
        FileAfter::There => {}
        FileAfter::Exactly(_) | FileAfter::Such { .. } => {
            let content = match mcp_bash_files::read(&file, LONGEST_FILE) {
                Ok(content) => places.named(&String::from_utf8_lossy(&content)),
                Err(error) => return found.push(Mismatch::new(format!("`{path}` cannot be read: {error}"))),
            };
            let what = format!("`{path}`");
            match after {
                FileAfter::Exactly(text) if *text != content => {
                    found.push(Mismatch::with_diff(format!("{what} holds something else"), text, &content));
                }
                FileAfter::Such { contains, matches } => {
                    check_contains(&what, contains, &content, found);
                    check_matches(&what, matches, &content, found);
                }
                _ => {}
            }
        }
    }
}

fn check_contains(what: &str, wanted: &[String], text: &str, found: &mut Vec<Mismatch>) {
    for wanted in wanted.iter().filter(|wanted| !text.contains(wanted.as_str())) {
        found.push(Mismatch::new(format!("{what} does not contain `{}`:{}", cut(wanted), cut_lines(text))));
    }
}

fn check_matches(what: &str, wanted: &[Pattern], text: &str, found: &mut Vec<Mismatch>) {
    for pattern in wanted.iter().filter(|pattern| !pattern.regex.is_match(text)) {
        let written = cut(&pattern.written);
        found.push(Mismatch::new(format!("{what} does not match `{written}`:{}", cut_lines(text))));
    }
}

/// Whether two values are equal; numbers compare by value, whatever their spelling.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| {
                    (one - other).abs() <= f64::EPSILON * one.abs().max(other.abs())
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| is_equal(value, other)))
        }
        _ => one == other,
    }
}

/// A value without the object members that are not wanted.
fn part_of(wanted: &Value, value: &Value) -> Value {
    match (wanted, value) {
        (Value::Object(wanted), Value::Object(members)) => wanted
            .iter()
            .filter_map(|(name, wanted)| Some((name.clone(), part_of(wanted, members.get(name)?))))
            .collect(),
        (Value::Array(wanted), Value::Array(items)) if wanted.len() == items.len() => {
            wanted.iter().zip(items).map(|(wanted, item)| part_of(wanted, item)).collect()
        }
        _ => value.clone(),
    }
}

/// A value with sorted members, so that only differences show.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{:#}", sorted(value))
}

pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}

fn without_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

fn lines(items: &[String]) -> String {
    items.join("\n")
}

/// The beginning of a text after a colon: on the same line, or indented if it has several lines.
fn cut_lines(text: &str) -> String {
    const MOST: usize = 20;
    let all: Vec<&str> = text.trim_end().lines().collect();
    match all.as_slice() {
        [] => " it is empty".to_owned(),
        [line] => format!(" {}", cut(line)),
        _ => {
            let mut shown = String::new();
            for line in all.iter().take(MOST) {
                let _ = write!(shown, "\n  {}", cut(line));
            }
            if all.len() > MOST {
                let _ = write!(shown, "\n  … and {} more lines", all.len() - MOST);
            }
            shown
        }
    }
}
