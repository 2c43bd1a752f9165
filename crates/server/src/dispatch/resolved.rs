//! Resolved request: its method and its subject. The name of a tool or prompt is read once, on first use, however many checks
//! use it.

use crate::methods::Method;
use crate::offered::{Schemas, Snapshot};
use crate::tasks::Weight;
use mcp_bash_project::Tool;
use mcp_bash_wire::{Id, Object, ObjectError, Raw, Request};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Longer params are not scanned just to choose a thread.
const LONGEST_LOOKED_AT: usize = 64 * 1024;

pub(super) struct Resolved<'a> {
    request: &'a Request<'a>,
    /// `None` if the method is unknown.
    pub(super) method: Option<&'static Method>,
    subject: OnceCell<Result<Option<Raw<'a>>, ObjectError>>,
}

/// The member of the params that names the subject of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SubjectMember {
    pub(super) name: &'static str,
    /// Whether the headers must repeat it. Existing clients leave it out for tasks.
    pub(super) is_needed_in_headers: bool,
}

impl SubjectMember {
    fn of(method: &str) -> Option<Self> {
        let (name, is_needed_in_headers) = match method {
            "tools/call" | "prompts/get" => ("name", true),
            "resources/read" => ("uri", true),
            "tasks/get" | "tasks/update" | "tasks/cancel" | "tasks/result" => ("taskId", false),
            _ => return None,
        };
        Some(Self { name, is_needed_in_headers })
    }
}

impl<'a> Resolved<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        Self { request, method: Method::find(&request.method), subject: OnceCell::new() }
    }

    pub(super) fn id(&self) -> &'a Id {
        &self.request.id
    }

    /// The method name as sent by the client.
    pub(super) fn method_name(&self) -> &'a str {
        &self.request.method
    }

    pub(super) fn params(&self) -> Option<Raw<'a>> {
        self.request.params
    }

    pub(super) fn subject_member(&self) -> Option<SubjectMember> {
        SubjectMember::of(self.method_name())
    }

    /// The subject of the request: the value of its subject member, of any type. An error if the member occurs twice.
    pub(super) fn subject(&self) -> Result<Option<Raw<'a>>, ObjectError> {
        let read = || {
            let (Some(params), Some(member)) = (self.params(), self.subject_member()) else {
                return Ok(None);
            };
            Ok(Object::read(params, "params", &[member.name])?.get(member.name))
        };
        self.subject.get_or_init(read).clone()
    }

    /// The name of the called tool.
    pub(super) fn tool_name(&self) -> Option<Cow<'a, str>> {
        self.name_for("tools/call")
    }

    /// The name of the requested prompt.
    pub(super) fn prompt_name(&self) -> Option<Cow<'a, str>> {
        self.name_for("prompts/get")
    }

    fn name_for(&self, method: &str) -> Option<Cow<'a, str>> {
        (self.method_name() == method).then(|| self.subject().ok()?.and_then(Raw::string)).flatten()
    }

    /// The called tool and its schemas, if it exists.
    pub(super) fn tool<'s>(&self, snapshot: &'s Snapshot) -> Option<(&'s Tool, &'s Schemas)> {
        snapshot.tool(&self.tool_name()?)
    }

    /// The name of the requested tool or prompt, if it exists.
    pub(super) fn known_name(&self, snapshot: &Snapshot) -> Option<Box<str>> {
        if let Some((tool, _)) = self.tool(snapshot) {
            return Some(tool.name.as_str().into());
        }
        let prompt = snapshot.catalog.prompts.get(&self.prompt_name()?)?;
        Some(prompt.name.as_str().into())
    }

    /// How much work the request is for a thread: a call that a worker answers is light.
    pub(super) fn weight(&self, snapshot: &Snapshot) -> Weight {
        let is_short = self.params().is_some_and(|params| params.text().len() <= LONGEST_LOOKED_AT);
        let tool = is_short.then(|| self.tool(snapshot)).flatten();
        match tool {
            Some((tool, _)) if tool.worker().is_some() => Weight::Light,
            _ => Weight::Heavy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_wire::{Decoded, Incoming, Limits, decode};

    fn resolved<T>(line: &str, look: impl FnOnce(&Resolved<'_>) -> T) -> T {
        let Ok(Some(Decoded::One(Incoming::Request(request)))) = decode(line.as_bytes(), Limits::default())
        else {
            panic!("no request: {line}")
        };
        look(&Resolved::new(&request))
    }

    fn line(method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    }

    #[test]
    fn what_a_request_is_about_is_read_from_the_member_of_its_method() {
        let params = r#"{"name":"n","uri":"u","taskId":"t"}"#;
        let rows = [
            ("tools/call", Some("\"n\"")),
            ("prompts/get", Some("\"n\"")),
            ("resources/read", Some("\"u\"")),
            ("tasks/get", Some("\"t\"")),
            ("tools/list", None),
            ("made/up", None),
        ];
        for (method, expected) in rows {
            let subject = resolved(&line(method, params), |request| {
                request.subject().unwrap().map(|raw| raw.text().to_owned())
            });
            assert_eq!(subject.as_deref(), expected, "{method}");
        }
    }

    #[test]
    fn only_a_call_names_a_tool_and_only_once() {
        let name = |method: &str, params: &str| {
            resolved(&line(method, params), |request| request.tool_name().map(Cow::into_owned))
        };
        assert_eq!(name("tools/call", r#"{"name":"\u0061"}"#).as_deref(), Some("a"));
        for (method, params) in [
            ("prompts/get", r#"{"name":"a"}"#),
            ("tools/call", r#"{"name":7}"#),
            ("tools/call", "{}"),
            ("tools/call", r#"{"name":"a","name":"b"}"#),
        ] {
            assert_eq!(name(method, params), None, "{method} {params}");
        }
        let twice = line("tools/call", r#"{"name":"a","name":"b"}"#);
        assert!(resolved(&twice, |request| request.subject().is_err()));
    }
}
