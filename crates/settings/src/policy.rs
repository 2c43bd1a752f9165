//! Tool policy: which tools may run at all.

use crate::kind::{Flag, Kind as _};
use crate::reader::Reader;
use crate::table::{ALLOW_UNCONFIRMED, TOOL_ALLOW_DEFAULT, TOOL_ALLOWLIST};
use std::collections::HashSet;

/// A list of names and patterns. In a pattern `*` stands for any characters, and `?` for one. `all` stands for every name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedNames {
    names: HashSet<String>,
    patterns: Vec<String>,
}

impl AllowedNames {
    pub fn hold(&self, name: &str) -> bool {
        self.names.contains(name)
            || self.names.contains("all")
            || self.patterns.iter().any(|pattern| matches(pattern, name))
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.patterns.is_empty()
    }

    /// The names and patterns, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().chain(&self.patterns).map(String::as_str)
    }

    fn insert(&mut self, name: String) {
        if is_pattern(&name) {
            self.patterns.push(name);
        } else {
            self.names.insert(name);
        }
    }

    /// The tools that need no consent where the client cannot ask for it: a flag, or their names.
    pub(crate) fn unconfirmed(reader: &mut Reader<'_>) -> Self {
        let names: Vec<String> = reader.value(&ALLOW_UNCONFIRMED);
        match &*names {
            [only] => match Flag.parse(only) {
                Ok(true) => ["*"].into_iter().collect(),
                Ok(false) => Self::default(),
                Err(_) => names.into_iter().collect(),
            },
            _ => names.into_iter().collect(),
        }
    }
}

impl<N: Into<String>> FromIterator<N> for AllowedNames {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        let mut list = Self::default();
        for name in names {
            list.insert(name.into());
        }
        list
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Whether a name fits a pattern. A `*` that matched too little is tried again with one character more; only the last
/// one has to be, so the time is bounded by the product of both lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut of_name, mut retry) = (0, 0, None);
    while of_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at + 1, of_name));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[of_name] => {
                at += 1;
                of_name += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                (at, of_name) = (after_star, from + 1);
                retry = Some((after_star, from + 1));
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Which tools may run at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The names that may run, if there is a list.
    allowed: Option<AllowedNames>,
    /// Whether tools may run if there is no list.
    by_default: bool,
}

impl ToolPolicy {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        let allowed: Option<Vec<String>> = reader.value(&TOOL_ALLOWLIST);
        let allowed = allowed.map(AllowedNames::from_iter);
        Self { allowed, by_default: reader.value(&TOOL_ALLOW_DEFAULT) }
    }

    /// Adds a tool to the list for as long as these settings are in force; `*` means all tools. If all may run anyway,
    /// nothing changes.
    pub fn allow_for_now(&mut self, tool: &str) {
        if self.blocks(tool).is_some() {
            self.allowed.get_or_insert_default().insert(tool.to_owned());
        }
    }

    /// Why the tool may not run, and which setting would allow it.
    pub fn blocks(&self, tool: &str) -> Option<String> {
        let (list, default) = (TOOL_ALLOWLIST.name, TOOL_ALLOW_DEFAULT.name);
        match &self.allowed {
            None if self.by_default => None,
            None => Some(format!("{default} is `deny` and there is no list; add `{tool}` to {list}")),
            Some(tools) if tools.hold(tool) => None,
            Some(_) => Some(format!("it is not in {list}; add `{tool}` there to allow it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    /// Whether `a` may run.
    fn allows(list: &str, default: &str) -> bool {
        let lookup = |name: &str| {
            let value = if name == TOOL_ALLOWLIST.name { list } else { default };
            Some(OsString::from(value))
        };
        ToolPolicy::from_rows(&mut Reader::new(&lookup)).blocks("a").is_none()
    }

    #[test]
    fn a_tool_can_be_allowed_for_now() {
        for (list, default) in [("", "allow"), ("", "deny"), ("b", "allow")] {
            let lookup =
                |name: &str| Some(OsString::from(if name == TOOL_ALLOWLIST.name { list } else { default }));
            let mut policy = ToolPolicy::from_rows(&mut Reader::new(&lookup));
            policy.allow_for_now("a");
            assert_eq!(policy.blocks("a"), None);
            assert_eq!(policy.blocks("c").is_none(), list.is_empty() && default == "allow");
        }
    }

    #[test]
    fn calls_without_consent_are_allowed_by_a_flag_or_by_name() {
        for (text, allowed) in [
            ("", false),
            ("false", false),
            ("no", false),
            ("true", true),
            ("1", true),
            ("*", true),
            ("b", false),
            ("b,a", true),
        ] {
            let lookup = |_: &str| Some(OsString::from(text));
            assert_eq!(AllowedNames::unconfirmed(&mut Reader::new(&lookup)).hold("a"), allowed, "`{text}`");
        }
    }

    #[test]
    fn patterns_hold_what_they_fit() {
        let list = |names: &[&str]| names.iter().copied().collect::<AllowedNames>();
        for (pattern, held, not) in [
            ("*", &["", "a", "list_files"][..], &[][..]),
            ("list_*", &["list_", "list_files"], &["list", "xlist_a", "LIST_A"]),
            ("*_files", &["list_files", "_files"], &["list_files2"]),
            ("a*b*c", &["abc", "aXbYc", "abbcbc"], &["ac", "abcd"]),
            ("git.?", &["git.1", "git.\u{e4}"], &["git.", "git.12", "gitx1"]),
            ("runbook://*", &["runbook://a/b"], &["runbook:/a"]),
            ("all", &["anything"], &[]),
            ("read", &["read"], &["reads", "rea"]),
        ] {
            for name in held {
                assert!(list(&[pattern]).hold(name), "{pattern}: {name}");
            }
            for name in not {
                assert!(!list(&[pattern]).hold(name), "{pattern}: {name}");
            }
        }
        assert!(!list(&[]).hold("") && list(&["a", "b*"]).hold("bc"));
        // Neither takes long.
        let long = "a".repeat(10_000);
        assert!(!list(&["*a*a*a*a*a*a*a*b"]).hold(&long));
    }

    #[test]
    fn a_list_names_all_that_may_run_and_the_default_counts_without_one() {
        for (list, default, allowed) in [
            ("", "", true),
            ("", "allow", true),
            ("", "DENY", false),
            ("", "refuse", false),
            ("a b", "deny", true),
            ("*", "deny", true),
            ("b", "allow", false),
            (",", "allow", false),
        ] {
            assert_eq!(allows(list, default), allowed, "list `{list}`, default `{default}`");
        }
    }
}
