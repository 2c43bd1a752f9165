//! Pages: walks through the pages of a list.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{Failure, Request, Subject};

/// Asks for the first page of tools, of the server's default size or with `limit` of them.
pub fn first_page(limit: Option<u32>) -> Request {
    page(limit, None)
}

/// Lists all tools page by page. Returns their number and the time of each page.
pub fn list_all(subject: &mut Subject, limit: Option<u32>) -> Result<(usize, Vec<Duration>), Failure> {
    subject.begin_measure();
    let (mut tools, mut samples, mut cursor) = (0, Vec::new(), None);
    loop {
        let mut answer = None;
        let sample = subject.call_checked(&page(limit, cursor.as_deref()), |line| {
            answer = Some(Answer::read(line)?);
            Ok(())
        })?;
        samples.push(sample);
        let Some(Answer { result }) = answer else { return Ok((tools, samples)) };
        tools += result.tools.len();
        match result.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok((tools, samples)),
        }
    }
}

fn page(limit: Option<u32>, cursor: Option<&str>) -> Request {
    let limit = limit.map(|limit| format!("\"limit\":{limit}"));
    // Cursors are opaque, so this one may need escaping.
    let cursor = cursor.map(|cursor| format!("\"cursor\":{}", serde_json::Value::from(cursor)));
    let members: Vec<String> = limit.into_iter().chain(cursor).collect();
    Request::with_params("tools/list", &format!("{{{}}}", members.join(",")))
}

#[derive(Deserialize)]
struct Answer {
    result: Page,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<IgnoredAny>,
    next_cursor: Option<String>,
}

impl Answer {
    fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| format!("its page of tools: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_request_has_its_cursor_and_limit() {
        let text = |request: Request| {
            let mut line = Vec::new();
            request.write_line(1, &mut line);
            String::from_utf8(line).unwrap()
        };
        assert!(text(page(None, None)).ends_with("\"params\":{}}\n"));
        assert!(text(page(Some(50), Some("a\"b"))).ends_with("{\"limit\":50,\"cursor\":\"a\\\"b\"}}\n"));
    }

    #[test]
    fn the_tools_of_a_page_are_counted() {
        let line = br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{},{}],"nextCursor":"x"}}"#;
        let page = Answer::read(line).unwrap().result;
        assert_eq!((page.tools.len(), page.next_cursor.as_deref()), (2, Some("x")));
        assert!(Answer::read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_err());
    }
}
