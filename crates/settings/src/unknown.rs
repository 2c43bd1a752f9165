//! Unknown variables: they look like settings and are not, usually because of a typo.

use crate::table::TABLE;
use mcp_bash_spelling::nearest;
use std::fmt;

/// The prefix of our names.
const OURS: &str = "MCPBASH_";

/// A prefix that some of ours share with other programs.
const SHARED: &str = "MCP_";

/// A variable with our prefix that nothing reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    pub name: String,
    /// The name that was most likely meant.
    pub meant: Option<&'static str>,
}

impl UnknownName {
    pub fn problem(&self) -> String {
        format!("{} is set, which is no setting", self.name)
    }

    pub fn remedy(&self) -> String {
        match self.meant {
            Some(meant) => format!("set {meant} if that is what you mean"),
            None => "unset it; docs/settings.md lists all settings".to_owned(),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.problem(), self.remedy())
    }
}

/// Those of `names` that have our prefix and are not settings, in order. `also_known` are names that are not settings
/// and still mean something. Other programs use `MCP_` too: such a name counts only if it is similar to one of ours.
pub fn unknown_names(names: impl IntoIterator<Item = String>, also_known: &[&str]) -> Vec<UnknownName> {
    let mut unknown: Vec<UnknownName> =
        names.into_iter().filter_map(|name| unknown_name(name, also_known)).collect();
    unknown.sort_by(|one, other| one.name.cmp(&other.name));
    unknown
}

fn unknown_name(name: String, also_known: &[&str]) -> Option<UnknownName> {
    let is_ours = name.starts_with(OURS);
    if !is_ours && !name.starts_with(SHARED) {
        return None;
    }
    let is_setting = TABLE.iter().any(|setting| setting.name() == name);
    if is_setting || also_known.contains(&&*name) {
        return None;
    }
    let meant = if is_ours { meant(&name) } else { nearly(&name) };
    (is_ours || meant.is_some()).then_some(UnknownName { name, meant })
}

/// The setting with the most similar name, ignoring the common prefix.
fn meant(name: &str) -> Option<&'static str> {
    let found = nearest(bare(name), TABLE.iter().map(|setting| bare(setting.name())))?;
    TABLE.iter().map(|setting| setting.name()).find(|known| bare(known) == found)
}

/// The same for a name that may belong to another program: only its prefix may differ, or a letter may be wrong.
fn nearly(name: &str) -> Option<&'static str> {
    TABLE.iter().map(|setting| setting.name()).find(|known| bare(known) == bare(name)).or_else(|| {
        let shared = TABLE.iter().map(|setting| setting.name()).filter(|known| known.starts_with(SHARED));
        let is_slip = |known: &&str| known.len().abs_diff(name.len()) <= 1;
        nearest(name, shared.filter(is_slip))
    })
}

fn bare(name: &str) -> &str {
    name.strip_prefix(OURS).or_else(|| name.strip_prefix(SHARED)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str) -> Option<String> {
        let known = ["MCP_TOOL_NAME", "MCPBASH_BIN"];
        unknown_names([name.to_owned()], &known).first().map(ToString::to_string)
    }

    #[test]
    fn a_misspelling_is_reported_with_the_correct_name() {
        for (name, meant) in [
            ("MCPBASH_LOGLEVEL", "MCPBASH_LOG_LEVEL"),
            ("MCPBASH_LOG_LEVLE", "MCPBASH_LOG_LEVEL"),
            ("MCP_LOG_LEVEL", "MCPBASH_LOG_LEVEL"),
            ("MCPBASH_TOOL_ALOWLIST", "MCPBASH_TOOL_ALLOWLIST"),
            ("MCP_TOOL_TTL", "MCP_TOOLS_TTL"),
        ] {
            let expected =
                format!("{name} is set, which is no setting; set {meant} if that is what you mean");
            assert_eq!(told(name), Some(expected));
        }
        let nothing = "MCPBASH_COLOUR_OF_THE_SKY is set, which is no setting; unset it; docs/settings.md lists all settings";
        assert_eq!(told("MCPBASH_COLOUR_OF_THE_SKY").as_deref(), Some(nothing));
    }

    #[test]
    fn known_and_foreign_variables_are_left_alone() {
        let known = TABLE.iter().map(|setting| setting.name());
        let others = [
            "MCP_TOOL_NAME",
            "MCPBASH_BIN",
            "MCP_TIMEOUT",
            "MCP_TOOL_TIMEOUT",
            "MCP_SERVER_URL",
            "PATH",
            "MCP",
        ];
        for name in known.chain(others) {
            assert_eq!(told(name), None, "{name}");
        }
    }
}
