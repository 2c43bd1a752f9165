//! `mcp-bash secret list`: which secrets there are, where, and what uses them. It shows no value, and runs no command.

use super::{store, store_error};
use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::connect::OpenProject;
use crate::open::secret_check::{SecretCheck, SecretState};
use crate::terminal::print::print;
use clap::Args;
use mcp_bash_terminal::harmless_line;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

#[derive(Debug, Clone, Args)]
pub(crate) struct Arguments {
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Exit 0, even if secrets are missing: `check` judges.
pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let mut secrets = match OpenProject::read(common, |settings| settings.leaves_no_trace = true) {
        Ok(project) => SecretCheck::of(&project.scripts, &project.catalog).secrets,
        // A person may keep secrets for projects that are elsewhere.
        Err(_) => Vec::new(),
    };
    let own = store()?.read().map_err(store_error)?;
    for name in
        own.names().filter(|name| !secrets.iter().any(|known| known.name == *name)).collect::<Vec<_>>()
    {
        let place = match own.get(name) {
            Some(Ok(source)) => Ok(source.to_string()),
            Some(Err(why)) => Err(why.to_string()),
            None => continue,
        };
        secrets.push(SecretState { name: name.to_owned(), users: Vec::new(), place });
    }
    print(&if arguments.json { described(&secrets) } else { table(&secrets) })?;
    Ok(ExitCode::SUCCESS)
}

fn described(secrets: &[SecretState]) -> String {
    let one = |secret: &SecretState| {
        json!({
            "name": secret.name,
            "present": secret.place.is_ok(),
            "place": secret.place.as_ref().ok(),
            "problem": secret.place.as_ref().err(),
            "usedBy": secret.users,
        })
    };
    format!("{:#}\n", Value::Array(secrets.iter().map(one).collect()))
}

fn table(secrets: &[SecretState]) -> String {
    if secrets.is_empty() {
        return "No script here needs a secret, and you keep none.\n".to_owned();
    }
    let width = secrets.iter().map(|secret| secret.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for secret in secrets {
        let state = match &secret.place {
            Ok(place) => place.clone(),
            Err(why) => format!("NOT AVAILABLE: {why}"),
        };
        let users = if secret.users.is_empty() { "nothing here".to_owned() } else { secret.users.join(", ") };
        let line = format!("{state} (used by {users})");
        let _ = writeln!(text, "{:width$}  {}", secret.name, harmless_line(&line));
    }
    text
}
