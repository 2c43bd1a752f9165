//! `mcp-bash secret`: the operator's own secrets, and which ones a project needs.

mod check;
mod list;
mod typed;

use crate::base::common::Common;
use crate::base::error::{Error, meant};
use crate::base::exit::Exit;
use crate::open::startup;
use crate::terminal::print::print;
use clap::{Args, Subcommand};
use mcp_bash_secrets::{Secret, Store, StoreError, is_secret_name};
use mcp_bash_spelling::nearest;
use std::process::ExitCode;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Keep a secret in your own file; the value is typed without being shown, or read from standard input
    #[command(after_help = SET_EXAMPLES)]
    Set(NameArguments),
    /// List the secrets that the project needs and those that you keep: where each is, and what uses it
    #[command(after_help = LIST_EXAMPLES)]
    List(list::Arguments),
    /// Fetch each secret that the project needs, and report those that cannot be used
    #[command(after_help = CHECK_EXAMPLES)]
    Check(check::Arguments),
    /// Remove a secret from your own file
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(NameArguments),
}

const SET_EXAMPLES: &str = "\
Examples:
  mcp-bash secret set github
  pass show github | mcp-bash secret set github
A value on the command line would be visible to every user of this machine, so none is taken from there.";

const LIST_EXAMPLES: &str = "\
Examples:
  mcp-bash secret list
  mcp-bash secret list --json | jq -r '.[] | select(.present == false).name'";

const CHECK_EXAMPLES: &str = "\
Examples:
  mcp-bash secret check
  mcp-bash secret check github";

const REMOVE_EXAMPLES: &str = "\
Examples:
  mcp-bash secret remove github";

#[derive(Debug, Clone, Args)]
pub(crate) struct NameArguments {
    /// The name of the secret
    name: String,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::Set(arguments) => set(common, &arguments.name),
        Arguments::List(arguments) => list::run(common, arguments),
        Arguments::Check(arguments) => check::run(common, arguments),
        Arguments::Remove(arguments) => remove(common, &arguments.name),
    }
}

fn set(common: &Common, name: &str) -> Result<ExitCode, Error> {
    if !is_secret_name(name) {
        let words = "a secret is named with letters, digits, `.`, `_` and `-`, at most 64, and this name is not; the \
                     value is asked for, and never given on the command line";
        return Err(Error::of_command(Exit::Usage, words));
    }
    let store = store()?;
    let unfit = |why: &dyn std::fmt::Display| {
        Error::of_command(Exit::Usage, format!("the secret `{name}` is not kept: {why}"))
    };
    let secret = Secret::new(typed::value(name)?).map_err(|why| unfit(&why))?;
    let text = std::str::from_utf8(secret.reveal()).map_err(|_| unfit(&"it is no UTF-8 text"))?;
    store.set(name, text).map_err(store_error)?;
    if !common.quiet {
        print(&format!("Keeping `{name}` in {}\n", store.path().display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(common: &Common, name: &str) -> Result<ExitCode, Error> {
    let store = store()?;
    if !store.remove(name).map_err(store_error)? {
        let sources = store.read().map_err(store_error)?;
        let suggestion = nearest(name, sources.names());
        let said = format!("{} has no secret `{name}`{}", store.path().display(), meant(suggestion));
        return Err(Error::of_command(Exit::NotFound, said));
    }
    if !common.quiet {
        print(&format!("Removed `{name}` from {}\n", store.path().display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The operator's own file.
fn store() -> Result<Store, Error> {
    let (settings, _) = startup::settings();
    settings.secrets_file.map(Store::new).or_else(Store::of_user).ok_or_else(|| {
        let words = "there is no folder for your secrets: set HOME, XDG_CONFIG_HOME or MCPBASH_SECRETS_FILE";
        Error::of_command(Exit::Usage, words)
    })
}

fn store_error(error: StoreError) -> Error {
    let exit = match error {
        StoreError::Unwritable { .. } => Exit::Failed,
        StoreError::Unreadable { .. } | StoreError::NotJson { .. } => Exit::Usage,
    };
    Error::of_command(exit, error)
}
