//! Tool policy: which tools may run at all.

use crate::kind::{Flag, Kind as _};
use crate::reader::Reader;
use crate::table::{ALLOW_UNCONFIRMED, TOOL_ALLOW_DEFAULT, TOOL_ALLOWLIST};
use std::collections::HashSet;

/// A list of names. `*` and `all` stand for every name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedNames(HashSet<String>);

impl AllowedNames {
    pub fn hold(&self, name: &str) -> bool {
        [name, "*", "all"].into_iter().any(|name| self.0.contains(name))
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
        Self(names.into_iter().map(Into::into).collect())
    }
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
            self.allowed.get_or_insert_default().0.insert(tool.to_owned());
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
