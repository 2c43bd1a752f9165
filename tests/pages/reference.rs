//! The reference pages match the code.

use mcp_bash_settings::reference;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compares a generated page of `docs/` with the code, or writes it again on request.
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
fn the_table_of_settings_matches_the_code() {
    let text = std::fs::read_to_string(page("settings.md")).expect("docs/settings.md");
    let start = text.find("| Variable |").unwrap_or(text.len());
    expect_page("settings.md", &format!("{}{}", &text[..start], reference()));
}

/// The files of a project that the metadata page describes: each with its published schema.
const METADATA: [(&str, &str); 4] = [
    (
        "A tool: `tools/NAME/tool.meta.json`, or `NAME.meta.json` beside a script",
        include_str!("../../schemas/tool.schema.json"),
    ),
    ("A prompt: `prompts/NAME.meta.json`", include_str!("../../schemas/prompt.schema.json")),
    (
        "A resource or a template: `resources/NAME.meta.json`",
        include_str!("../../schemas/resource.schema.json"),
    ),
    ("The server: `server.d/server.meta.json`", include_str!("../../schemas/server.schema.json")),
];

#[test]
fn the_metadata_page_is_generated_from_the_schemas() {
    let mut page = String::from(
        "# What can metadata say?\n\n\
         Everything but what a script does. All of it is optional, and the same in YAML (`NAME.meta.yaml`) and in a comment of\n\
         the script (`# mcp: {…}`). `mcp-bash schema --write` puts JSON schemas into a project, with which editors complete and\n\
         explain these members; `mcp-bash validate` finds what is misspelt.\n",
    );
    for (title, schema) in METADATA {
        let schema: Value = serde_json::from_str(schema).expect("a schema");
        let _ = write!(page, "\n## {title}\n\n| member | type | meaning |\n|---|---|---|\n");
        for (name, member) in schema["properties"].as_object().expect("members") {
            let description = member["description"].as_str().unwrap_or_default().replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | {} | {description} |", kind(member));
        }
    }
    page.push_str(
        "\nHow arguments are mapped to words, variables and standard input (`argv`, `command`, `env`, `stdin`):\n\
         [arguments.md](arguments.md). Settings of a project: [settings.md](settings.md). Entries by hand:\n\
         [project.md](project.md#registering-by-hand). Arguments that clients repeat in headers (`x-mcp-header`):\n\
         [arguments.md](arguments.md#arguments-in-headers).\n",
    );
    expect_page("metadata.md", &page);
}

/// The types that a schema allows.
fn kind(schema: &Value) -> String {
    let mut types: Vec<&str> = Vec::new();
    for part in std::iter::once(schema)
        .chain(["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten())
    {
        match &part["type"] {
            Value::String(name) => types.push(name),
            Value::Array(names) => types.extend(names.iter().filter_map(Value::as_str)),
            _ => {}
        }
    }
    types.dedup();
    if types.is_empty() { "any".to_owned() } else { types.join(" or ") }
}

#[test]
fn the_errors_page_has_every_code() {
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
        "\nIf a skipped file had the unknown tool before, or names it, the message says so: `Unknown tool: look (tools/look.py:3 is skipped:\n\
         SyntaxError: invalid syntax)`. Of a call that ended with `-32603` the log says which kind of failure it was, in the event \"a call failed\".\n\n\
         A script may answer with a code of its own ([bash-sdk.md](bash-sdk.md#errors-of-the-protocol)), and so may a policy\n\
         ([security.md](security.md#which-tools-may-run)).\n",
    );
    expect_page("errors.md", &page);
    let source = include_str!("../../crates/wire/src/error.rs");
    let named = source.lines().filter(|line| line.contains("pub const") && line.contains(": i32 = ")).count();
    assert_eq!(named, mcp_bash_wire::code::MEANINGS.len(), "each code has a meaning");
}

#[test]
fn the_migration_page_names_existing_settings() {
    let page =
        std::fs::read_to_string(page("migrating-from-mcp-bash.md")).expect("docs/migrating-from-mcp-bash.md");
    let table = reference();
    let words = page.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let named: Vec<&str> =
        words.filter(|word| word.starts_with("MCPBASH_") || word.starts_with("MCP_")).collect();
    assert!(named.len() > 3, "{named:?}");
    for name in named {
        assert!(table.contains(&format!("`{name}`")), "{name} is no setting");
    }
}
