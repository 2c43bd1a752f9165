//! Rules: a condition and what follows from it.

use crate::message::Message;
use crate::redact::Redaction;
use crate::request::Kind;
use mcp_bash_cel::Program;
use std::sync::Arc;

/// One rule of a policy.
#[derive(Debug)]
pub struct Rule {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Without a condition it always matches.
    pub(crate) when: Option<Program>,
    /// The kinds of requests that have everything it names.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) effect: Effect,
}

#[derive(Debug)]
pub(crate) enum Effect {
    Allow,
    Deny(Message),
    Confirm(Message),
    Redact(Arc<[Redaction]>),
}

/// What a rule does, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Allow,
    Deny,
    Confirm,
    Redact,
}

impl Action {
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Confirm => "confirm",
            Self::Redact => "redact",
        }
    }
}

impl Rule {
    /// Whether its condition or its message names a variable, by its number.
    pub(crate) fn names(&self, variable: usize) -> bool {
        let message = match &self.effect {
            Effect::Deny(message) | Effect::Confirm(message) => Some(message),
            Effect::Allow | Effect::Redact(_) => None,
        };
        let programs = self.when.iter().chain(message.into_iter().flat_map(Message::programs));
        programs.into_iter().any(|program| program.names(variable))
    }

    /// Its name, or `rule N` if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line it begins on.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Its condition as written.
    pub fn condition(&self) -> Option<&str> {
        self.when.as_ref().map(Program::source)
    }

    /// The kinds of requests that it applies to, by their words.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.kinds.iter().map(|kind| kind.word())
    }

    pub fn action(&self) -> Action {
        match &self.effect {
            Effect::Allow => Action::Allow,
            Effect::Deny(_) => Action::Deny,
            Effect::Confirm(_) => Action::Confirm,
            Effect::Redact(_) => Action::Redact,
        }
    }
}
