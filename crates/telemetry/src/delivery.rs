//! Delivery: posts one export, and judges the answer of the collector.

use crate::config::Signal;
use mcp_bash_fetch::{FetchError, OperatorClient, OperatorUrl, SystemNetwork};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The longest answer of a collector that is read, in bytes.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// The longest that a collector may ask us to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How much of a collector's words is shown.
const MOST_WORDS: usize = 200;

pub(crate) struct Delivery {
    client: OperatorClient,
    url: OperatorUrl,
    headers: Vec<(String, String)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Taken,
    /// The collector has left out some of it, for this reason.
    TakenInPart(String),
    /// It may be taken later; the collector may say when.
    Later {
        why: String,
        after: Option<Duration>,
    },
    Refused(String),
}

impl Delivery {
    pub(crate) fn new(signal: Signal) -> Self {
        let Signal { url, headers, timeout, trust } = signal;
        let client = OperatorClient::with(Arc::new(SystemNetwork), trust, timeout, LONGEST_ANSWER);
        Self { client, url, headers }
    }

    pub(crate) async fn send(&self, json: String) -> Verdict {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        match self.client.post_json(&self.url, &headers, json).await {
            Ok(reply) => judge(reply.status, reply.retry_after.as_deref(), &reply.bytes),
            Err(error) => failed(&error),
        }
    }
}

fn failed(error: &FetchError) -> Verdict {
    let why = error.to_string();
    if error.may_pass() { Verdict::Later { why, after: None } } else { Verdict::Refused(why) }
}

fn judge(status: u16, retry_after: Option<&str>, body: &[u8]) -> Verdict {
    match status {
        200..=299 => match left_out(body) {
            None => Verdict::Taken,
            Some(why) => Verdict::TakenInPart(why),
        },
        429 | 502 | 503 | 504 => {
            let seconds = retry_after.and_then(|seconds| seconds.trim().parse().ok());
            let after = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
            Verdict::Later { why: format!("the collector answered with status {status}"), after }
        }
        _ => Verdict::Refused(format!("the collector answered with status {status}: {}", words(body))),
    }
}

/// What the collector says of a part that it did not take. Text that is not JSON says nothing.
fn left_out(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let part = answer.get("partialSuccess")?;
    // 64-bit numbers are strings, but not all collectors write them so.
    let count = ["rejectedSpans", "rejectedDataPoints"].iter().find_map(|name| {
        let count = part.get(*name)?;
        count.as_u64().or_else(|| count.as_str()?.parse().ok())
    });
    let message = part.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
    match count.unwrap_or(0) {
        0 if message.is_empty() => None,
        count => Some(format!("the collector rejected {count} of them: {}", words(message.as_bytes()))),
    }
}

/// The beginning of what a collector says, without control characters.
fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * MOST_WORDS)]).into_owned();
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_may_be_partial() {
        for body in [
            "",
            "{}",
            r#"{"partialSuccess":{}}"#,
            "garbage",
            "[1]",
            r#"{"partialSuccess":{"rejectedSpans":"0"}}"#,
        ] {
            assert_eq!(judge(200, None, body.as_bytes()), Verdict::Taken, "{body}");
        }
        for body in [
            r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#,
            r#"{"partialSuccess":{"rejectedDataPoints":3,"errorMessage":"too old"}}"#,
        ] {
            let Verdict::TakenInPart(why) = judge(200, None, body.as_bytes()) else { panic!("{body}") };
            assert_eq!(why, "the collector rejected 3 of them: too old");
        }
    }

    #[test]
    fn only_some_statuses_are_tried_again() {
        for status in [429, 502, 503, 504] {
            let Verdict::Later { after, .. } = judge(status, Some("7"), b"") else { panic!("{status}") };
            assert_eq!(after, Some(Duration::from_secs(7)));
        }
        let Verdict::Later { after, .. } = judge(503, Some("999999"), b"") else { panic!() };
        assert_eq!(after, Some(LONGEST_PAUSE));
        for unread in [None, Some("soon"), Some("-1"), Some("Wed, 21 Oct 2015 07:28:00 GMT")] {
            let Verdict::Later { after, .. } = judge(429, unread, b"") else { panic!() };
            assert_eq!(after, None);
        }
        for status in [100, 301, 400, 401, 404, 413, 500] {
            assert!(matches!(judge(status, None, b"no\x1b[31m"), Verdict::Refused(_)), "{status}");
        }
        let Verdict::Refused(why) = judge(400, None, &vec![b'x'; 10_000_000]) else { panic!() };
        assert!(why.len() < 300 && !why.contains('\u{1b}'));
    }
}
