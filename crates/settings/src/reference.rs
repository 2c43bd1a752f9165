//! Settings reference: the table for users, `docs/settings.md`.

use crate::environment_only;
use crate::moot::MOOT;
use crate::table::TABLE;
use std::fmt::Write;

/// The table of all settings in Markdown.
pub fn reference() -> String {
    let mut table = String::from("| Variable | Type | Default | Meaning |\n|---|---|---|---|\n");
    for setting in TABLE {
        let (name, kind, default) = (setting.name(), setting.kind(), setting.default());
        let only = environment_only::reason(name)
            .map_or_else(String::new, |reason| format!(". *Environment only: {reason}*"));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {kind} | {default} | {}{only} |", setting.meaning());
    }
    table.push_str(
        "\n## Variables of the reference that change nothing here\n\n| Variable | Why |\n|---|---|\n",
    );
    for (name, why) in MOOT {
        let _ = writeln!(table, "| `{name}` | {why} |");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_four_cells() {
        let text = reference();
        let (settings, moot) = text.split_once("\n## ").unwrap();
        assert!(settings.lines().all(|line| line.matches('|').count() == 5), "{settings}");
        let rows = moot.lines().filter(|line| line.starts_with('|'));
        assert!(
            rows.clone().count() > 2 && rows.clone().all(|line| line.matches('|').count() == 3),
            "{moot}"
        );
    }
}
