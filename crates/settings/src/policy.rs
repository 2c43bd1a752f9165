//! Which tools may run at all.

use crate::reader::Reader;
use crate::table::{TOOL_ALLOW_DEFAULT, TOOL_ALLOWLIST};

/// Which tools may run at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The names that may run, where there is a list.
    allowed: Option<Vec<String>>,
    /// Whether tools may run where there is no list.
    by_default: bool,
}

impl ToolPolicy {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self { allowed: reader.value(&TOOL_ALLOWLIST), by_default: reader.value(&TOOL_ALLOW_DEFAULT) }
    }

    /// Why the tool may not run, and which setting would allow it.
    pub fn blocks(&self, tool: &str) -> Option<String> {
        let (list, default) = (TOOL_ALLOWLIST.name, TOOL_ALLOW_DEFAULT.name);
        match &self.allowed {
            None if self.by_default => None,
            None => Some(format!("{default} is `deny` and there is no list; add `{tool}` to {list}")),
            Some(names) if names.iter().any(|name| name == tool || name == "*" || name == "all") => None,
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
