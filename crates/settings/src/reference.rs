//! The table as people read it: `docs/settings.md`.

use crate::environment_only;
use crate::table::TABLE;
use std::fmt::Write;

/// The table of all settings in Markdown.
pub fn reference() -> String {
    let mut table = String::from("| Variable | Type | Default | Meaning |\n|---|---|---|---|\n");
    for setting in TABLE {
        let (name, kind, default) = (setting.name(), setting.kind(), setting.default());
        let only = environment_only::reason(name)
            .map_or_else(String::new, |reason| format!(". *Environment only: {reason}*"));
        // Writing to a string does not fail.
        let _ = writeln!(table, "| `{name}` | {kind} | {default} | {}{only} |", setting.meaning());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_four_cells() {
        for line in reference().lines() {
            assert_eq!(line.matches('|').count(), 5, "{line}");
        }
    }
}
