//! What is in force: for each aspect of a policy, whether this machine enforces it, and if not, why.

use std::fmt;

/// One thing that a sandbox promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aspect {
    Files,
    Network,
    SystemCalls,
    Signals,
    UnixSockets,
    Memory,
    Processes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    Enforced,
    /// Enforced, but for this.
    Partly(String),
    /// Not enforced, for this reason.
    Not(String),
}

/// The level of each aspect that a policy has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InForce {
    levels: Vec<(Aspect, Level)>,
}

impl Aspect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Network => "network",
            Self::SystemCalls => "system calls",
            Self::Signals => "signals",
            Self::UnixSockets => "Unix sockets",
            Self::Memory => "memory",
            Self::Processes => "processes",
        }
    }

    /// Whether no declaration asks for it and only a newer kernel enforces it.
    pub fn is_up_to_the_kernel(self) -> bool {
        matches!(self, Self::Signals | Self::UnixSockets)
    }
}

impl Level {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partly(_) => "partly",
            Self::Not(_) => "not",
        }
    }

    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Enforced => None,
            Self::Partly(why) | Self::Not(why) => Some(why),
        }
    }
}

impl InForce {
    pub(crate) fn set(&mut self, aspect: Aspect, level: Level) {
        self.levels.push((aspect, level));
    }

    pub fn levels(&self) -> &[(Aspect, Level)] {
        &self.levels
    }

    /// What is not enforced as declared.
    pub fn shortfalls(&self) -> impl Iterator<Item = &(Aspect, Level)> {
        self.levels.iter().filter(|(_, level)| *level != Level::Enforced)
    }
}

/// One line: `files enforced, network partly (why)`.
impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (aspect, level)) in self.levels.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{} {}", aspect.name(), level.word())?;
            if let Some(why) = level.why() {
                write!(f, " ({why})")?;
            }
        }
        Ok(())
    }
}
