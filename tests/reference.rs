//! The reference documents say what the code does.

use mcp_bash_settings::reference;
use std::path::Path;

#[test]
fn the_table_of_settings_is_the_one_in_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let text = std::fs::read_to_string(&path).expect("docs/settings.md");
    let start = text.find("| Variable |").unwrap_or(text.len());
    let expected = format!("{}{}", &text[..start], reference());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert_eq!(text, expected, "run the tests once with UPDATE_REFERENCE=1 to write the table anew");
    }
}

/// All names of settings in a text, with the text's section each stands in.
fn settings_in(text: &str) -> Vec<(&str, &str)> {
    let mut section = "";
    let mut found = Vec::new();
    for line in text.lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let words = line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        found.extend(
            words
                .filter(|word| word.starts_with("MCPBASH_") || word.starts_with("MCP_"))
                .map(|word| (section, word)),
        );
    }
    found
}

#[test]
fn the_page_for_those_who_come_from_mcp_bash_names_the_settings_that_there_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/migrating-from-mcp-bash.md");
    let page = std::fs::read_to_string(&path).expect("docs/migrating-from-mcp-bash.md");
    let table = reference();
    // What follows the table are names that change nothing.
    let table = table.split("\n## ").next().unwrap_or_default();
    // What scripts find is no setting.
    let for_scripts = ["MCPBASH_JSON_TOOL_BIN"];
    let named = settings_in(&page);
    assert!(named.len() > 10, "{named:?}");
    for (section, name) in named {
        let exists = table.contains(&format!("`{name}`"));
        let should_exist = section != "Variables that do nothing here";
        assert!(exists == should_exist || for_scripts.contains(&name), "{name} in \"{section}\"");
    }
}
