//! Frames: one JSON object per line, between the server and a worker. `docs/workers.md` describes them.

use super::call::{Request, WorkerCall};
use crate::running::outcome::AnswerKind;
use mcp_bash_wire::{Limits, Object, ObjectError, Raw, ScanError, Scanner, write};
use std::ops::Range;
use std::path::PathBuf;
use thiserror::Error;

/// A frame from a worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is ready. `files` are the files that it has loaded, besides its script.
    Ready { files: Vec<PathBuf> },
    /// It will never be ready: what is wrong, and where.
    Failed { message: String, trace: String },
    /// A notification, of a call or of none.
    Notification { call: Option<u64> },
    /// A question of a call, by its number in the call.
    Question { call: u64, number: u64 },
    /// The worker no longer waits for the answer to that question.
    Withdrawal { call: u64, number: u64 },
    /// The answer of a call: the position of its result or its error in the frame.
    Answer { call: u64, kind: AnswerKind, at: Range<usize> },
    /// A frame of a later version of the protocol.
    Unknown,
}

/// The members of a frame that are parsed.
const MEMBERS: [&str; 9] =
    ["call", "method", "result", "error", "ask", "questions", "withdraw", "ready", "failed"];

/// Why a line is not a frame. The message contains no text of the line, which may belong to any call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum NoFrame {
    #[error("not UTF-8")]
    NotUtf8,
    #[error("no JSON ({0})")]
    NotJson(ScanError),
    #[error("no frame ({0})")]
    NotAnObject(ObjectError),
    #[error("no frame (`{0}`)")]
    NotANumber(&'static str),
    #[error("no `ready` of protocol 1")]
    OtherProtocol,
    #[error("an answer without `call`")]
    NoCall,
    #[error("both a result and an error")]
    TwoAnswers,
}

/// Parses a frame.
pub(super) fn read(frame: &[u8]) -> Result<Said, NoFrame> {
    let text = std::str::from_utf8(frame).map_err(|_| NoFrame::NotUtf8)?;
    let whole = Scanner::new(text, Limits { message_bytes: usize::MAX, ..Limits::default() }).whole_value();
    let frame = Object::read(whole.map_err(NoFrame::NotJson)?, "a frame", &MEMBERS);
    let frame = frame.map_err(NoFrame::NotAnObject)?;
    let number = |name: &'static str| match frame.get(name) {
        None => Ok(None),
        Some(raw) => raw.text().parse::<u64>().map(Some).map_err(|_| NoFrame::NotANumber(name)),
    };
    let Some(call) = number("call")? else {
        return Ok(match (frame.get("ready"), frame.get("failed"), frame.get("method")) {
            (Some(ready), _, _) => read_ready(ready).ok_or(NoFrame::OtherProtocol)?,
            (_, Some(failed), _) => read_failed(failed),
            (_, _, Some(_)) => Said::Notification { call: None },
            _ if frame.get("result").is_some() || frame.get("error").is_some() => {
                return Err(NoFrame::NoCall);
            }
            _ => Said::Unknown,
        });
    };
    let place = |raw: Raw<'_>| {
        let start = raw.text().as_ptr().addr() - text.as_ptr().addr();
        start..start + raw.text().len()
    };
    Ok(match (frame.get("result"), frame.get("error")) {
        (Some(_), Some(_)) => return Err(NoFrame::TwoAnswers),
        (Some(result), None) => Said::Answer { call, kind: AnswerKind::Result, at: place(result) },
        (None, Some(error)) => Said::Answer { call, kind: AnswerKind::Error, at: place(error) },
        (None, None) => match (number("ask")?, number("withdraw")?) {
            (Some(number), _) => Said::Question { call, number },
            (None, Some(number)) => Said::Withdrawal { call, number },
            (None, None) if frame.get("method").is_some() => Said::Notification { call: Some(call) },
            (None, None) => Said::Unknown,
        },
    })
}

