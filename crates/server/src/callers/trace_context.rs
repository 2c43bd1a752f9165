//! Trace context: the trace of a request in the format of W3C Trace Context and Baggage. Scripts receive it in environment
//! variables. Malformed values are not passed on.

use mcp_bash_scripts::TraceVariables;
use mcp_bash_telemetry::SpanContext;
use mcp_bash_wire::Raw;

/// The longest values that are passed on, in bytes: a little more than the specifications require.
const LONGEST_STATE: usize = 1024;
const LONGEST_BAGGAGE: usize = 8192;

/// The trace variables for a script.
pub(crate) fn read([parent, state, baggage]: [Option<Raw<'_>>; 3]) -> TraceVariables {
    let [parent, state, baggage] = [parent, state, baggage].map(|raw| raw.and_then(Raw::string));
    of_texts([parent.as_deref(), state.as_deref(), baggage.as_deref()])
}

/// The same for `traceparent`, `tracestate` and `baggage` as texts.
pub(crate) fn of_texts([parent, state, baggage]: [Option<&str>; 3]) -> TraceVariables {
    let text = |text: Option<&str>, is_fit: fn(&str) -> bool| text.filter(|text| is_fit(text)).map(Box::from);
    let parent = text(parent, is_parent);
    // A state without its parent belongs to no trace.
    let state = text(state, is_state).filter(|_| parent.is_some());
    TraceVariables { parent, state, baggage: text(baggage, is_baggage) }
}

fn is_parent(text: &str) -> bool {
    SpanContext::parse(text).is_some()
}

fn is_state(text: &str) -> bool {
    is_list(text, LONGEST_STATE, |key| {
        key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/@".contains(&byte))
    })
}

fn is_baggage(text: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    is_list(text, LONGEST_BAGGAGE, |key| key.bytes().all(is_token))
}

/// Whether it is a comma-separated list of `key=value`.
fn is_list(text: &str, longest: usize, is_key: impl Fn(&str) -> bool) -> bool {
    let is_member = |member: &str| {
        member.split_once('=').is_some_and(|(key, _)| !key.trim().is_empty() && is_key(key.trim()))
    };
    is_printable(text, longest) && text.split(',').all(is_member)
}

fn is_printable(text: &str, longest: usize) -> bool {
    !text.is_empty() && text.len() <= longest && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn lists_have_their_form() {
        for text in ["vendor=value", "a@b=1,c=2", "rojo=00f067aa0ba902b7 , x/y=z"] {
            assert!(is_state(text), "{text}");
        }
        for text in ["userId=alice,serverNode=DF%2028;hot", "a=b"] {
            assert!(is_baggage(text), "{text}");
        }
        let long = format!("a={}", "x".repeat(LONGEST_BAGGAGE));
        for text in ["", "novalue", "=x", "a=1\nb=2", "a=\0", "a b=c", "a=1,", "é=1", &long] {
            assert!(!is_state(text) && !is_baggage(text), "{text}");
        }
    }

    #[test]
    fn invalid_members_are_dropped_separately() {
        use mcp_bash_wire::{Limits, Scanner};
        let texts = [format!("\"{PARENT}\""), r#""a=1""#.to_owned(), "12".to_owned(), r#""x""#.to_owned()];
        let raw = |index: usize| Some(Scanner::new(&texts[index], Limits::NONE).whole_value().unwrap());
        let told = read([raw(0), raw(1), raw(2)]);
        assert_eq!((told.parent.as_deref(), told.state.as_deref()), (Some(PARENT), Some("a=1")));
        assert_eq!(told.baggage, None);
        let told = read([raw(3), raw(1), raw(1)]);
        assert_eq!((told.parent, told.state, told.baggage.as_deref()), (None, None, Some("a=1")));
    }
}
