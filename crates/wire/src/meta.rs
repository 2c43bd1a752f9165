//! Request `_meta`: the members that MCP itself reads. The same pass finds the state that leads back to an earlier
//! request, which is beside `_meta`.

use crate::{Object, ObjectError, Raw};

/// Names inside `_meta` that the specification reserves.
pub mod keys {
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    pub const PROGRESS_TOKEN: &str = "progressToken";
    pub const TRACEPARENT: &str = "traceparent";
    pub const TRACESTATE: &str = "tracestate";
    pub const BAGGAGE: &str = "baggage";
}

/// The reserved members of a request's `_meta`, as they were written.
#[derive(Debug, Default, Clone, Copy)]
pub struct RequestMeta<'a> {
    /// The whole object, for readers that look for members of their own.
    pub whole: Option<Raw<'a>>,
    pub protocol_version: Option<Raw<'a>>,
    pub client_capabilities: Option<Raw<'a>>,
    pub client_info: Option<Raw<'a>>,
    pub log_level: Option<Raw<'a>>,
    pub progress_token: Option<Raw<'a>>,
    /// The trace that the request is part of: `traceparent`, `tracestate` and `baggage`.
    pub trace: [Option<Raw<'a>>; 3],
    /// The `requestState` of the params, of any type, if there is one: `null` counts as absent.
    pub request_state: Option<Raw<'a>>,
}

impl<'a> RequestMeta<'a> {
    /// Reads the `_meta` of `params`; absent params give an empty one, and so does an absent `_meta`.
    pub fn read(params: Option<Raw<'a>>) -> Result<Self, ObjectError> {
        let Some(params) = params else { return Ok(Self::default()) };
        let members = Object::read(params, "params", &["_meta", "requestState"])?;
        let request_state = members.get("requestState").filter(|state| !state.is_null());
        let Some(whole) = members.optional_object("_meta")? else {
            return Ok(Self { request_state, ..Self::default() });
        };
        let meta = Object::read(
            whole,
            "_meta",
            &[
                keys::PROTOCOL_VERSION,
                keys::CLIENT_CAPABILITIES,
                keys::CLIENT_INFO,
                keys::LOG_LEVEL,
                keys::PROGRESS_TOKEN,
                keys::TRACEPARENT,
                keys::TRACESTATE,
                keys::BAGGAGE,
            ],
        )?;
        Ok(Self {
            whole: Some(whole),
            protocol_version: meta.get(keys::PROTOCOL_VERSION),
            client_capabilities: meta.get(keys::CLIENT_CAPABILITIES),
            client_info: meta.get(keys::CLIENT_INFO),
            log_level: meta.get(keys::LOG_LEVEL),
            progress_token: meta.get(keys::PROGRESS_TOKEN),
            trace: [keys::TRACEPARENT, keys::TRACESTATE, keys::BAGGAGE].map(|key| meta.get(key)),
            request_state,
        })
    }

    /// Whether the request describes itself as the stateless era requires, even if only in part.
    pub fn is_stateless(&self) -> bool {
        self.protocol_version.is_some() || self.client_capabilities.is_some()
    }
}
