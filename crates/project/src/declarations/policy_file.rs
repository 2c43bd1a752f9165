//! Policy file: `server.d/policy.yaml`, read and compiled with the project. A file that cannot be believed or understood
//! lets nothing run.

use crate::{Diagnostic, Paths, trust};
use mcp_bash_policy::{LONGEST_FILE, Policy, PolicyError};
use std::path::Path;

/// The policy file of a project.
#[derive(Debug)]
pub enum PolicyFile {
    Absent,
    Usable(Policy),
    /// Why it cannot be used.
    Unusable(String),
}

/// Another spelling of the name. A policy that is written must not end as none.
const MISSPELT: &str = "policy.yml";

impl PolicyFile {
    /// Reads the file.
    pub fn read(paths: &Paths, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let path = paths.policy_file();
        let unusable = |file: &Path, why: String, diagnostics: &mut Vec<Diagnostic>| {
            diagnostics.push(Diagnostic::error(
                file,
                format!("lets nothing run: {why}"),
                "fix or remove the file",
            ));
            Self::Unusable(why)
        };
        let bytes = match trust::read(&path, &paths.root, LONGEST_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let misspelt = paths.server.join(MISSPELT);
                if std::fs::symlink_metadata(&misspelt).is_ok() {
                    let why = format!("server.d/{MISSPELT} is not read; rename it to policy.yaml");
                    return unusable(&misspelt, why, diagnostics);
                }
                // Without a policy everything is allowed, so no other user may have been able to remove it.
                let Err(distrust) = trust::judge_absence(&path, &paths.root) else { return Self::Absent };
                let why = format!("others could have removed server.d/policy.yaml: {distrust}");
                return unusable(&path, why, diagnostics);
            }
            Err(distrust) => {
                let why = format!("server.d/policy.yaml is not trusted: {distrust}");
                return unusable(&path, why, diagnostics);
            }
        };
        match Policy::parse(&bytes) {
            Ok(policy) => Self::Usable(policy),
            Err(errors) => {
                diagnostics.extend(errors.iter().map(|error| diagnostic(&path, error)));
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                let more = match errors.len() {
                    0 | 1 => String::new(),
                    count => format!(" (and {} more)", count - 1),
                };
                Self::Unusable(format!("server.d/policy.yaml:{first}{more}"))
            }
        }
    }
}

fn diagnostic(path: &Path, error: &PolicyError) -> Diagnostic {
    let place = error.line.map(|line| (line as u64, error.column.unwrap_or(1) as u64));
    let problem = format!("lets nothing run: {}", error.problem);
    Diagnostic::error(path, problem, "correct it; `mcp-bash policy check` reads it again").at(place)
}
