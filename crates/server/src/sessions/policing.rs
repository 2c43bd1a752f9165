//! Policing: asks the policy of the project about one request. Refusals are logged for the operator.

use super::server::Server;
use crate::logging::Facts;
use crate::offered::{Asker, Policed, PolicyRefusal, Ruling, Snapshot};
use mcp_bash_wire::LogLevel;

impl Server {
    /// Asks the policy about a request. `may_wait` tells whether the request can wait for consent.
    pub(crate) fn police(
        &self,
        snapshot: &Snapshot,
        asker: &Asker<'_>,
        policed: &Policed<'_>,
        may_wait: bool,
    ) -> Result<Ruling, PolicyRefusal> {
        if snapshot.has_no_policy(self.settings().policy_required) {
            return Ok(Ruling::default());
        }
        let decided = snapshot.judge(asker, policed, may_wait);
        if let Err(refusal) = &decided {
            self.note_refusal();
            let mut facts = match policed {
                Policed::Tool { tool, .. } => Facts::of_tool(tool),
                Policed::Resource { uri } => Facts::of_resource(&snapshot.catalog.resources, uri),
                Policed::Prompt { name, .. } => {
                    let prompt = snapshot.catalog.prompts.get(name);
                    prompt.map_or_else(Facts::none, |prompt| Facts::of_prompt(prompt))
                }
            };
            if let Some(rule) = refusal.rule() {
                facts = facts.policy_rule(rule);
            }
            let words = "the policy refused a request";
            self.log().request_event(LogLevel::Warning, "mcp.policy", words, facts);
        }
        decided
    }
}
