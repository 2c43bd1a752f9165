//! The params of `completion/complete`.

use super::MOST;
use crate::methods::asked_timeout::asked_timeout;
use mcp_bash_wire::{Object, Raw, RpcError, write};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::time::Duration;

pub(super) struct Params {
    pub(super) reference: Reference,
    pub(super) argument: String,
    /// The text typed so far.
    pub(super) value: String,
    pub(super) limit: usize,
    pub(super) cursor: Option<String>,
    pub(super) timeout: Option<Duration>,
    /// The reference and the known arguments as sent by the client, for scripts.
    written_reference: String,
    written_arguments: String,
}

/// The prompt or resource that the argument belongs to.
pub(super) enum Reference {
    /// The prompt of this name.
    Prompt(String),
    /// The resource or the resource template with this URI.
    Resource(String),
}

impl Params {
    pub(super) fn read(params: Option<Raw<'_>>) -> Result<Self, RpcError> {
        let params = params.ok_or_else(|| missing("ref"))?;
        let params = Object::read(
            params,
            "params",
            &["ref", "argument", "context", "limit", "cursor", "timeoutSecs"],
        )?;
        let written = params.optional_object("ref")?.ok_or_else(|| missing("ref"))?;
        let argument = params.optional_object("argument")?.ok_or_else(|| missing("argument"))?;
        let argument = Object::read(argument, "argument", &["name", "value"])?;
        let name = argument.string("name")?.into_owned();
        if name.is_empty() {
            return Err(missing("argument.name"));
        }
        let context = params.optional_object("context")?;
        let context = context.map(|context| Object::read(context, "context", &["arguments"])).transpose()?;
        let arguments = match &context {
            Some(context) => context.optional_object("arguments")?,
            None => None,
        };
        Ok(Self {
            reference: reference(written)?,
            argument: name,
            value: argument.optional_string("value")?.unwrap_or_default().into_owned(),
            limit: limit(params.get("limit"))?,
            cursor: params.optional_string("cursor")?.map(std::borrow::Cow::into_owned),
            timeout: asked_timeout(&params)?,
            written_reference: write::compact(written.text()),
            written_arguments: arguments.map_or_else(|| "{}".to_owned(), |raw| write::compact(raw.text())),
        })
    }

    /// The arguments that the user has already filled in, as JSON object.
    pub(super) fn known_arguments(&self) -> &str {
        &self.written_arguments
    }

    /// The input of scripts, as JSON object.
    pub(super) fn json(&self) -> String {
        let (name, value) = (write::string(&self.argument), write::string(&self.value));
        format!(
            r#"{{"query":{value},"prefix":{value},"argument":{{"name":{name},"value":{value}}},"context":{{"arguments":{}}},"ref":{}}}"#,
            self.written_arguments, self.written_reference
        )
    }

    /// A hash that is equal for equal params.
    pub(super) fn hash(&self) -> String {
        Sha256::digest(self.json()).iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

fn missing(name: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: `{name}` is missing"))
}

fn reference(written: Raw<'_>) -> Result<Reference, RpcError> {
    let members = Object::read(written, "ref", &["type", "name", "uri"])?;
    let reference = match &*members.string("type")? {
        "ref/prompt" => Reference::Prompt(members.string("name")?.into_owned()),
        "ref/resource" => Reference::Resource(members.string("uri")?.into_owned()),
        other => {
            return Err(RpcError::invalid_params(format!(
                "Invalid params: `ref.type` must be `ref/prompt` or `ref/resource`, not `{}`",
                other.chars().take(80).collect::<String>()
            )));
        }
    };
    Ok(reference)
}

fn limit(written: Option<Raw<'_>>) -> Result<usize, RpcError> {
    match written.filter(|raw| !raw.is_null()).map(|raw| raw.text().parse::<usize>()) {
        None => Ok(MOST),
        Some(Ok(limit)) if limit > 0 => Ok(limit.min(MOST)),
        Some(_) => Err(RpcError::invalid_params("Invalid params: `limit` must be a whole number above 0")),
    }
}
