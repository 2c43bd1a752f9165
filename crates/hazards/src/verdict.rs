//! Verdict: what a value is in its position.

/// What a value is in its position, from harmless to worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Any text is allowed.
    #[default]
    Data,
    /// A reader may interpret it: only [harmless](crate::is_harmless) characters are allowed.
    Doubtful { reader: &'static str },
    /// This program would read it as code, or run what it names.
    Code { reader: &'static str },
}

/// The verdict on each value of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// One for each value word, in order.
    pub words: Vec<Verdict>,
    /// The verdict on a value on standard input.
    pub input: Verdict,
    /// Whether an interpreter runs what the author wrote: a fixed script, or fixed code.
    pub runs_own_code: bool,
}
