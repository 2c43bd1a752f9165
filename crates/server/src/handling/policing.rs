//! Policing: asks the policy of the project about a request.

use super::work::Work;
use crate::offered::{Asker, Policed, PolicyRefusal, Ruling, Snapshot};
use mcp_bash_audit::Reason;
use mcp_bash_policy::Redactions;

impl Work {
    /// Asks the policy about a request that cannot wait for consent. Returns the redactions for the result.
    pub(crate) fn police(
        &self,
        snapshot: &Snapshot,
        policed: &Policed<'_>,
    ) -> Result<Redactions, PolicyRefusal> {
        self.police_with(snapshot, policed, false).map(|ruling| ruling.redactions)
    }

    /// Asks the policy about a request that can wait for consent.
    pub(crate) fn rule_on(
        &self,
        snapshot: &Snapshot,
        policed: &Policed<'_>,
    ) -> Result<Ruling, PolicyRefusal> {
        self.police_with(snapshot, policed, true)
    }

    fn police_with(
        &self,
        snapshot: &Snapshot,
        policed: &Policed<'_>,
        may_wait: bool,
    ) -> Result<Ruling, PolicyRefusal> {
        let asker = Asker { principal: self.principal(), client: self.client_name() };
        let decided = self.server().police(snapshot, &asker, policed, may_wait);
        match &decided {
            Ok(Ruling { rule: None, .. }) => {}
            Ok(Ruling { rule, .. }) => self.measure(|measured| measured.note_rule(rule.as_deref())),
            Err(refusal) => self.measure(|measured| {
                measured.note_rule(refusal.rule());
                measured.refused(Reason::Policy);
            }),
        }
        decided
    }
}