/// `None` if it speaks another protocol.
fn read_ready(ready: Raw<'_>) -> Option<Said> {
    let ready = Object::read(ready, "ready", &["protocol", "files"]).ok()?;
    if ready.get("protocol").is_none_or(|protocol| protocol.text() != "1") {
        return None;
    }
    let mut files = Vec::new();
    if let Some(listed) = ready.get("files").filter(|files| files.is_array()) {
        let path = |file: Raw<'_>| file.string().map(|file| PathBuf::from(&*file));
        let _ = Scanner::again(listed).elements(|file| files.extend(path(file)));
    }
    Some(Said::Ready { files })
}

fn read_failed(failed: Raw<'_>) -> Said {
    let members = Object::read(failed, "failed", &["message", "trace"]).ok();
    let text = |name: &str| {
        let member = members.as_ref().and_then(|members| members.get(name)).and_then(Raw::string);
        member.map(Into::into).unwrap_or_default()
    };
    Said::Failed { message: text("message"), trace: text("trace") }
}

/// The frame of a call for a worker.
pub(super) fn of_call(number: u64, call: &WorkerCall<'_>) -> Vec<u8> {
    let mut frame = String::with_capacity(256 + call.request.arguments().len() + call.meta.len());
    frame.push_str(r#"{"call":"#);
    frame.push_str(&number.to_string());
    match call.request {
        Request::Tool { name, .. } => push_string(&mut frame, "tool", name),
        Request::Prompt { name, .. } => push_string(&mut frame, "prompt", name),
        Request::Resource { uri, name, .. } => {
            push_string(&mut frame, "resource", uri);
            push_string(&mut frame, "name", name);
        }
    }
    push_json(&mut frame, "arguments", call.request.arguments());
    if call.meta != "{}" {
        push_json(&mut frame, "meta", call.meta);
    }
    if let Some(state) = call.session_state {
        push_json(&mut frame, "state", state);
    }
    if call.roots.count != "0" {
        push_json(&mut frame, "roots", &call.roots.json);
    }
    if let Some(why) = &call.roots.refusal {
        push_string(&mut frame, "rootsRefused", why);
    }
    push_trace(&mut frame, call);
    push_string(&mut frame, "caller", call.caller.name);
    let more = [("groups", call.caller.groups_text()), ("claims", call.caller.claims_text())];
    for (name, text) in more.into_iter().filter_map(|(name, text)| Some((name, text?))) {
        push_json(&mut frame, name, &text);
    }
    for (name, is_so) in [
        ("askForRoots", call.has_unasked_roots),
        ("progress", call.wants_progress),
        ("elicit", call.may_elicit),
        ("ask", call.may_ask),
    ] {
        if is_so {
            push_json(&mut frame, name, "true");
        }
    }
    frame.push_str("}\n");
    frame.into_bytes()
}

fn push_trace(frame: &mut String, call: &WorkerCall<'_>) {
    let trace = call.trace;
    let all = [("traceparent", &trace.parent), ("tracestate", &trace.state), ("baggage", &trace.baggage)];
    let told: Vec<String> = all
        .into_iter()
        .filter_map(|(name, value)| Some(format!(r#""{name}":{}"#, write::string(value.as_deref()?))))
        .collect();
    if !told.is_empty() {
        push_json(frame, "trace", &format!("{{{}}}", told.join(",")));
    }
}

fn push_string(frame: &mut String, name: &str, text: &str) {
    push_name(frame, name);
    write::push_string(frame, text);
}

fn push_json(frame: &mut String, name: &str, json: &str) {
    push_name(frame, name);
    push_on_one_line(frame, json);
}

fn push_name(frame: &mut String, name: &str) {
    frame.push_str(",\"");
    frame.push_str(name);
    frame.push_str("\":");
}

/// A line break between two tokens of a client's message would end the frame.
fn push_on_one_line(frame: &mut String, json: &str) {
    if json.contains(['\n', '\r']) {
        write::push_compact(frame, json);
    } else {
        frame.push_str(json);
    }
}

pub(super) fn of_cancellation(number: u64) -> Vec<u8> {
    format!("{{\"cancel\":{number}}}\n").into_bytes()
}

/// The answer to a question: the text of an object that has a `result` or an `error`.
pub(super) fn of_answer(call: u64, number: u64, answer: &[u8]) -> Vec<u8> {
    let answer = String::from_utf8_lossy(answer);
    let mut frame = format!(r#"{{"call":{call},"answer":{number},"#);
    push_on_one_line(&mut frame, answer.trim_start().strip_prefix('{').unwrap_or("}"));
    frame.push('\n');
    frame.into_bytes()
}

/// An error as the answer to a question that is not passed on.
pub(super) fn of_refusal(call: u64, number: u64, why: &str) -> Vec<u8> {
    of_answer(
        call,
        number,
        format!(r#"{{"error":{{"code":-32603,"message":{}}}}}"#, write::string(why)).as_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_worker_are_parsed() {
        for (frame, said) in [
            (
                r#"{"ready":{"protocol":1,"files":["/a","/b"]}}"#,
                Said::Ready { files: vec!["/a".into(), "/b".into()] },
            ),
            (r#"{"ready":{"protocol":1}}"#, Said::Ready { files: vec![] }),
            (r#"{"method":"notifications/message","params":{}}"#, Said::Notification { call: None }),
            (r#"{"call":3,"method":"notifications/progress"}"#, Said::Notification { call: Some(3) }),
            (r#"{"call":3,"ask":1,"method":"elicitation/create"}"#, Said::Question { call: 3, number: 1 }),
            (r#"{"call":3,"ask":2,"questions":{}}"#, Said::Question { call: 3, number: 2 }),
            (r#"{"call":3,"withdraw":2}"#, Said::Withdrawal { call: 3, number: 2 }),
            (r#"{"later":true}"#, Said::Unknown),
            (r#"{"call":3,"result":{} }"#, Said::Answer { call: 3, kind: AnswerKind::Result, at: 19..21 }),
            (r#"{"error":1,"call":3}"#, Said::Answer { call: 3, kind: AnswerKind::Error, at: 9..10 }),
        ] {
            assert_eq!(read(frame.as_bytes()), Ok(said), "{frame}");
        }
        let failed = read(br#"{"failed":{"message":"a\nb"}}"#);
        assert_eq!(failed, Ok(Said::Failed { message: "a\nb".into(), trace: String::new() }));
    }

    #[test]
    fn invalid_frames_are_named() {
        for (frame, problem) in [
            ("hello", "no JSON"),
            ("", "no JSON"),
            ("[1]", "must be an object"),
            (r#"{"call":-1,"result":{}}"#, "(`call`)"),
            (r#"{"call":1,"result":{},"error":{}}"#, "both a result and an error"),
            (r#"{"result":{}}"#, "an answer without `call`"),
            (r#"{"ready":{"protocol":2}}"#, "no `ready` of protocol 1"),
            (r#"{"call":1,"call":2}"#, "more than once"),
        ] {
            let told = read(frame.as_bytes()).unwrap_err().to_string();
            assert!(told.contains(problem), "{frame}: {told}");
        }
        assert_eq!(read(b"\xff\xfe"), Err(NoFrame::NotUtf8));
    }

    #[test]
    fn invalid_frames_are_not_quoted() {
        let digits = "7".repeat(1001);
        let deep = format!("{}7777{}", "[".repeat(200), "]".repeat(200));
        for frame in [
            format!(r#"{{"call":1,"result":{digits}}}"#),
            format!(r#"{{"call":1,"result":{deep}}}"#),
            r#"{"call":7777.5,"7777":"7777"}"#.to_owned(),
            r#"{"call":1,"call":7777}"#.to_owned(),
            "7777 7777".to_owned(),
        ] {
            let told = read(frame.as_bytes()).unwrap_err().to_string();
            assert!(!told.contains("77"), "{told}");
        }
    }

    #[test]
    fn an_answer_is_one_line() {
        let frame = of_answer(1, 2, b"{\"result\":{\n}}");
        assert_eq!(frame, b"{\"call\":1,\"answer\":2,\"result\":{}}\n");
        assert!(of_refusal(1, 2, "no").ends_with(b"\"message\":\"no\"}}\n"));
    }
}
