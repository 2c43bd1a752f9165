//! `mcp-bash policy check`: the rules of a policy, or what is wrong in it.

use super::CheckArguments;
use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use crate::terminal::print::{print, print_json};
use mcp_bash_policy::Policy;
use mcp_bash_project::{Diagnostic, PolicyFile};
use mcp_bash_terminal::harmless_line;
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(common: &Common, arguments: &CheckArguments) -> Result<ExitCode, Error> {
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
    let is_required = project.scripts.settings().policy_required;
    match &project.catalog.policy {
        PolicyFile::Usable(policy) => {
            if arguments.json {
                print_json(&format!("{:#}", to_json(policy)))?;
            } else {
                print(&table(policy))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        PolicyFile::Absent => {
            let exit = if is_required { Exit::Failed } else { Exit::Done };
            let effect = if is_required {
                "MCPBASH_POLICY requires one, so nothing runs"
            } else {
                "every request is allowed"
            };
            if arguments.json {
                print_json(&json!({ "policy": null, "required": is_required }).to_string())?;
            } else {
                print(&format!("There is no server.d/policy.yaml; {effect}.\n"))?;
            }
            Ok(exit.into())
        }
        PolicyFile::Unusable(why) => {
            let policy = project.catalog.paths.policy_file();
            let found: Vec<&Diagnostic> =
                project.catalog.diagnostics.iter().filter(|found| found.path == policy).collect();
            if arguments.json {
                let problems: Vec<_> = found
                    .iter()
                    .map(|found| json!({ "line": found.line, "problem": found.words() }))
                    .collect();
                print_json(&format!("{:#}", json!({ "valid": false, "reason": why, "problems": problems })))?;
            } else if found.is_empty() {
                print(&format!("{}\n", harmless_line(why)))?;
            } else {
                let lines = found.iter().map(|found| format!("{}\n", harmless_line(&found.to_string())));
                print(&lines.collect::<String>())?;
            }
            Ok(Exit::Failed.into())
        }
    }
}

fn to_json(policy: &Policy) -> serde_json::Value {
    let rules: Vec<_> = policy
        .rules()
        .iter()
        .map(|rule| {
            json!({
                "name": rule.name(),
                "line": rule.line(),
                "action": rule.action().word(),
                "when": rule.condition(),
                "kinds": rule.kinds().collect::<Vec<_>>(),
            })
        })
        .collect();
    let default = if policy.allows_by_default() { "allow" } else { "deny" };
    json!({ "valid": true, "default": default, "rules": rules })
}

fn table(policy: &Policy) -> String {
    let mut text = String::new();
    let widest = policy.rules().iter().map(|rule| rule.name().len()).max().unwrap_or(0);
    for rule in policy.rules() {
        let condition = rule.condition().map_or_else(|| "always".to_owned(), one_line);
        let kinds = rule.kinds().collect::<Vec<_>>().join(", ");
        let (name, action) = (rule.name(), rule.action().word());
        let _ = writeln!(text, "{action:8} {name:widest$}  {condition}  ({kinds})");
    }
    let default = if policy.allows_by_default() { "allow" } else { "deny" };
    let _ = writeln!(text, "{default:8} everything else");
    text
}

/// A condition on one line.
pub(super) fn one_line(condition: &str) -> String {
    harmless_line(&condition.split_whitespace().collect::<Vec<_>>().join(" "))
}
