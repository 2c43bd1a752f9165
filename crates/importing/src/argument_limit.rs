//! Argument limit: how many arguments a tool gets.

/// As many arguments as a model reads with ease.
const MOST_ARGUMENTS: usize = 15;

/// More options than a model could choose from.
const MOST_OPTIONS: usize = 100;

/// How many arguments a tool gets, and the reason for leaving out the others.
pub(crate) fn argument_limit(wants_all: bool) -> (usize, String) {
    if wants_all {
        (MOST_OPTIONS, format!("{MOST_OPTIONS} are enough for one tool"))
    } else {
        let why = format!("a model reads {MOST_ARGUMENTS} arguments with ease; `--all-options` takes all");
        (MOST_ARGUMENTS, why)
    }
}
