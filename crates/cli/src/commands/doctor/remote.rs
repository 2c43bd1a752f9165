//! A server over HTTP: whether it can be reached and used, and what it offers.

use super::diagnosis::Diagnosis;
use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::connect::{Conversation, Failure};
use crate::report::Group;
use crate::report::finding::Finding;
use crate::terminal::host::CommandLineHost;
use mcp_bash_client::Remote;
use mcp_bash_terminal::harmless_line;
use serde_json::json;
use std::time::Duration;

/// The timeout of each request.
const EACH: Duration = Duration::from_secs(30);

/// What is counted: the capability, the method and its member.
const KINDS: [(&str, &str, &str); 3] = [
    ("tools", "tools/list", "tools"),
    ("resources", "resources/list", "resources"),
    ("prompts", "prompts/list", "prompts"),
];

pub(super) fn look(report: &mut Diagnosis, common: &Common, remote: Remote) -> Result<(), Error> {
    let address = remote.to_string();
    let mut host = CommandLineHost::new(common, Vec::new());
    let mut findings = Vec::new();
    let mut facts = json!({ "url": address });
    match Conversation::with_remote(remote, &mut host, Some(EACH)) {
        Ok(mut conversation) => {
            let greeting = conversation.greeting().clone();
            let revision = conversation.revision().to_owned();
            let reached = format!("{address} answers in the revision {}", harmless_line(&revision));
            findings.push(Finding::good("remote.reachable", reached));
            facts["revision"] = json!(revision);
            for (capability, method, member) in KINDS {
                if greeting["capabilities"].get(capability).is_none() {
                    continue;
                }
                match conversation.entries(method, member, &mut host, Some(EACH)) {
                    Ok(entries) => {
                        facts[capability] = json!(entries.len());
                        let listed = format!("it lists {} {capability}", entries.len());
                        findings.push(Finding::good("remote.lists", listed));
                    }
                    Err(Failure::Interrupted) => return Err(Failure::Interrupted.into()),
                    Err(failure) => {
                        let problem = format!("its {capability} cannot be listed: {failure}");
                        findings.push(Finding::error("remote.lists", harmless_line(&problem)));
                    }
                }
            }
            conversation.end();
        }
        Err(error) => findings.push(Finding::error("remote.unusable", harmless_line(&error.to_string()))),
    }
    host.finish();
    report.add(Group::new("Server over HTTP", findings));
    report.fact("remote", facts);
    Ok(())
}
