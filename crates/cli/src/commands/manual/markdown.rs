//! `docs/commands.md`: the manual as one page of the documentation.

use super::{Page, choices, term};
use crate::base::exit::Exit;
use clap::Arg;
use std::fmt::Write as _;

/// The whole page.
pub(super) fn document(pages: &[Page]) -> String {
    let mut text = String::from(
        "# Commands\n\n\
         What `mcp-bash COMMAND --help` and `mcp-bash man COMMAND` say, on one page. It is generated from the code; a test fails when it is \
         not up to date.\n\n",
    );
    let global: Vec<&Arg> =
        pages[0].command.get_arguments().filter(|argument| argument.is_global_set()).collect();
    for page in pages {
        section(&mut text, page, &global);
    }
    let _ = write!(text, "## Exit codes\n\n{}", exit_codes());
    text.push_str("\nThe help of a command says where a code means something more special.\n");
    text
}

/// The exit codes as a table.
pub(super) fn exit_codes() -> String {
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    for (exit, meaning) in Exit::ALL {
        let _ = writeln!(table, "| {} | {meaning} |", exit.number());
    }
    table
}

fn section(text: &mut String, page: &Page, global: &[&Arg]) {
    let command = &page.command;
    let is_program = page.name.len() == 1;
    let heading = if is_program { "mcp-bash".to_owned() } else { page.name[1..].join(" ") };
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "## {heading}\n\n{}\n", about.trim());
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage:").trim());
    let is_own = |argument: &&Arg| {
        is_program
            || !global.iter().any(|known| known.get_id() == argument.get_id()) && argument.get_id() != "help"
    };
    let own: Vec<&Arg> =
        command.get_arguments().filter(|argument| !argument.is_hide_set()).filter(is_own).collect();
    if !own.is_empty() {
        text.push_str("\n| argument | meaning |\n|---|---|\n");
    }
    for argument in own {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let choices = choices(argument);
        let choices = if choices.is_empty() { String::new() } else { format!(" ({})", choices.join(", ")) };
        let _ = writeln!(text, "| `{}` | {} |", cell(&term(argument)), cell(&format!("{help}{choices}")));
    }
    let after = page.after_help();
    if !after.is_empty() {
        let _ = write!(text, "\n```text\n{}\n```\n", after.trim_end());
    }
    text.push('\n');
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
