//! The languages that there is an SDK for, and in which scripts and functions are scaffolded.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    #[default]
    Bash,
    Python,
    Node,
}
