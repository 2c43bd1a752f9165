//! `mcp-bash secret check`: fetches each secret as a call would, commands included.

use crate::base::common::Common;
use crate::base::error::{Error, meant};
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use crate::terminal::print::print;
use clap::Args;
use mcp_bash_secrets::Need;
use mcp_bash_spelling::nearest;
use mcp_bash_terminal::{complain, harmless_line};
use std::process::ExitCode;

#[derive(Debug, Clone, Args)]
pub(crate) struct Arguments {
    /// The only secret to fetch [default: all that the project needs]
    name: Option<String>,
}

/// Exit 0 if all can be used, 1 if one cannot.
pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
    let users = project.catalog.secret_users();
    let mut needs: Vec<&Need> = Vec::new();
    for need in users.iter().flat_map(|user| user.needs.iter()) {
        if !needs.iter().any(|known| known.name == need.name && known.variable == need.variable) {
            needs.push(need);
        }
    }
    if let Some(name) = &arguments.name {
        let suggestion = nearest(name, needs.iter().map(|need| need.name.as_str())).map(str::to_owned);
        needs.retain(|need| need.name == *name);
        if needs.is_empty() {
            let words =
                format!("no script of this project needs a secret `{name}`{}", meant(suggestion.as_deref()));
            return Err(Error::of_command(Exit::NotFound, words));
        }
    }
    let mut failed = 0;
    for need in &needs {
        match project.block_on(project.scripts.find_secret(need, &project.catalog.paths)) {
            Ok(place) => print(&format!("{}\n", harmless_line(&format!("{}: {place}", need.name))))?,
            Err(error) => {
                failed += 1;
                complain(&error.to_string());
            }
        }
    }
    if needs.is_empty() && !common.quiet {
        print("No script of this project needs a secret.\n")?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
