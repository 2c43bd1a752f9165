//! Refused names of tools and servers.

use super::rules::{self, Rule};
use crate::Severity;
use mcp_bash_harmless::clip;

/// A refused tool name: who refuses it, and what to do.
pub(crate) struct Refusal {
    pub(crate) severity: Severity,
    /// What is wrong, as a sentence fragment.
    pub(crate) problem: String,
    pub(crate) remedy: &'static str,
}

/// The refusal of a tool's name, whatever the server's name is. The tool is served all the same.
pub(crate) fn refusal(name: &str) -> Option<Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let length = name.chars().count();
    let rule = if !name.chars().all(|c| is_plain(c) || c == '.' || c == ':') {
        rules::NAME_CHARACTERS
    } else if length > 128 {
        rules::NAME_OVER_128
    } else if !name.chars().all(is_plain) {
        rules::NAME_DOT
    } else if length > 64 {
        rules::NAME_OVER_64
    } else {
        return None;
    };
    Some(of(&rule, name))
}

/// The refusal of a name that [`refusal`] accepts.
pub(crate) fn lesser_refusal(name: &str, server: &str) -> Option<Refusal> {
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Some(of(&rules::NAME_START, name));
    }
    let together = name.chars().count() + server.chars().count();
    (together >= 60).then(|| {
        let words = format!("{together} characters together with the server's name `{}`", shown(server));
        let problem =
            format!("calls its tool `{}`, which are {words}: {}", shown(name), rules::NAME_WITH_SERVER.who);
        let Rule { severity, remedy, .. } = rules::NAME_WITH_SERVER;
        Refusal { severity, problem, remedy }
    })
}

/// The refusal of a server's name.
pub(crate) fn server_refusal(name: &str) -> Option<&'static Rule> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !name.chars().all(|c| is_plain(c) || c == '_') {
        Some(&rules::SERVER_CHARACTERS)
    } else if name.contains('_') {
        Some(&rules::SERVER_UNDERSCORE)
    } else {
        None
    }
}

fn of(rule: &Rule, name: &str) -> Refusal {
    let problem = format!("calls its tool `{}`: {}", shown(name), rule.who);
    Refusal { severity: rule.severity, problem, remedy: rule.remedy }
}

/// The beginning of a name, which may be long and contain anything.
pub(crate) fn shown(name: &str) -> String {
    const LONGEST: usize = 80;
    clip(name, LONGEST).replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_by_whom_the_table_says() {
        let who = |name: &str| refusal(name).map(|refusal| refusal.problem);
        assert!(who("disk-usage_2").is_none());
        assert!(who(&"a".repeat(64)).is_none());
        for (name, rule) in [
            ("a b".to_owned(), &rules::NAME_CHARACTERS),
            ("größe".to_owned(), &rules::NAME_CHARACTERS),
            (String::new() + "a\nb", &rules::NAME_CHARACTERS),
            ("a.b".to_owned(), &rules::NAME_DOT),
            ("a".repeat(65), &rules::NAME_OVER_64),
            ("a".repeat(129), &rules::NAME_OVER_128),
        ] {
            assert!(who(&name).unwrap().ends_with(rule.who), "{name}");
        }
        assert!(lesser_refusal("7zip", "s").unwrap().problem.ends_with(rules::NAME_START.who));
        assert!(lesser_refusal(&"a".repeat(49), "my-project").is_none());
        assert!(lesser_refusal(&"a".repeat(50), "my-project").is_some());
    }
}
