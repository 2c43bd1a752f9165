//! Draft: a request before it is sent, with its content and the expected answer.

use crate::word::Word;
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) method: &'static str,
    /// Without `_meta`, which depends on the era.
    pub(crate) params: Value,
    /// The word of the call, for requests that start a process or read something of their own.
    pub(crate) word: Option<Word>,
    pub(crate) expect: Expect,
}

impl Draft {
    /// Whether it is worked on beside others, so that it can be cancelled. The rest is answered before the next message
    /// is read.
    pub(crate) fn is_lengthy(&self) -> bool {
        matches!(
            self.method,
            "tools/call"
                | "resources/read"
                | "resources/subscribe"
                | "prompts/get"
                | "completion/complete"
                | "subscriptions/listen"
        )
    }
}

/// Which answer a request deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Any, but one.
    Anything,
    Result,
    Error,
    /// A result that says the word of the call, and no error of its tool.
    Word,
    /// The same, after all that the tool `honest` says while it runs.
    Honest,
    /// A tool's result that says what the client told the script.
    Told(Plan),
    /// None before the server ends: it listens.
    End,
}

/// What the client does about a question. It is part of the question's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Accept,
    Decline,
    Cancel,
    /// Answered with an error of the protocol.
    Fail,
    /// Answered after a while.
    Late,
    /// In the stateless era asked again first, because the answer was missing.
    Again,
    /// Answered when the script has given up.
    Tardy,
    Never,
}

impl Plan {
    pub(crate) const ALL: [(u64, Self); 8] = [
        (6, Self::Accept),
        (2, Self::Decline),
        (1, Self::Cancel),
        (1, Self::Fail),
        (3, Self::Late),
        (2, Self::Again),
        (1, Self::Tardy),
        (2, Self::Never),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::Fail => "fail",
            Self::Late => "late",
            Self::Again => "again",
            Self::Tardy => "tardy",
            Self::Never => "never",
        }
    }

    /// The plan that a question names.
    pub(crate) fn of_question(text: &str) -> Option<Self> {
        let name = text.split_once("plan=")?.1;
        Self::ALL.iter().map(|(_, plan)| *plan).find(|plan| name.starts_with(plan.name()))
    }

    /// How long the script waits for the answer, in seconds. One that is sent must reach it, however busy the machine is.
    pub(crate) fn seconds(self) -> u32 {
        if matches!(self, Self::Never | Self::Tardy | Self::Fail) { 1 } else { 30 }
    }

    /// What the script has been told in the end.
    pub(crate) fn told(self, word: Word) -> Option<String> {
        match self {
            Self::Accept | Self::Late | Self::Again => Some(answer_to(word)),
            Self::Decline => Some("decline".to_owned()),
            Self::Cancel => Some("cancel".to_owned()),
            Self::Fail | Self::Tardy | Self::Never => None,
        }
    }
}

/// The text that a user types for a call.
pub(crate) fn answer_to(word: Word) -> String {
    format!("answer to {word}")
}
