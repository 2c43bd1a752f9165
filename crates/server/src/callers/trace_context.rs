//! Trace context: the trace that a request is part of, in the format of W3C Trace Context and Baggage. Scripts find it
//! in their environment. Values that are not well-formed are not passed on.

use mcp_bash_scripts::TraceVariables;
use mcp_bash_wire::Raw;

/// The longest values that are passed on, in bytes: a little more than the specifications require.
const LONGEST_PARENT: usize = 128;
const LONGEST_STATE: usize = 1024;
const LONGEST_BAGGAGE: usize = 8192;

/// The trace variables of a script.
pub(crate) fn read([parent, state, baggage]: [Option<Raw<'_>>; 3]) -> TraceVariables {
    let text = |raw: Option<Raw<'_>>, is_fit: fn(&str) -> bool| {
        raw.and_then(Raw::string).filter(|text| is_fit(text)).map(|text| Box::from(&*text))
    };
    let parent = text(parent, is_parent);
    // Without its parent a state belongs to no trace.
    let state = text(state, is_state).filter(|_| parent.is_some());
    TraceVariables { parent, state, baggage: text(baggage, is_baggage) }
}

/// `version-trace-parent-flags`, in lower case. Newer versions may have more after it.
fn is_parent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut digits = |count: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        parts.next().filter(|part| part.len() == count && part.bytes().all(is_digit))
    };
    let (version, trace, parent, flags) = (digits(2), digits(32), digits(16), digits(2));
    let is_some_id = |id: Option<&str>| id.is_some_and(|id| id.bytes().any(|byte| byte != b'0'));
    let has_more = parts.next().is_some();
    version.is_some_and(|version| version != "ff" && (version != "00" || !has_more))
        && is_some_id(trace)
        && is_some_id(parent)
        && flags.is_some()
        && is_printable(text, LONGEST_PARENT)
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

/// `key=value`, with commas between them.
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
    fn a_parent_has_its_form() {
        let newer = format!("{}-more", PARENT.replacen("00", "01", 1));
        for text in [PARENT, &newer] {
            assert!(is_parent(text), "{text}");
        }
        let upper = PARENT.to_uppercase();
        let (more, long) = (format!("{PARENT}-more"), format!("01{}-{}", &PARENT[2..], "x".repeat(100)));
        let no_trace = PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
        let no_parent = PARENT.replace("b7ad6b7169203331", &"0".repeat(16));
        let forbidden = PARENT.replacen("00", "ff", 1);
        let wrong =
            ["", "00", &PARENT[..54], &upper, &more, &long, &no_trace, &no_parent, &forbidden, "$(id)", "é"];
        for text in wrong {
            assert!(!is_parent(text), "{text}");
        }
    }

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
