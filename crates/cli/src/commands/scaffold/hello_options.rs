//! Options about the tool `hello` of a new project.

use super::language::Language;

#[derive(Debug, clap::Args)]
pub(crate) struct HelloOptions {
    /// Do not create the tool `hello`
    #[arg(long)]
    no_hello: bool,

    /// The language of the tool `hello` [default: bash]
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with = "no_hello")]
    lang: Option<Language>,
}

impl HelloOptions {
    /// The language of the tool, if it is wanted.
    pub(crate) fn language(&self) -> Option<Language> {
        (!self.no_hello).then(|| self.lang.unwrap_or_default())
    }
}
