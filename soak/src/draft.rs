//! Draft: a request before it is sent, with its content and the expected answer.

use crate::word::Word;
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) method: &'static str,
    /// Without `_meta`, which depends on the era.
    pub(crate) params: Value,
    /// The word of the call, for requests that start a process or read their own resource.
    pub(crate) word: Option<Word>,
    pub(crate) expect: Expect,
}

impl Draft {
    /// Whether it runs beside others, so that it can be cancelled. Other requests are answered before the
    /// next message is read.
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

/// The expected answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Any answer, but exactly one.
    Anything,
    Result,
    Error,
    /// A result with the word of the call, without an error of its tool.
    Word,
    /// The same, after everything that the tool `honest` sends while it runs.
    Honest,
    /// A tool's result with the client's answer to the script.
    Told(Plan),
    /// None before the shutdown: it listens.
    End,
}

/// How the client handles a question. It is part of the question's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Accept,
    Decline,
    Cancel,
    /// Answers with a protocol error.
    Fail,
    /// Answers after a while.
    Late,
    /// In the stateless era, first retries without the answer.
    Again,
    /// Answers after the script has given up.
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

    /// How long the script waits for the answer, in seconds. An answer in time must reach it, however busy
    /// the machine is.
    pub(crate) fn seconds(self) -> u32 {
        if matches!(self, Self::Never | Self::Tardy | Self::Fail) { 1 } else { 30 }
    }

    /// The answer that the script receives in the end.
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
