//! Setting names: as users write them, and which one they may have meant.

use crate::row::Setting;
use crate::table::TABLE;
use mcp_bash_spelling::nearest;

/// The setting of that name: the full name, or a short one without its prefix (`defaultToolTimeout`,
/// `default_tool_timeout`).
pub(crate) fn find(written: &str) -> Option<&'static dyn Setting> {
    let plain = plain(written);
    TABLE.iter().copied().find(|setting| setting.name() == written || self::plain(setting.name()) == plain)
}

/// The most similar setting name, if one is similar enough.
pub(crate) fn meant(written: &str) -> Option<&'static str> {
    let plain = plain(written);
    let names: Vec<String> = TABLE.iter().map(|setting| self::plain(setting.name())).collect();
    let found = nearest(&plain, names.iter().map(String::as_str))?;
    let place = names.iter().position(|name| name == found)?;
    TABLE.get(place).map(|setting| setting.name())
}

/// The part that all spellings of a name share.
fn plain(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let short = upper.strip_prefix("MCPBASH_").or_else(|| upper.strip_prefix("MCP_")).unwrap_or(&upper);
    short.chars().filter(|letter| !matches!(letter, '_' | '-')).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_settings_have_the_same_short_name() {
        let mut names = HashSet::new();
        assert!(TABLE.iter().all(|setting| names.insert(plain(setting.name()))));
    }

    #[test]
    fn a_setting_is_found_by_each_way_to_write_its_name() {
        let all = [
            "MCPBASH_DEFAULT_TOOL_TIMEOUT",
            "default_tool_timeout",
            "defaultToolTimeout",
            "default-tool-timeout",
        ];
        for written in all {
            let found = find(written).map(Setting::name);
            assert_eq!(found, Some("MCPBASH_DEFAULT_TOOL_TIMEOUT"), "{written}");
        }
        assert_eq!(find("toolsTtl").map(Setting::name), Some("MCP_TOOLS_TTL"));
        assert!(find("defaultToolTimeouts").is_none() && find("").is_none());
    }

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        assert_eq!(meant("default_tool_timout"), Some("MCPBASH_DEFAULT_TOOL_TIMEOUT"));
        assert_eq!(meant("maxConcurentRequests"), Some("MCPBASH_MAX_CONCURRENT_REQUESTS"));
        assert_eq!(meant("colour"), None);
        assert_eq!(meant(&"x".repeat(100_000)), None);
    }
}
