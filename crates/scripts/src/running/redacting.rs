//! Redacting: takes secrets out of what a process says, before anything else sees it.

use crate::running::outcome::Outcome;
use mcp_bash_runner::{ProcessEnding, Question};
use mcp_bash_secrets::KnownSecrets;

/// Passes on the lines of a process without secrets.
pub(crate) fn line(known: &KnownSecrets, line: &[u8], pass_on: impl FnOnce(&[u8])) {
    match known.redactor() {
        None => pass_on(line),
        Some(redactor) => pass_on(&redactor.redact(line)),
    }
}

/// A question without secrets.
pub(crate) fn question(known: &KnownSecrets, mut question: Question) -> Question {
    question.text = question.text.map(|text| known.redacted(text));
    question
}

/// An outcome without secrets. `error_tail` is how much of the end of standard error was kept.
pub(crate) fn outcome(known: &KnownSecrets, mut outcome: Outcome, error_tail: usize) -> Outcome {
    let Some(redactor) = known.redactor() else { return outcome };
    let is_whole = matches!(outcome.ending, ProcessEnding::Exited(_));
    let stdout =
        if is_whole { redactor.redact(&outcome.stdout) } else { redactor.redact_head(&outcome.stdout) };
    if let std::borrow::Cow::Owned(redacted) = stdout {
        outcome.stdout = redacted;
    }
    let is_cut = outcome.stderr.len() >= error_tail;
    let stderr =
        if is_cut { redactor.redact_tail(&outcome.stderr) } else { redactor.redact(&outcome.stderr) };
    if let std::borrow::Cow::Owned(redacted) = stderr {
        outcome.stderr = redacted;
    }
    if let Some(denial) = &mut outcome.denial {
        denial.told = known.redacted_text(std::mem::take(&mut denial.told));
    }
    outcome
}
