//! The languages that scripts are scaffolded in.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Language {
    #[default]
    Bash,
    Python,
    Node,
}
