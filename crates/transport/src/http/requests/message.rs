//! Message envelope: the properties of a message in a POST on which its routing depends.

use mcp_bash_wire::{Decoded, Era, Id, Incoming, Limits, RequestMeta, Revision, decode, decode_element};

#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum MessageKind {
    /// The first request of a session.
    Initialize,
    Request,
    /// A notification or an answer of the client: it gets no answer.
    Unanswered,
    Batch,
    /// The body is empty.
    Empty,
    /// It cannot be decoded.
    Unreadable,
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) struct Envelope {
    pub(in crate::http) kind: MessageKind,
    /// The id of a request, even if it cannot be served.
    pub(in crate::http) id: Option<Id>,
    /// Whether the message declares itself stateless.
    claims_stateless: bool,
}

impl Envelope {
    pub(in crate::http) fn read(body: &[u8], limits: Limits) -> Self {
        match decode(body, limits) {
            Ok(None) => Self::of(MessageKind::Empty),
            Ok(Some(Decoded::One(incoming))) => Self::read_one(incoming),
            Ok(Some(Decoded::Batch(elements))) => {
                let mut elements = elements.into_iter().map(decode_element);
                let claims_stateless =
                    elements.any(|element| element.is_ok_and(|one| claims_stateless(&one)));
                Self { claims_stateless, ..Self::of(MessageKind::Batch) }
            }
            Err(refusal) => Self { id: refusal.id, ..Self::of(MessageKind::Unreadable) },
        }
    }

    fn read_one(incoming: Incoming<'_>) -> Self {
        let claims_stateless = claims_stateless(&incoming);
        match incoming {
            Incoming::Request(request) => {
                let is_first = !claims_stateless && &*request.method == "initialize";
                let kind = if is_first { MessageKind::Initialize } else { MessageKind::Request };
                Self { kind, id: Some(request.id), claims_stateless }
            }
            _ => Self::of(MessageKind::Unanswered),
        }
    }

    fn of(kind: MessageKind) -> Self {
        Self { kind, id: None, claims_stateless: false }
    }

    /// Whether the message is served without a session, because it or the header `version` declares the stateless era.
    /// `initialize` without that declaration never is.
    pub(in crate::http) fn is_stateless(&self, version: Option<&str>) -> bool {
        self.claims_stateless
            || (self.kind != MessageKind::Initialize && version.is_some_and(is_of_no_session))
    }
}

/// Whether sessions do not support that version.
pub(in crate::http) fn is_of_no_session(version: &str) -> bool {
    Revision::parse(version).is_none_or(|revision| revision.era() == Era::Stateless)
}

fn claims_stateless(incoming: &Incoming<'_>) -> bool {
    match incoming {
        Incoming::Request(request) => RequestMeta::read(request.params).is_ok_and(|meta| meta.is_stateless()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(body: &str) -> Envelope {
        Envelope::read(body.as_bytes(), Limits::NONE)
    }

    const META: &str = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;

    #[test]
    fn the_body_decides_where_it_says_which_era_it_is_of() {
        let stateless =
            envelope(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{META}}}"#));
        assert_eq!(stateless.kind, MessageKind::Request);
        assert!(stateless.is_stateless(None) && stateless.is_stateless(Some("2025-06-18")));
        let first = envelope(r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#);
        assert!(first.kind == MessageKind::Initialize && !first.is_stateless(Some("2026-07-28")));
        let batch = envelope(&format!(r#"[1,{{"jsonrpc":"2.0","id":1,"method":"ping","params":{META}}}]"#));
        assert!(batch.kind == MessageKind::Batch && batch.is_stateless(None));
    }

    #[test]
    fn the_header_decides_the_rest() {
        for body in
            [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","method":"x"}"#, "?", ""]
        {
            let envelope = envelope(body);
            for version in [None, Some("2025-03-26"), Some("2025-11-25"), Some("2024-11-05")] {
                assert!(!envelope.is_stateless(version), "{body} {version:?}");
            }
            for version in ["2026-07-28", "2099-01-01", ""] {
                assert!(envelope.is_stateless(Some(version)), "{body} {version}");
            }
        }
    }
}
