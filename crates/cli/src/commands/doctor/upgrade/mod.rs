//! `doctor --upgrade-check`: whether there is a newer release, and the command that installs it. Nothing else in `doctor` asks the
//! network, and this only when the flag is given.

mod installation;
mod releases;

use super::diagnosis::Diagnosis;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::version::VERSION;
use crate::report::Group;
use crate::report::finding::Finding;
use installation::Installation;
use mcp_bash_fetch::{OperatorUrl, UrlError};
use mcp_bash_packaging::Version;
use mcp_bash_terminal::harmless_line;
use releases::Problem;
use serde_json::{Value, json};
use std::cmp::Ordering;
use thiserror::Error as ThisError;

/// Where the source and the releases are.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Named unlike those of the command, since clap makes a group of each name.
#[derive(Debug, clap::Args)]
pub(super) struct UpgradeArguments {
    /// Ask whether there is a newer release: the only thing in `doctor` that asks the network
    #[arg(long)]
    upgrade_check: bool,

    /// The list of releases to ask instead of that of the project, for mirrors; https, or http on this machine
    #[arg(long, value_name = "URL", requires = "upgrade_check")]
    releases_url: Option<String>,
}

#[derive(Debug, ThisError)]
enum NoAddress {
    #[error(
        "--releases-url cannot be asked: {0}; write an address such as https://mirror.example.com/releases.json"
    )]
    Bad(UrlError),
    #[error("this build does not know where releases are; name the list with --releases-url URL")]
    Unknown,
}

impl UpgradeArguments {
    /// The address to ask, if the check is wanted.
    pub(super) fn read(&self) -> Result<Option<OperatorUrl>, Error> {
        if !self.upgrade_check {
            return Ok(None);
        }
        let usage = |problem| Error::of_command(Exit::Usage, problem);
        let address = self.releases_url.clone().or_else(|| list_of(REPOSITORY));
        let address = address.ok_or_else(|| usage(NoAddress::Unknown))?;
        OperatorUrl::parse(&address).map(Some).map_err(|error| usage(NoAddress::Bad(error)))
    }
}

/// The list of releases of a repository on GitHub.
fn list_of(repository: &str) -> Option<String> {
    let name = repository.strip_prefix("https://github.com/")?;
    Some(format!("https://api.github.com/repos/{name}/releases?per_page=10"))
}

pub(super) fn look(report: &mut Diagnosis, url: &OperatorUrl) {
    let own = Version::parse(VERSION);
    let newest = releases::newest(url, own.as_ref().is_none_or(Version::is_pre_release));
    let path = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let installation = Installation::of(&path, std::path::Path::exists);
    let (finding, mut facts) = judged(own.as_ref(), newest, &installation);
    facts["installedBy"] = json!(installation.name());
    facts["current"] = json!(VERSION);
    facts["url"] = json!(url.to_string());
    report.add(Group::new("Releases", vec![finding]));
    report.fact("upgrade", facts);
}

fn judged(
    own: Option<&Version>,
    newest: Result<Version, Problem>,
    installation: &Installation,
) -> (Finding, Value) {
    let newest = match newest {
        Ok(newest) => newest,
        // Without an answer nothing is known to be wrong: this is no error, and does not change the exit code.
        Err(problem) => {
            let problem = harmless_line(&problem.to_string());
            let finding = Finding::warning(
                "upgrade.unknown",
                format!("whether there is a newer release is not known: {problem}"),
            )
            .remedy("try again with a network, or name a mirror with --releases-url");
            return (finding, json!({ "available": null, "problem": problem }));
        }
    };
    let version = newest.to_string();
    let mut facts = json!({ "available": false, "newest": version });
    let finding = match own.map_or(Ordering::Less, |own| own.precedence(&newest)) {
        Ordering::Less => {
            let command = installation.upgrade(&version, REPOSITORY);
            facts["available"] = json!(true);
            facts["command"] = json!(command);
            Finding::warning(
                "upgrade.available",
                format!("version {version} is available, this is {VERSION}"),
            )
            .remedy(format!("this copy was installed by {}", installation.name()))
            .command(command)
        }
        Ordering::Equal => Finding::good("upgrade.newest", format!("{VERSION} is the newest release")),
        Ordering::Greater => {
            Finding::good("upgrade.newest", format!("{VERSION} is newer than the newest release, {version}"))
        }
    };
    (finding, facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_repository_on_github_has_a_list_of_its_own() {
        let list = list_of("https://github.com/o/r").unwrap();
        assert_eq!(list, "https://api.github.com/repos/o/r/releases?per_page=10");
        assert!(OperatorUrl::parse(&list).is_ok());
        assert_eq!(list_of("https://mcp-bash.invalid"), None);
    }
}
