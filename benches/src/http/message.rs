//! HTTP responses: the end of one in the bytes received so far, and its contents.

use memchr::memmem;

/// The head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// The start of the body.
    pub(super) length: usize,
    body: Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Sized(usize),
    Chunked,
}

impl Head {
    /// Reads the head. None if it is incomplete.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, String> {
        let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let (text, length) = (&bytes[..end], end + 4);
        let status = text.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.get(..3));
        let status = status.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        let status = status.ok_or_else(|| format!("it answered «{}»", String::from_utf8_lossy(text)))?;
        let body = match header(text, b"content-length") {
            Some(value) => Body::Sized(
                str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .ok_or("the length of its answer is no number")?,
            ),
            None if header(text, b"transfer-encoding").is_some() => Body::Chunked,
            None => Body::Sized(0),
        };
        Ok(Some(Self { status, length, body }))
    }

    /// The length of the whole answer, once it has arrived.
    pub(super) fn end(&self, bytes: &[u8]) -> Option<usize> {
        match self.body {
            Body::Sized(size) => Some(self.length + size).filter(|&end| end <= bytes.len()),
            Body::Chunked => end_of_chunks(bytes, self.length, |_| {}),
        }
    }

    /// The body of a complete answer.
    pub(super) fn body(&self, bytes: &[u8]) -> Vec<u8> {
        match self.body {
            Body::Sized(size) => bytes[self.length..self.length + size].to_vec(),
            Body::Chunked => {
                let mut body = Vec::new();
                end_of_chunks(bytes, self.length, |chunk| body.extend_from_slice(chunk));
                body
            }
        }
    }
}

/// The value of a header; `name` is in lowercase.
pub(super) fn header<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = head;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        rest = &rest[end + 1..];
        if rest.len() > name.len()
            && rest[name.len()] == b':'
            && rest[..name.len()].eq_ignore_ascii_case(name)
        {
            let value = &rest[name.len() + 1..];
            let end = memchr::memchr(b'\r', value).unwrap_or(value.len());
            return Some(value[..end].trim_ascii());
        }
    }
    None
}

/// Walks through the chunks from `start`. Returns their end, or None if they are incomplete.
fn end_of_chunks(bytes: &[u8], start: usize, mut take: impl FnMut(&[u8])) -> Option<usize> {
    let mut at = start;
    loop {
        let line = memmem::find(bytes.get(at..)?, b"\r\n")?;
        let size = usize::from_str_radix(str::from_utf8(&bytes[at..at + line]).ok()?, 16).ok()?;
        let begin = at + line + 2;
        at = begin.checked_add(size)?.checked_add(2)?;
        take(bytes.get(begin..at - 2)?);
        if bytes.len() < at {
            return None;
        }
        if size == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_when_all_bytes_have_arrived() {
        let sized = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello";
        let chunked =
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
        for whole in [&sized[..], &chunked[..]] {
            for length in 0..whole.len() {
                let head = Head::read(&whole[..length]).unwrap();
                assert_eq!(head.and_then(|head| head.end(&whole[..length])), None, "{length}");
            }
            let head = Head::read(whole).unwrap().unwrap();
            assert_eq!((head.status, head.end(whole)), (200, Some(whole.len())));
            assert_eq!(head.body(whole), b"hello");
        }
    }

    #[test]
    fn headers_are_found_in_any_case() {
        let head = b"HTTP/1.1 200 OK\r\nMcp-Session-Id:  abc \r\nDate: now";
        assert_eq!(header(head, b"mcp-session-id"), Some(&b"abc"[..]));
        assert_eq!(header(head, b"date"), Some(&b"now"[..]));
        assert_eq!(header(head, b"content-length"), None);
        assert!(Head::read(b"nonsense\r\n\r\n").is_err());
    }
}
