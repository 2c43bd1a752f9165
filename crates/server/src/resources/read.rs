//! Reads a resource, whoever provides it.

use super::{Failure, Found, Resources, find};
use crate::caller::Caller;
use crate::shape::Answer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_budget::Budget;
use mcp_bash_fetch::sniff;
use mcp_bash_project::provider_script;
use mcp_bash_scripts::ResourceRead;
use mcp_bash_uri::MAX_URI_BYTES;
use mcp_bash_wire::write;
use std::sync::Arc;

/// What a URI names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// The type that its author or its server gives it.
    mime_type: Option<String>,
}

impl Resources {
    /// Reads what `uri` names, for a caller or for ourselves. What a script prints on the way is charged to whom it is
    /// read for. Whoever drops this ends the reading.
    pub(crate) async fn read(&self, caller: Option<&Caller>, uri: &str) -> Result<Content, Failure> {
        if uri.len() > MAX_URI_BYTES {
            return Err(Failure::Invalid(format!("the URI is longer than {MAX_URI_BYTES} bytes")));
        }
        if uri.chars().any(char::is_control) {
            return Err(Failure::Invalid("a URI holds no control characters; write them escaped".to_owned()));
        }
        if let Some((bytes, mime_type)) = caller.and_then(|caller| self.kept.get(uri, caller)) {
            return Ok(Content { bytes, mime_type: Some(mime_type) });
        }
        let budget = caller.map_or_else(|| self.scripts.budget(), Caller::budget);
        let snapshot = self.served.snapshot();
        let found = find(&snapshot, uri).ok_or(Failure::Missing(None))?;
        let paths = &snapshot.catalog.paths;
        let (bytes, told) = match provider_script(paths, &found.provider) {
            Some(script) => {
                let read = ResourceRead { script: &script, paths, uri, variables: &found.variables, budget };
                (self.scripts.read_resource(read).await?.stdout, None)
            }
            None => self.sources.read(&found.provider, found.read_as(uri), budget).await?,
        };
        let limit = self.settings().max_resource_bytes();
        if bytes.len() as u64 > limit {
            let why = format!("it is larger than {limit} bytes; MCPBASH_MAX_RESOURCE_BYTES sets the limit");
            return Err(Failure::Failed(why));
        }
        let Found { mime_type, .. } = found;
        Ok(Content { bytes, mime_type: mime_type.or(told) })
    }
}

impl Content {
    /// The result of a read: text if it is one, else its bytes in Base64.
    pub(crate) fn into_answer(self, uri: &str, budget: &Arc<Budget>) -> Result<Answer, Failure> {
        let sniffed = sniff(&self.bytes, Some(uri));
        // Who says that it is bytes says nothing, and text that is none is a mistake.
        let is_useful = |kind: &String| {
            kind != "application/octet-stream" && (sniffed.is_text || !kind.starts_with("text/"))
        };
        let mime_type = self.mime_type.filter(is_useful);
        let text = std::str::from_utf8(&self.bytes).ok().filter(|_| sniffed.is_text);
        let size = text.map_or(self.bytes.len() / 3 * 4 + 4, write::string_len);
        let held = budget.charge(self.bytes.len() + size);
        let _held = held.map_err(|why| Failure::Failed(why.to_string()))?;
        // Written in place: what is read may be large, and every copy of it shows.
        let mut members = String::with_capacity(size + 2 * uri.len() + 1024);
        members.push_str(r#""contents":[{"uri":"#);
        write::push_string(&mut members, uri);
        members.push_str(r#","mimeType":"#);
        write::push_string(&mut members, mime_type.as_deref().unwrap_or(sniffed.mime_type));
        if let Some(text) = text {
            members.push_str(r#","text":"#);
            write::push_string(&mut members, text);
        } else {
            members.push_str(r#","blob":""#);
            STANDARD.encode_string(&self.bytes, &mut members);
            members.push('"');
        }
        members.push_str("}]");
        Ok(Answer::members(members).cacheable())
    }
}
