//! Redaction: removes secrets from the output of a process, before anything else reads it.

use crate::running::outcome::Outcome;
use mcp_bash_runner::{ProcessEnding, Question};
use mcp_bash_secrets::{KnownSecrets, Pieces, Redactor};
use mcp_bash_wire::surrogates;
use serde_json::Value;
use std::borrow::Cow;

/// The notifications of one call: one line of JSON each.
pub(crate) struct Notifications<'a> {
    known: &'a KnownSecrets,
    /// The texts of its progress notifications, in order.
    progress: Pieces,
    /// The texts of its log messages.
    log: Pieces,
}

impl<'a> Notifications<'a> {
    pub(crate) fn new(known: &'a KnownSecrets) -> Self {
        Self { known, progress: Pieces::default(), log: Pieces::default() }
    }

    /// Passes on a line without secrets, and without the parts of a secret that is spread over several lines.
    pub(crate) fn pass_on(&mut self, line: &[u8], pass_on: impl FnOnce(&[u8])) {
        let Some(redactor) = self.known.redactor() else { return pass_on(line) };
        let line = redactor.redact(line);
        match self.without_pieces(&redactor, &line) {
            None => pass_on(&line),
            Some(line) => pass_on(&line),
        }
    }

    /// The line without parts of secrets. `None` if it contains none.
    fn without_pieces(&mut self, redactor: &Redactor, line: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(line);
        let mut message: Value = serde_json::from_str(&surrogates::repaired(&text)).ok()?;
        let (pieces, name) = match message.get("method")?.as_str()? {
            "notifications/progress" => (&mut self.progress, "message"),
            "notifications/message" => (&mut self.log, "data"),
            _ => return None,
        };
        let words = message.get_mut("params")?.get_mut(name)?;
        take_out(words, pieces, redactor).then(|| message.to_string().into_bytes())
    }
}

/// Removes parts of secrets from all texts in a value. Returns whether there were any.
fn take_out(value: &mut Value, pieces: &mut Pieces, redactor: &Redactor) -> bool {
    match value {
        Value::String(text) => match pieces.next(redactor, text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(shown) => {
                *text = shown;
                true
            }
        },
        Value::Array(elements) => elements
            .iter_mut()
            .fold(false, |is_changed, element| take_out(element, pieces, redactor) | is_changed),
        Value::Object(members) => members
            .values_mut()
            .fold(false, |is_changed, member| take_out(member, pieces, redactor) | is_changed),
        _ => false,
    }
}

/// A question without secrets.
pub(crate) fn question(known: &KnownSecrets, mut question: Question) -> Question {
    question.text = question.text.map(|text| known.redacted(text));
    question
}

/// An outcome without secrets. `error_tail` is the limit to which standard error was cut.
pub(crate) fn outcome(known: &KnownSecrets, mut outcome: Outcome, error_tail: usize) -> Outcome {
    let Some(redactor) = known.redactor() else { return outcome };
    let is_whole = matches!(outcome.ending, ProcessEnding::Exited(_));
    let stdout =
        if is_whole { redactor.redact(&outcome.stdout) } else { redactor.redact_head(&outcome.stdout) };
    if let Cow::Owned(redacted) = stdout {
        outcome.stdout = redacted;
    }
    let is_cut = outcome.stderr.len() >= error_tail;
    let stderr =
        if is_cut { redactor.redact_tail(&outcome.stderr) } else { redactor.redact(&outcome.stderr) };
    if let Cow::Owned(redacted) = stderr {
        outcome.stderr = redacted;
    }
    if let Some(denial) = &mut outcome.denial {
        denial.told = known.redacted_text(std::mem::take(&mut denial.told));
    }
    outcome
}
