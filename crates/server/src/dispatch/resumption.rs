//! Resumption: a retry that continues the call of an earlier request, in the stateless era.

use crate::callers::Caller;
use crate::requests::request_state::unknown_state;
use crate::requests::{KeyRing, RequestState, Subject, Unacceptable};
use mcp_bash_wire::{Object, Raw, RpcError};
use std::borrow::Cow;

pub(super) struct Resumption<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
    state: Cow<'a, str>,
    pub(super) responses: Option<Raw<'a>>,
}

impl<'a> Resumption<'a> {
    const MEMBERS: [&'static str; 4] = ["name", "arguments", "requestState", "inputResponses"];

    /// Reads the params of a method whose subject has a name.
    pub(super) fn read(params: Option<Raw<'a>>) -> Result<Self, RpcError> {
        let params = Object::read(params.ok_or_else(unknown_state)?, "params", &Self::MEMBERS)?;
        Ok(Self {
            name: params.string("name")?,
            arguments: params.optional_object("arguments")?.map_or("{}", Raw::text),
            state: params.string("requestState")?,
            responses: params.optional_object("inputResponses")?,
        })
    }

    /// Opens the state, if it was issued to this caller for this call.
    pub(super) fn open(
        &self,
        method: &str,
        caller: &Caller,
        keys: &KeyRing,
    ) -> Result<RequestState, Unacceptable> {
        let subject = || Subject::new(method, &self.name, self.arguments);
        RequestState::open(&self.state, keys, caller.name(), subject)
    }
}
