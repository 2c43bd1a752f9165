//! Resource reads, for all providers.

use super::{Failure, Found, Resources, find};
use crate::callers::{Caller, Identity, Principal};
use crate::offered::listing::Snapshot;
use crate::replies::{Answer, result_redaction};
use crate::stores::Record;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_budget::Budget;
use mcp_bash_fetch::sniff;
use mcp_bash_policy::Redactions;
use mcp_bash_project::{excerpt, provider_script};
use mcp_bash_scripts::{FunctionRead, ResourceRead};
use mcp_bash_uri::MAX_URI_BYTES;
use mcp_bash_wire::{Limits, Object, Raw, Scanner, write};
use std::sync::Arc;
use std::time::Duration;

/// The content of a URI.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResourceContent {
    pub(crate) bytes: Vec<u8>,
    /// The MIME type from its author or its server.
    mime_type: Option<String>,
    /// Whether the bytes are already the `contents` of a result, as a function returns them.
    is_written: bool,
}

impl Resources {
    /// Reads a URI, for a caller or for the server itself. Script output is charged to that caller. The client may set a longer
    /// timeout for a script. Dropping the future stops the read.
    pub(crate) async fn read(
        &self,
        principal: Option<&Principal>,
        uri: &str,
        asked: Option<Duration>,
    ) -> Result<ResourceContent, Failure> {
        if uri.len() > MAX_URI_BYTES {
            return Err(Failure::Invalid(format!("the URI is longer than {MAX_URI_BYTES} bytes")));
        }
        if uri.chars().any(char::is_control) {
            return Err(Failure::Invalid("a URI holds no control characters; write them escaped".to_owned()));
        }
        let caller = principal.map(|principal| &*principal.caller);
        if let Some(caller) = caller
            && let Some(kept) = self.kept.get(uri, caller).await?
        {
            return Ok(kept.into());
        }
        let budget = caller.map_or_else(|| self.scripts.budget(), Caller::budget);
        let patience = self.settings().default_timeout;
        let rights = principal.and_then(|principal| principal.rights.as_deref());
        let found_in = |snapshot: &Snapshot| find(snapshot, uri, rights);
        let snapshot = self.served.snapshot_with(patience, |snapshot, _| found_in(snapshot).is_some()).await;
        let found = found_in(&snapshot).ok_or(Failure::Missing(None))?;
        let paths = &snapshot.catalog.paths;
        let identity = principal.map(|principal| &*principal.identity);
        let (variables, caller) = (&found.variables, identity.map(Identity::for_scripts).unwrap_or_default());
        if let Some((function, name)) = &found.function {
            let read = FunctionRead { function, name, uri, variables, paths, caller, asked, budget };
            return contents(&self.scripts.read_by_function(read).await?.into_text());
        }
        let (bytes, told) = match provider_script(paths, &found.provider) {
            Some(script) => {
                let (script, sandbox, secrets) = (&*script, found.sandbox.as_ref(), &found.secrets);
                let read =
                    ResourceRead { script, paths, uri, caller, sandbox, secrets, variables, asked, budget };
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
        Ok(ResourceContent { bytes, mime_type: mime_type.or(told), is_written: false })
    }
}

/// Parses the answer of a function: a list of contents, each with its URI and a text or bytes.
fn contents(result: &str) -> Result<ResourceContent, Failure> {
    let wrong = || Failure::Failed(format!("its function answered with no `contents`: {}", excerpt(result)));
    let whole = Scanner::new(result, Limits::default()).whole_value().map_err(|_| wrong())?;
    let result = Object::read(whole, "the result", &["contents"]).map_err(|_| wrong())?;
    let listed = result.get("contents").filter(|contents| contents.is_array()).ok_or_else(wrong)?;
    let mut are_right = true;
    let _ = Scanner::again(listed).elements(|content| are_right &= is_content(content));
    if !are_right {
        return Err(wrong());
    }
    Ok(ResourceContent { bytes: listed.text().into(), mime_type: None, is_written: true })
}

fn is_content(content: Raw<'_>) -> bool {
    Object::read(content, "a content", &["uri", "text", "blob"]).is_ok_and(|content| {
        let is_text = |name| content.get(name).is_some_and(|raw: Raw<'_>| raw.string().is_some());
        is_text("uri") && (is_text("text") || is_text("blob"))
    })
}

impl From<Record> for ResourceContent {
    fn from(Record { bytes, mime_type }: Record) -> Self {
        Self { bytes, mime_type: Some(mime_type), is_written: false }
    }
}

impl ResourceContent {
    /// Applies the redactions of the policy to its text.
    pub(crate) fn redacted(self, redactions: &Redactions) -> Self {
        if redactions.is_empty() {
            return self;
        }
        let redacted = match std::str::from_utf8(&self.bytes) {
            Ok(text) if self.is_written => result_redaction::contents(text, redactions),
            Ok(text) => redactions.text(text).into_owned(),
            Err(_) => return self,
        };
        Self { bytes: redacted.into_bytes(), ..self }
    }

    /// The result of a read: text if the bytes are text, otherwise Base64.
    pub(crate) fn into_answer(self, uri: &str, budget: &Arc<Budget>) -> Result<Answer, Failure> {
        if self.is_written {
            let held = budget.charge(2 * self.bytes.len());
            let _held = held.map_err(|why| Failure::Failed(why.to_string()))?;
            let contents = String::from_utf8_lossy(&self.bytes);
            return Ok(Answer::members(format!(r#""contents":{}"#, write::compact(&contents))).cacheable());
        }
        let sniffed = sniff(&self.bytes, Some(uri));
        // A generic binary type says nothing, and a text type for bytes that are not text is a mistake.
        let is_useful = |kind: &String| {
            kind != "application/octet-stream" && (sniffed.is_text || !kind.starts_with("text/"))
        };
        let mime_type = self.mime_type.filter(is_useful);
        let text = std::str::from_utf8(&self.bytes).ok().filter(|_| sniffed.is_text);
        let size = text.map_or(self.bytes.len() / 3 * 4 + 4, write::string_len);
        let held = budget.charge(self.bytes.len() + size);
        let _held = held.map_err(|why| Failure::Failed(why.to_string()))?;
        // Written in place: contents may be large, and every copy costs.
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
