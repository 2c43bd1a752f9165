//! Consent: the user is asked before a tool runs. The consent is bound to the tool, its exact arguments and the caller, and is
//! valid once, or for the session if the user chooses so.
//!
//! The question is sent like a script's questions (`asking.rs`), before any process exists. It is asked again each time: answers
//! that came with the call, or from an earlier run, are not used.

use super::asking::{ClientQuestion, Resumable};
use super::consent_form::{Choice, ConsentForm, Remembered, choice};
use super::work::Work;
use crate::callers::{ConsentKey, Consents, KnownBy};
use crate::logging::Facts;
use crate::requests::{Subject, Unanswered};
use crate::stores::{OnceKey, now};
use mcp_bash_audit::Reason;
use mcp_bash_project::Tool;
use mcp_bash_wire::LogLevel;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// A call that needs the user's consent.
pub(crate) struct Consent<'a> {
    pub(crate) tool: &'a Tool,
    /// A JSON object, as the tool receives it.
    pub(crate) arguments: &'a str,
    /// The question of the tool's author or of the policy.
    pub(crate) question: Option<&'a str>,
    /// The call as sent by the client.
    pub(crate) subject: Subject,
}

/// How a consent was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Granted {
    Once,
    ForSession,
    /// Remembered from an earlier call.
    Before,
    /// The client cannot ask, but the operator allows the tool without consent.
    ByOperator,
}

/// Why there is no consent. A model reads the message, which does not encourage a retry.
#[derive(Debug, Error)]
pub(crate) enum NotGranted {
    #[error("the user declined")]
    Declined,
    #[error("the user closed the question without an answer")]
    Dismissed,
    #[error("the answer of the client was none of the choices")]
    Unclear,
    #[error(
        "it needs the consent of a person, and this client cannot ask its user (it does not offer forms, `elicitation`). Use \
         a client that can; or the operator of the server allows it by MCPBASH_ALLOW_UNCONFIRMED={0}"
    )]
    Unavailable(String),
    #[error("the user could not be asked: {0}")]
    Unanswered(Unanswered),
}

impl NotGranted {
    /// The reason in results and logs.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Declined | Self::Dismissed => "declined",
            Self::Unavailable(_) => "unavailable",
            Self::Unclear | Self::Unanswered(_) => "unanswered",
        }
    }
}

impl Granted {
    /// The kind of consent in logs.
    fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::ForSession => "session",
            Self::Before => "remembered",
            Self::ByOperator => "allowed_by_operator",
        }
    }
}

impl Work {
    /// Asks the user whether this call may run, unless they have already allowed it.
    pub(crate) async fn confirm(&self, consent: &Consent<'_>) -> Result<Granted, NotGranted> {
        let outcome = self.consented(consent).await;
        let (word, level, kind) = match &outcome {
            Ok(granted @ Granted::ByOperator) => {
                (granted.word(), LogLevel::Warning, "a call runs without the consent that its tool asks for")
            }
            Ok(granted) => (granted.word(), LogLevel::Info, "a person consented to a call"),
            Err(why) => (why.word(), LogLevel::Warning, "a call was not run for lack of consent"),
        };
        self.measure(|measured| {
            measured.note("consent", || Some(word));
            if outcome.is_err() {
                measured.refused(Reason::Consent);
            }
        });
        let facts = Facts::of_tool(consent.tool).words("consent", word);
        self.server().log().request_event(level, "mcp.tools", kind, facts);
        outcome
    }

    async fn consented(&self, consent: &Consent<'_>) -> Result<Granted, NotGranted> {
        let consents = self.consents();
        let remembered =
            consents.map(|known| known.lifetime().map_or(Remembered::ForSession, Remembered::For));
        let form = ConsentForm {
            name: &consent.tool.name,
            title: consent.tool.title.as_deref(),
            question: consent.question,
            arguments: consent.arguments,
            remembered,
        };
        let params = form.params();
        let key = consent.subject.with_question(self.caller().name(), &params);
        if consents.is_some_and(|known| known.hold(&key)) || self.was_given_elsewhere(consents, &key).await {
            return Ok(Granted::Before);
        }
        if !self.capabilities().form {
            return if self.server().settings().unconfirmed.hold(&consent.tool.name) {
                Ok(Granted::ByOperator)
            } else {
                Err(NotGranted::Unavailable(consent.tool.name.clone()))
            };
        }
        let question = [ClientQuestion {
            name: Some("consent".into()),
            method: "elicitation/create",
            params,
            is_offered: |offered| offered.form,
            may_be_given: false,
        }];
        // No replay: a state that outlives this process would be valid once on each server.
        let call = Resumable { subject: consent.subject, may_run_again: false };
        let answer = tokio::select! {
            biased;
            // First, so that an answer after the cancellation is not used.
            () = self.cancelled() => None,
            answers = self.ask(&question, call, None) => answers.into_iter().next(),
        };
        let answer = answer.unwrap_or(Err(Unanswered::Cancelled)).map_err(NotGranted::Unanswered)?;
        match choice(&answer, consents.is_some()) {
            Choice::Once => Ok(Granted::Once),
            Choice::Session => {
                if let Some(known) = consents {
                    known.remember(self.caller(), key);
                    if let Some(lifetime) = known.lifetime() {
                        self.server().store().tell_others(shared_key(&key), now() + lifetime.as_secs()).await;
                    }
                }
                Ok(Granted::ForSession)
            }
            Choice::No => Err(NotGranted::Declined),
            Choice::Dismissed => Err(NotGranted::Dismissed),
            Choice::Unclear => Err(NotGranted::Unclear),
        }
    }

    /// Whether the caller has consented on another server. Only consents without a session are shared. If the store is
    /// unavailable, the user is asked again.
    async fn was_given_elsewhere(&self, consents: Option<&Consents>, key: &ConsentKey) -> bool {
        if consents.is_none_or(|known| known.lifetime().is_none()) {
            return false;
        }
        let known = self.server().store().used_elsewhere(vec![shared_key(key)]).await;
        known.is_ok_and(|known| !known.is_empty())
    }

    /// Where a consent can be remembered: in the session or connection, otherwise for the caller, unless the caller is known
    /// only by an address, which others may share.
    fn consents(&self) -> Option<&Consents> {
        let of_caller = || (self.identity().known_by != KnownBy::Address).then(|| self.server().consents());
        self.connection_consents().or_else(of_caller)
    }
}

/// The key of a consent in the store that servers share.
fn shared_key(key: &ConsentKey) -> OnceKey {
    let digest = Sha256::digest([b"consent ", &key[..]].concat());
    let mut shared = OnceKey::default();
    shared.copy_from_slice(&digest[..16]);
    shared
}
