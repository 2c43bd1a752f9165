//! The form of a rule: what becomes of a system call, by its arguments.

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    Allow,
    /// The call fails with this error.
    Fail(i32),
    /// The call waits until its supervisor, which watches, lets it continue.
    Notify,
    /// A word of the call decides.
    Match(Box<Match>),
}

/// Compares the bits in `mask` of a word with the values of the cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) word: Word,
    pub(super) mask: u32,
    pub(super) cases: Vec<(u32, Decision)>,
    pub(super) otherwise: Decision,
}

/// 32 bits of an argument, as a filter can load them. The kernel takes an argument of type `int` from the low half and
/// ignores the high half, and so does a rule about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Low(u8),
    High(u8),
}

/// The decision by the low half of an argument.
pub(super) fn by(argument: u8, cases: Vec<(u32, Decision)>, otherwise: Decision) -> Decision {
    by_word(Word::Low(argument), u32::MAX, cases, otherwise)
}

/// The decision by some bits of the low half of an argument.
pub(super) fn by_bits(argument: u8, mask: u32, cases: Vec<(u32, Decision)>, otherwise: Decision) -> Decision {
    by_word(Word::Low(argument), mask, cases, otherwise)
}

/// `null` if an argument of 64 bits is 0, or else `otherwise`.
pub(super) fn by_pointer(argument: u8, null: Decision, otherwise: &Decision) -> Decision {
    let high = by_word(Word::High(argument), u32::MAX, vec![(0, null)], otherwise.clone());
    by(argument, vec![(0, high)], otherwise.clone())
}

fn by_word(word: Word, mask: u32, cases: Vec<(u32, Decision)>, otherwise: Decision) -> Decision {
    Decision::Match(Box::new(Match { word, mask, cases, otherwise }))
}
