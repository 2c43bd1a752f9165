//! Violations: what a correct server never does. Each is reported when it is seen, with the details needed to
//! investigate it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    NotJson,
    ForeignWord,
    ForeignCaller,
    SaidToOperator,
    Secret,
    Unprinted,
    Audit,
    LateMessage,
    WrongAnswer,
    AnsweredTwice,
    AnsweredNothing,
    Unanswered,
    Unheard,
    Hang,
    Died,
    ExitStatus,
    ProcessOutlivesCall,
    ProcessLeft,
    Zombie,
    FileLeft,
    Memory,
    Descriptors,
}

impl Kind {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::NotJson => "standard output holds something else than whole JSON messages",
            Self::ForeignWord => "a message holds the word of another call",
            Self::ForeignCaller => "a caller got what belongs to another caller or call",
            Self::SaidToOperator => "the log of the operator holds what a caller sent or a script said",
            Self::Secret => "a message, a log, a file or what a command prints holds the planted secret",
            Self::Unprinted => "a command or the metrics do not print what they should",
            Self::Audit => "the audit log does not say what happened",
            Self::LateMessage => "a message for a call that is over",
            Self::WrongAnswer => "an honest call got a wrong answer",
            Self::AnsweredTwice => "a request was answered twice, or after its cancellation",
            Self::AnsweredNothing => "an answer to a request that was never made",
            Self::Unanswered => "a request was never answered",
            Self::Unheard => "a notification that was owed did not come",
            Self::Hang => "no answer, no end or no room for a long time",
            Self::Died => "the server ended by itself",
            Self::ExitStatus => "the server ended with another status than it should",
            Self::ProcessOutlivesCall => "a process outlives its call",
            Self::ProcessLeft => "a process is left when it should be gone",
            Self::Zombie => "dead processes are not reaped",
            Self::FileLeft => "files are left when they should be gone",
            Self::Memory => "memory grew and stayed",
            Self::Descriptors => "descriptors grew and stayed",
        }
    }
}

/// The number of violations of a kind that are printed in full.
const TOLD: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Violations {
    counts: Mutex<BTreeMap<Kind, usize>>,
}

impl Violations {
    /// `server` identifies the server and how it was started.
    pub(crate) fn add(&self, kind: Kind, server: &str, what: &str) {
        let mut counts = self.lock();
        let count = counts.entry(kind).or_default();
        *count += 1;
        // Printed under the lock, so that two of them do not mix.
        if *count <= TOLD {
            eprintln!("VIOLATION: {}\n  {server}\n  {}", kind.describe(), what.replace('\n', "\n  "));
        }
    }

    pub(crate) fn counts(&self) -> BTreeMap<Kind, usize> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Kind, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text as quoted in a violation, shortened.
pub(crate) fn excerpt(text: &str) -> String {
    const MOST: usize = 600;
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(MOST).collect();
    match characters.count() {
        0 => start,
        more => format!("{start}… ({more} characters more)"),
    }
}
