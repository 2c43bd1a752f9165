//! Command-line walk: reads the words of a command line as its programs do, and judges each value on the way.
//!
//! Optional words, and options and programs that are not in the table, leave more than one reading. All of them are
//! followed, and the worst counts.

use crate::naming::reads_like_code;
use crate::program::{OptionKind, Program, Role, UNKNOWN};
use crate::table;
use crate::variable::{Control, control};
use crate::verdict::{Judgement, Verdict};

/// One word of a command line, as far as it is known before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    Fixed(&'a str),
    /// A word with a value in it.
    Value {
        /// The text before the first value.
        prefix: &'a str,
        /// Whether it can only be a number, true or false, or one of the author's words: code in no language.
        is_plain: bool,
        /// Whether the author lets the value begin with `-` where options are read.
        may_be_option: bool,
    },
}

/// Words that are present together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    Always(Word<'a>),
    Optional(Vec<Word<'a>>),
    /// Any number of times.
    Repeated(Vec<Word<'a>>),
}

impl<'a> Piece<'a> {
    fn words(&self) -> &[Word<'a>] {
        match self {
            Self::Always(word) => std::slice::from_ref(word),
            Self::Optional(words) | Self::Repeated(words) => words,
        }
    }
}

/// Judges the values among the words of a program.
pub fn judge(program: &str, pieces: &[Piece<'_>]) -> Judgement {
    let mut walk = Walk { verdicts: Vec::new(), runs_own_code: false, is_own: is_own(program) };
    let mut states = vec![WalkState::of(program, Certainty::Sure, false)];
    let mut index = 0;
    for piece in pieces {
        let count = piece.words().iter().filter(|word| matches!(word, Word::Value { .. })).count();
        walk.verdicts.resize(index + count, Verdict::Data);
        let skipped = states.clone();
        states = walk.pass(states, piece.words(), index);
        match piece {
            Piece::Always(_) => {}
            Piece::Optional(_) => {
                extend(&mut states, skipped);
            }
            Piece::Repeated(_) => {
                // Until no repetition leads to a new reading.
                loop {
                    let again = walk.pass(states.clone(), piece.words(), index);
                    if !extend(&mut states, again) {
                        break;
                    }
                }
                extend(&mut states, skipped);
            }
        }
        index += count;
    }
    let input = states.iter().map(WalkState::input).max().unwrap_or_default();
    let runs_own_code = walk.runs_own_code || walk.is_own;
    Judgement { words: walk.verdicts, input, runs_own_code }
}

/// The verdict on the value of one option of a program, which may have commands of its own before it (`git log`).
pub fn option_verdict(command: &[&str], option: &str) -> Verdict {
    let Some((program, words)) = command.split_first() else { return Verdict::Data };
    let mut pieces: Vec<Piece<'_>> = words.iter().map(|word| Piece::Always(Word::Fixed(word))).collect();
    pieces.push(Piece::Always(Word::Fixed(option)));
    pieces.push(Piece::Always(Word::Value { prefix: "", is_plain: false, may_be_option: false }));
    judge(program, &pieces).words.pop().unwrap_or_default()
}

/// Whether the table says that code, or a command, follows an option.
pub fn option_begins_code(command: &[&str], option: &str) -> bool {
    let Some((program, words)) = command.split_first() else { return false };
    let row = words.iter().fold(table::find(program), |row, word| {
        row.subcommands.iter().find(|(name, _)| name == word).map_or(row, |(_, other)| *other)
    });
    let kind = row.option(option);
    matches!(kind, OptionKind::Instead | OptionKind::Begins | OptionKind::Takes(Role::Code))
}

/// Whether a program is part of the project: its author is responsible for what it does with its words.
fn is_own(program: &str) -> bool {
    program.contains('/') && !program.starts_with('/') && !table::find(program).is_known()
}

/// Adds the states that are new, and returns whether there were any.
fn extend(states: &mut Vec<WalkState>, more: Vec<WalkState>) -> bool {
    let before = states.len();
    for state in more {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    states.len() > before
}

/// How certain it is that a program reads the words in this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Sure,
    /// A word of a program that is not in the table names one that is.
    Named,
    /// An argument of a script names one.
    Argument,
    /// An option that is not in the table may have taken the word before.
    Ambiguous,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRole {
    /// Options and operands: how many operands were read, whether `--` was, and whether the word before was an option
    /// that is not in the table.
    Open { operands: usize, is_ended: bool, after_option: bool },
    /// The next word is the value of an option.
    Value { role: Role, is_instead: bool, operands: usize, is_ended: bool },
    /// The next word is a program.
    Program,
    /// Arguments of a script, which may come from standard input.
    Arguments { from_input: bool },
}

/// One reading of the words so far.
#[derive(Debug, Clone, Copy)]
struct WalkState {
    row: &'static Program,
    /// What the program is called in messages.
    name: &'static str,
    place: WordRole,
    certainty: Certainty,
    /// Whether a shell reads the words first.
    is_pasted: bool,
}

impl PartialEq for WalkState {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.row, other.row)
            && (self.place, self.certainty, self.is_pasted) == (other.place, other.certainty, other.is_pasted)
    }
}

/// The number of operands after which all further ones have the same role in every row.
const MANY: usize = 4;

impl WalkState {
    fn of(program: &str, certainty: Certainty, is_pasted: bool) -> Self {
        Self {
            row: table::find(program),
            name: table::name(program),
            place: WordRole::Open { operands: 0, is_ended: false, after_option: false },
            certainty,
            is_pasted,
        }
    }

    fn at(self, place: WordRole) -> Self {
        Self { place, ..self }
    }

    fn open(self, operands: usize, is_ended: bool) -> Self {
        self.at(WordRole::Open { operands: operands.min(MANY), is_ended, after_option: false })
    }

    /// The state after the script.
    fn script(self, word: &str) -> Self {
        self.at(WordRole::Arguments { from_input: matches!(word, "-" | "/dev/stdin") })
    }

    /// The state after a word that names a program.
    fn begin(self, word: &str) -> Self {
        Self::of(word, self.certainty, self.is_pasted)
    }

    /// The state after a value that names a program.
    fn of_any_program(self) -> Self {
        Self { row: &UNKNOWN, name: table::name(""), ..self.open(0, false) }
    }

    /// The verdict on a value with this role. `by_option` says that an option of the table announced it.
    fn verdict(&self, role: Role, by_option: bool) -> Verdict {
        let reader = self.name;
        let is_certain = match self.certainty {
            Certainty::Sure => true,
            Certainty::Named | Certainty::Argument => by_option,
            Certainty::Ambiguous => false,
        };
        match role {
            Role::Data | Role::Settings if self.is_pasted => Verdict::Doubtful { reader: "a shell" },
            Role::Data | Role::Settings => Verdict::Data,
            Role::Pasted => Verdict::Doubtful { reader },
            _ if is_certain => Verdict::Code { reader },
            // `sh` is a common name for what `sh -c` runs.
            _ if self.certainty == Certainty::Argument => Verdict::Data,
            _ => Verdict::Doubtful { reader },
        }
    }

    /// The verdict on standard input at the end of the words.
    fn input(&self) -> Verdict {
        if matches!(self.certainty, Certainty::Named | Certainty::Argument) {
            return Verdict::Data;
        }
        match self.place {
            WordRole::Arguments { from_input: true } => self.verdict(Role::Code, true),
            WordRole::Arguments { from_input: false } | WordRole::Program => Verdict::Data,
            WordRole::Open { operands, .. } | WordRole::Value { operands, .. } => {
                // With a script or a command among its operands it reads no code from its input.
                let has_script = (0..operands).any(|index| {
                    !matches!(self.row.operand(index), Role::Data | Role::Pasted | Role::Settings)
                });
                let reads_data = has_script || self.row.input == Role::Data;
                if reads_data { Verdict::Data } else { self.verdict(self.row.input, true) }
            }
        }
    }
}

struct Walk {
    verdicts: Vec<Verdict>,
    runs_own_code: bool,
    /// Whether the program is part of the project.
    is_own: bool,
}

impl Walk {
    /// Reads some words in all these states. The first value among them has this index.
    fn pass(&mut self, mut states: Vec<WalkState>, words: &[Word<'_>], mut index: usize) -> Vec<WalkState> {
        for word in words {
            let mut next = Vec::new();
            for state in states {
                let (following, verdict) = match *word {
                    Word::Fixed(word) => (self.fixed(state, word), Verdict::Data),
                    Word::Value { prefix, is_plain, may_be_option } => {
                        let (state, verdict) = self.value(state, prefix, may_be_option);
                        // A number is not code, but `-1` in a text that a shell reads may still be an option.
                        let verdict = match verdict {
                            Verdict::Code { .. } if is_plain => Verdict::Data,
                            verdict => verdict,
                        };
                        (vec![state], verdict)
                    }
                };
                if matches!(word, Word::Value { .. }) {
                    self.verdicts[index] = self.verdicts[index].max(verdict);
                }
                extend(&mut next, following);
            }
            index += usize::from(matches!(word, Word::Value { .. }));
            states = next;
        }
        states
    }

    fn fixed(&mut self, state: WalkState, word: &str) -> Vec<WalkState> {
        match state.place {
            WordRole::Program => vec![state.begin(word)],
            WordRole::Value { is_instead, operands, is_ended, .. } => {
                self.runs_own_code |= is_instead;
                vec![if is_instead { state.script(word) } else { state.open(operands, is_ended) }]
            }
            WordRole::Open { operands, is_ended, .. }
                if !is_ended && word.starts_with('-') && word.len() > 1 =>
            {
                self.fixed_option(state, word, operands)
            }
            WordRole::Open { operands, is_ended, .. } => {
                let mut following = vec![self.fixed_operand(state, word, operands, is_ended)];
                following.extend(named(state, word));
                following
            }
            WordRole::Arguments { .. } => [state].into_iter().chain(named(state, word)).collect(),
        }
    }

    fn fixed_option(&mut self, state: WalkState, word: &str, operands: usize) -> Vec<WalkState> {
        let row = state.row;
        let open = state.open(operands, false);
        if word == "--" {
            return vec![state.open(operands, row.obeys_dashes)];
        }
        let after_option =
            state.at(WordRole::Open { operands: operands.min(MANY), is_ended: false, after_option: true });
        if let Some((_, other)) = row.subcommands.iter().find(|(name, _)| *name == word) {
            let place = WordRole::Value { role: Role::Data, is_instead: false, operands: 0, is_ended: false };
            return vec![WalkState { row: other, place, ..state }];
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        let kind = match row.option(name) {
            OptionKind::Unlisted if row.has_clusters && !word.starts_with("--") => {
                match cluster(row, word) {
                    // Its value is in the same word.
                    Some((kind, true)) => {
                        let is_instead = kind == OptionKind::Instead;
                        self.runs_own_code |= is_instead;
                        return vec![if is_instead { state.script("") } else { open }];
                    }
                    Some((kind, false)) => kind,
                    None => OptionKind::Unlisted,
                }
            }
            kind => kind,
        };
        let value_of = |role, is_instead| {
            vec![state.at(WordRole::Value { role, is_instead, operands, is_ended: false })]
        };
        match (kind, value) {
            (OptionKind::Instead, Some(script)) => {
                self.runs_own_code = true;
                vec![state.script(script)]
            }
            (OptionKind::Instead, None) => value_of(Role::Code, true),
            (OptionKind::Takes(role), None) => value_of(role, false),
            (OptionKind::Begins, None) => vec![state.at(WordRole::Program)],
            // It may be a flag, or take the next word.
            (OptionKind::Unlisted, None) if row.is_known() => {
                let role = unlisted(row, name, self.is_own);
                let place = WordRole::Value { role, is_instead: false, operands, is_ended: false };
                vec![after_option, WalkState { place, certainty: Certainty::Ambiguous, ..state }]
            }
            (OptionKind::Unlisted, None) if !self.is_own && reads_like_code(name) => {
                let place =
                    WordRole::Value { role: Role::Pasted, is_instead: false, operands, is_ended: false };
                vec![open, state.at(place)]
            }
            _ => vec![open],
        }
    }

    fn fixed_operand(&mut self, state: WalkState, word: &str, operands: usize, is_ended: bool) -> WalkState {
        let row = state.row;
        if operands == 0
            && let Some((_, other)) = row.subcommands.iter().find(|(name, _)| *name == word)
        {
            return WalkState { row: other, ..state.open(0, is_ended) };
        }
        match row.operand(operands) {
            Role::Assignments if word.contains('=') => state,
            Role::Command | Role::Assignments => state.begin(word),
            Role::ShellCommand => WalkState { is_pasted: true, ..state.begin(word) },
            Role::Script => {
                self.runs_own_code = true;
                state.script(word)
            }
            Role::Data | Role::Pasted | Role::Settings | Role::Code => state.open(operands + 1, is_ended),
        }
    }

    fn value(&self, state: WalkState, prefix: &str, may_be_option: bool) -> (WalkState, Verdict) {
        match state.place {
            WordRole::Program => (state.of_any_program(), state.verdict(Role::Command, true)),
            WordRole::Value { role, is_instead, operands, is_ended } => {
                let next = if is_instead { state.script("") } else { state.open(operands, is_ended) };
                (next, state.verdict(role, true))
            }
            WordRole::Arguments { .. } => (state, state.verdict(Role::Data, false)),
            WordRole::Open { operands, is_ended, .. } if !is_ended && prefix.starts_with('-') => {
                let (kind, name) = option_before(state.row, prefix);
                let next =
                    if kind == OptionKind::Instead { state.script("") } else { state.open(operands, false) };
                let (role, is_listed) = match kind {
                    OptionKind::Takes(role) => (role, true),
                    OptionKind::Instead | OptionKind::Begins => (Role::Code, true),
                    OptionKind::Flag | OptionKind::Unlisted => {
                        (unlisted(state.row, name, self.is_own), false)
                    }
                };
                (next, state.verdict(role, is_listed))
            }
            WordRole::Open { operands, is_ended, after_option } => {
                // If the author lets a value begin with `-` after an option, it belongs to the option.
                let may_be_option =
                    may_be_option && !is_ended && (!after_option || state.row.is_interpreter());
                operand_value(state, prefix, operands, is_ended, may_be_option)
            }
        }
    }
}

/// A value in the place of an operand.
fn operand_value(
    state: WalkState,
    prefix: &str,
    operands: usize,
    is_ended: bool,
    may_be_option: bool,
) -> (WalkState, Verdict) {
    let row = state.row;
    let role = row.operand(operands);
    let variable = prefix.split_once('=').map(|(name, _)| name);
    let next = match role {
        Role::Assignments if variable.is_some() => state,
        Role::Command | Role::ShellCommand | Role::Assignments => state.of_any_program(),
        Role::Script => state.script(""),
        _ => state.open(operands + 1, is_ended),
    };
    if may_be_option && row.has_code() {
        return (next, state.verdict(Role::Code, false));
    }
    let verdict = match (role, variable) {
        (Role::Assignments | Role::Pasted | Role::Settings, Some(name)) => {
            let own =
                if role == Role::Assignments { Verdict::Data } else { state.verdict(Role::Pasted, false) };
            match control(name) {
                Control::Decides => state.verdict(Role::Code, false),
                Control::Sounds => own.max(Verdict::Doubtful { reader: state.name }),
                Control::Free => own,
            }
        }
        _ => state.verdict(role, false),
    };
    (next, verdict)
}

/// The role of the value of an option that the row does not name.
fn unlisted(row: &Program, name: &str, is_own: bool) -> Role {
    if row.otherwise == Role::Data && !is_own && reads_like_code(name) { Role::Pasted } else { row.otherwise }
}

/// The option before a value in its word: `--name=`, `-n`, `-lc`.
fn option_before<'p>(row: &Program, prefix: &'p str) -> (OptionKind, &'p str) {
    let name = prefix.split_once('=').map_or(prefix, |(name, _)| name);
    match row.option(name) {
        OptionKind::Unlisted if row.has_clusters && !prefix.starts_with("--") => {
            (cluster(row, prefix).map_or(OptionKind::Unlisted, |(kind, _)| kind), name)
        }
        kind => (kind, name),
    }
}

/// The first of several short options in one word that takes a value, and whether more of the word follows it; or the
/// last option, if none takes a value.
fn cluster(row: &Program, word: &str) -> Option<(OptionKind, bool)> {
    let letters = &word[1..];
    let kinds =
        || letters.char_indices().map(|(index, letter)| (row.letter(letter), index + letter.len_utf8()));
    let takes = |kind: OptionKind| !matches!(kind, OptionKind::Flag | OptionKind::Unlisted);
    let first = kinds().find(|(kind, _)| takes(*kind)).map(|(kind, end)| (kind, end < letters.len()));
    first.or_else(|| kinds().next_back().map(|(kind, _)| (kind, false)))
}

/// The reading in which a word of a program begins a command of its own, as in `some-wrapper sh -c`.
fn named(state: WalkState, word: &str) -> Option<WalkState> {
    let certainty = if matches!(state.place, WordRole::Arguments { .. }) {
        Certainty::Argument
    } else {
        Certainty::Named
    };
    let is_program = table::find(word).is_known() && !word.starts_with('-');
    is_program.then(|| WalkState::of(word, certainty, state.is_pasted))
}

#[cfg(test)]
mod tests;
