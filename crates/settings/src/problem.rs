//! Setting problem: what is wrong with a value that was set.

use std::fmt;

/// A value that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    pub name: &'static str,
    pub problem: String,
    /// Whether the server must not start: using the default instead would be unsafe.
    pub fatal: bool,
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.problem)
    }
}

/// A value as a problem quotes it: shortened, and without control characters.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    mcp_bash_harmless::line(&mcp_bash_harmless::clip(text, LONGEST)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_quoted_in_part_and_without_control_characters() {
        assert_eq!(excerpt("a\u{1b}[31m\nb"), r"a\u{1b}[31m\nb");
        assert_eq!(excerpt(&"é".repeat(100_000)).chars().count(), 201);
        assert_eq!(excerpt(&"é".repeat(200)), "é".repeat(200));
    }
}
