//! The reference documents say what the code does.

use mcp_bash_settings::reference;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A page of `docs/` that is made from the code is what the code makes of it; or it is written anew, where that is wanted.
pub(crate) fn expect_page(name: &str, expected: &str) {
    expect_file(&page(name), expected);
}

/// The same for any file.
pub(crate) fn expect_file(path: &Path, expected: &str) {
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, expected).unwrap();
        return;
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_stale = text != expected;
    assert!(!is_stale, "run the tests once with UPDATE_REFERENCE=1 to write {} anew", path.display());
}

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_table_of_settings_is_the_one_in_the_code() {
    let text = std::fs::read_to_string(page("settings.md")).expect("docs/settings.md");
    let start = text.find("| Variable |").unwrap_or(text.len());
    expect_page("settings.md", &format!("{}{}", &text[..start], reference()));
}

#[test]
fn the_page_of_errors_has_every_code() {
    let mut page = String::from(
        "# Which error is that?\n\n\
         A tool that fails says so in its *result* (`isError`), so that the model can read it and try again:\n\
         [when-it-fails.md](when-it-fails.md). An *error* of the protocol means that the request could not be served at all. The\n\
         message says what was wrong; `data`, where there is some, has the reason or the remedy.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for (code, meaning) in mcp_bash_wire::code::MEANINGS {
        let _ = writeln!(page, "| `{code}` | {meaning} |");
    }
    page.push_str(
        "\nA script may answer with a code of its own ([bash-sdk.md](bash-sdk.md#errors-of-the-protocol)), and so may a policy\n\
         ([security.md](security.md#which-tools-may-run)).\n",
    );
    expect_page("errors.md", &page);
    let source = include_str!("../crates/wire/src/error.rs");
    let named = source.lines().filter(|line| line.contains("pub const") && line.contains(": i32 = ")).count();
    assert_eq!(named, mcp_bash_wire::code::MEANINGS.len(), "each code has a meaning");
}

#[test]
fn the_page_for_those_who_come_from_mcp_bash_names_the_settings_that_there_are() {
    let page =
        std::fs::read_to_string(page("migrating-from-mcp-bash.md")).expect("docs/migrating-from-mcp-bash.md");
    let table = reference();
    let words = page.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let named: Vec<&str> =
        words.filter(|word| word.starts_with("MCPBASH_") || word.starts_with("MCP_")).collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(table.contains(&format!("`{name}`")), "{name} is no setting");
    }
}
