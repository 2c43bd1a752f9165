//! Program row: what the words of a program mean.

/// What a word, or the value of an option, is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Data,
    /// It becomes part of a text that a shell, make or a template reads.
    Pasted,
    /// The same for `NAME=value`; other words are data.
    Settings,
    /// It is read as code, or names a file of code.
    Code,
    /// It names a file of code, and all words that follow are its arguments.
    Script,
    /// It is a program, which reads the words that follow.
    Command,
    /// The same, after variables (`NAME=value`) for it.
    Assignments,
    /// The same, but a shell reads the words first.
    ShellCommand,
}

#[derive(Debug)]
pub(crate) struct Program {
    /// Without the digits and dots of versions. A program without a name is not in the table.
    pub(crate) names: &'static [&'static str],
    /// Options whose value is code.
    pub(crate) code: &'static [&'static str],
    /// Options whose value is code that replaces the script: the operands are its arguments.
    pub(crate) instead: &'static [&'static str],
    /// Options after which a command begins.
    pub(crate) commands: &'static [&'static str],
    /// Options whose value is data.
    pub(crate) data: &'static [&'static str],
    /// Options without a value. For any other option it is unknown whether it takes the next word.
    pub(crate) flags: &'static [&'static str],
    /// What the value of any other option is.
    pub(crate) otherwise: Role,
    /// What the operands are; the last role applies to all further ones.
    pub(crate) operands: &'static [Role],
    /// What standard input is, if no operand is a script or a command.
    pub(crate) input: Role,
    /// Whether several short options can share one word: `-lc`.
    pub(crate) has_clusters: bool,
    /// Whether it reads no more options after `--`.
    pub(crate) obeys_dashes: bool,
    /// First operands, and options with a fixed value, that make it another program.
    pub(crate) subcommands: &'static [(&'static str, &'static Program)],
}

/// A program that is not in the table.
pub(crate) static UNKNOWN: Program = Program {
    names: &[],
    code: &[],
    instead: &[],
    commands: &[],
    data: &[],
    flags: &[],
    otherwise: Role::Data,
    operands: &[Role::Data],
    input: Role::Data,
    has_clusters: true,
    obeys_dashes: true,
    subcommands: &[],
};

/// The base of the rows of ordinary tools.
pub(crate) const TOOL: Program = Program {
    names: &[],
    code: &[],
    instead: &[],
    commands: &[],
    data: &[],
    flags: &[],
    otherwise: Role::Data,
    operands: &[Role::Data],
    input: Role::Data,
    has_clusters: true,
    obeys_dashes: true,
    subcommands: &[],
};

/// The base of the rows of interpreters: nothing before the script is data unless the row says so.
pub(crate) const INTERPRETER: Program =
    Program { otherwise: Role::Code, operands: &[Role::Script], input: Role::Code, ..TOOL };

/// The base of the rows of programs that run another one.
pub(crate) const WRAPPER: Program = Program { operands: &[Role::Command], ..TOOL };

/// What an option does to the words after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionKind {
    /// Its value has this role.
    Takes(Role),
    /// Its value is code that replaces the script.
    Instead,
    /// A command follows.
    Begins,
    Flag,
    /// It is not in the table.
    Unlisted,
}

impl Program {
    pub(crate) fn is_known(&self) -> bool {
        !self.names.is_empty()
    }

    /// Whether it reads code unless it is told otherwise.
    pub(crate) fn is_interpreter(&self) -> bool {
        self.otherwise == Role::Code
    }

    /// Whether one of its options can be code.
    pub(crate) fn has_code(&self) -> bool {
        self.is_interpreter() || [self.code, self.instead, self.commands].iter().any(|list| !list.is_empty())
    }

    pub(crate) fn operand(&self, index: usize) -> Role {
        let last = self.operands.len() - 1;
        self.operands[index.min(last)]
    }

    /// What an option is, by its full name. GNU programs accept abbreviations of long names.
    pub(crate) fn option(&self, name: &str) -> OptionKind {
        let is_long = name.starts_with("--") && name.len() > 4;
        let has =
            |list: &[&str]| list.iter().any(|known| *known == name || is_long && known.starts_with(name));
        if has(self.instead) {
            OptionKind::Instead
        } else if has(self.code) {
            OptionKind::Takes(Role::Code)
        } else if has(self.commands) {
            OptionKind::Begins
        } else if self.data.contains(&name) {
            OptionKind::Takes(Role::Data)
        } else if self.flags.contains(&name) {
            OptionKind::Flag
        } else {
            OptionKind::Unlisted
        }
    }

    /// What a short option is that shares a word with others, by its letter.
    pub(crate) fn letter(&self, letter: char) -> OptionKind {
        self.option(&format!("-{letter}"))
    }
}
