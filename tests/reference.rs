//! The reference documents say what the code does.

use mcp_bash_settings::TABLE;
use std::fmt::Write;
use std::path::Path;

#[test]
fn the_table_of_settings_is_the_one_in_the_code() {
    let mut table = String::from("| Variable | Default | Meaning |\n|---|---|---|\n");
    for setting in TABLE {
        let default =
            if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        writeln!(table, "| `{}` | {default} | {} |", setting.name, setting.meaning).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let text = std::fs::read_to_string(&path).expect("docs/settings.md");
    let start = text.find("| Variable |").unwrap_or(text.len());
    let expected = format!("{}{table}", &text[..start]);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert_eq!(text, expected, "run the tests once with UPDATE_REFERENCE=1 to write the table anew");
    }
}
