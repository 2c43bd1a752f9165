//! Welcome text for a user who starts the server by hand.

use crate::open::startup;
use mcp_bash_project::{Catalog, Location};
use mcp_bash_scripts::FileInProgress;
use std::fmt::Write as _;

/// What is served, and what to do next.
pub(crate) fn text(
    location: &Location,
    catalog: &Catalog,
    in_progress: &[FileInProgress],
    minimal: bool,
) -> String {
    let mut text = format!("mcp-bash {} ", env!("CARGO_PKG_VERSION"));
    match location {
        Location::Folder(folder) => {
            let _ = writeln!(text, "serves {} over standard input and output.", folder.display());
        }
        Location::Embedded => {
            text.push_str("serves its built-in project: no other was found here.\n");
        }
    }
    for diagnostic in &catalog.diagnostics {
        let _ = writeln!(text, "  problem: {diagnostic}");
    }
    match catalog.tools.len() {
        _ if minimal => text.push_str("  minimal mode: lifecycle, ping and logging only\n"),
        0 if in_progress.is_empty() => text.push_str("  no tools yet\n"),
        0 => {}
        _ => {
            let names: Vec<&str> =
                catalog.tools.items().iter().map(|tool| tool.name.as_str()).take(12).collect();
            let more = catalog.tools.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = writeln!(text, "  tools: {}{more}", names.join(", "));
        }
    }
    if !in_progress.is_empty() {
        let _ = writeln!(text, "  being loaded: {}", startup::names_of(in_progress, &catalog.paths));
    }
    text.push_str(
        "It now waits for JSON-RPC messages, one a line. That is a program's job: give your MCP client this command\n\
         to start, or run `mcp-bash demo` to see a client at work. Ctrl-C ends it.\n",
    );
    text
}
