//! SDK languages, in which scripts and functions are scaffolded.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    #[default]
    Bash,
    Python,
    Node,
}
