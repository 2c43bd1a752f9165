//! Verdict: how a run ended that could take place.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed,
    /// A signal ended `--watch`.
    Interrupted,
}

impl Verdict {
    pub(crate) fn of(has_passed: bool) -> Self {
        if has_passed { Self::Passed } else { Self::Failed }
    }
}
