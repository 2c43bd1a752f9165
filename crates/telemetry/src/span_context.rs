//! Span context: the identity of a span in its trace, as W3C Trace Context writes it.

use crate::ids;
use std::fmt;

/// The longest `traceparent` that is read: newer versions may add to it.
const LONGEST: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanContext {
    pub trace: [u8; 16],
    pub span: [u8; 8],
    pub is_sampled: bool,
}

impl SpanContext {
    /// Reads `version-trace-span-flags`, in lower case. Newer versions may have more after it. `None` if the text has
    /// another form: then there is no parent.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST || !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return None;
        }
        let mut parts = text.split('-');
        let [version] = digits(parts.next()?)?;
        let trace: [u8; 16] = digits(parts.next()?)?;
        let span: [u8; 8] = digits(parts.next()?)?;
        let [flags] = digits(parts.next()?)?;
        let has_more = parts.next().is_some();
        let is_known = version != 0xff && (version != 0 || !has_more);
        (is_known && trace != [0; 16] && span != [0; 8]).then_some(Self {
            trace,
            span,
            is_sampled: flags & 1 == 1,
        })
    }

    /// The context of a new trace. `None` only while the system has no random numbers.
    pub fn root(is_sampled: impl FnOnce([u8; 16]) -> bool) -> Option<Self> {
        let trace = ids::id()?;
        Some(Self { trace, span: ids::id()?, is_sampled: is_sampled(trace) })
    }

    /// The context of a new span in the same trace.
    pub fn child(self, is_sampled: bool) -> Option<Self> {
        Some(Self { span: ids::id()?, is_sampled, ..self })
    }
}

/// As the header `traceparent`.
impl fmt::Display for SpanContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        write!(formatter, "00-{}-{}-{flags:02x}", hex(&self.trace), hex(&self.span))
    }
}

/// Bytes as hexadecimal digits, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn digits<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * BYTES || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; BYTES];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_is_read_and_written() {
        let context = SpanContext::parse(PARENT).unwrap();
        assert_eq!((context.to_string().as_str(), context.is_sampled), (PARENT, true));
        let newer = SpanContext::parse(&format!("{}-more", PARENT.replacen("00", "01", 1))).unwrap();
        assert_eq!(newer, context);
        let child = context.child(false).unwrap();
        assert_eq!((child.trace, child.is_sampled), (context.trace, false));
        assert_ne!(child.span, context.span);
    }

    #[test]
    fn another_form_is_no_parent() {
        let upper = PARENT.to_uppercase();
        let (more, long) = (format!("{PARENT}-more"), format!("01{}-{}", &PARENT[2..], "x".repeat(100)));
        let no_trace = PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
        let no_span = PARENT.replace("b7ad6b7169203331", &"0".repeat(16));
        let forbidden = PARENT.replacen("00", "ff", 1);
        for text in [
            "",
            "00",
            &PARENT[..54],
            &upper,
            &more,
            &long,
            &no_trace,
            &no_span,
            &forbidden,
            "$(id)",
            "é",
            "0é",
        ] {
            assert_eq!(SpanContext::parse(text), None, "{text}");
        }
    }
}
