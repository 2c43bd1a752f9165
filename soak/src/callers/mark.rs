//! Mark: shows which call a text belongs to, by the name of its caller and its number. Scripts and functions repeat it.

use std::fmt;

const BEGINNING: &str = "caller:";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) name: String,
    pub(super) call: String,
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The final letter shows that nothing is cut off.
        write!(formatter, "{BEGINNING}{}:{}z", self.name, self.call)
    }
}

impl Mark {
    /// All marks in a text.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        text.split(BEGINNING).skip(1).filter_map(Self::parse).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(':')?;
        let (call, _) = rest.split_once('z')?;
        let is_mark = [name, call].iter().all(|part| {
            part.len() < 32 && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        is_mark.then(|| Self { name: name.to_owned(), call: call.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_anywhere_in_a_text() {
        let (one, other) = (
            Mark { name: "ada".into(), call: "0-12".into() },
            Mark { name: "None".into(), call: "None".into() },
        );
        let text = format!("{{\"a\":\"{one} caller: nobody caller:x\"}} {other}{one} caller:ada:1");
        assert_eq!(Mark::all_in(&text), [one.clone(), other, one]);
    }
}
