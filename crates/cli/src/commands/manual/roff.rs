//! Manual page in roff, the language that `man` reads.
//!
//! Not `clap_mangen`: it and the crate `roff` would come into the binary for a hundred lines here, and the exit codes would
//! still be ours to write.

use super::Page;
use crate::base::exit::Exit;
use clap::{Arg, Command};
use std::fmt::Write as _;

/// One page, with references to the pages of the commands below it and of the program.
pub(super) fn page(page: &Page, pages: &[Page]) -> String {
    let (command, name) = (&page.command, page.name.join(" "));
    let mut text = format!(
        ".TH {} 1 \"\" \"mcp-bash {}\" \"mcp-bash\"\n",
        escaped(&page.file_stem()).to_uppercase(),
        env!("CARGO_PKG_VERSION")
    );
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, ".SH NAME\n{} \\- {}\n", escaped(&page.file_stem()), escaped(&about));
    text.push_str(".SH SYNOPSIS\n");
    for line in synopsis(command).lines() {
        let _ = writeln!(text, ".nf\n{}\n.fi", escaped(line.trim()));
    }
    text.push_str(".SH DESCRIPTION\n");
    let long = command.get_long_about().map_or(about, ToString::to_string);
    paragraphs(&mut text, &long);
    let below: Vec<&Command> = command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
    if !below.is_empty() {
        text.push_str(".SH COMMANDS\n");
        for inner in below {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escaped(inner.get_name()), escaped(&about));
        }
    }
    arguments(&mut text, "ARGUMENTS", command.get_positionals());
    arguments(&mut text, "OPTIONS", command.get_arguments().filter(|argument| !argument.is_positional()));
    let after = page.after_help();
    if !after.is_empty() {
        let heading = if after.starts_with("Examples") { "EXAMPLES" } else { "NOTES" };
        let after = after.strip_prefix("Examples:").unwrap_or(&after);
        let lines: Vec<String> = after.trim_matches('\n').lines().map(escaped).collect();
        let _ = write!(text, ".SH {heading}\n.nf\n{}\n.fi\n", lines.join("\n"));
    }
    text.push_str(".SH EXIT STATUS\n");
    for (exit, meaning) in Exit::ALL {
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", exit.number(), escaped(meaning));
    }
    see_also(&mut text, page, pages, &name);
    text
}

fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    usage.trim_start_matches("Usage:").trim().to_owned()
}

fn arguments<'a>(text: &mut String, heading: &str, arguments: impl Iterator<Item = &'a Arg>) {
    let mut shown = arguments.filter(|argument| !argument.is_hide_set()).peekable();
    if shown.peek().is_none() {
        return;
    }
    let _ = writeln!(text, ".SH {heading}");
    for argument in shown {
        let help =
            argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let mut help = escaped(&help);
        let choices = super::choices(argument);
        if !choices.is_empty() {
            let _ = write!(help, " [one of: {}]", escaped(&choices.join(", ")));
        }
        let _ = write!(text, ".TP\n\\fB{}\\fR\n{}\n", escaped(&super::term(argument)), help);
    }
}

fn see_also(text: &mut String, page: &Page, pages: &[Page], name: &str) {
    let is_near = |other: &&Page| {
        let other_name = other.name.join(" ");
        let is_below = other_name.starts_with(&format!("{name} ")) && other.name.len() == page.name.len() + 1;
        is_below || other.name.len() + 1 == page.name.len() && name.starts_with(&other_name)
    };
    let near: Vec<String> = pages
        .iter()
        .filter(is_near)
        .map(|other| format!("\\fB{}\\fR(1)", escaped(&other.file_stem())))
        .collect();
    if !near.is_empty() {
        let _ = write!(text, ".SH SEE ALSO\n{}\n", near.join(",\n"));
    }
}

fn paragraphs(text: &mut String, words: &str) {
    for (index, paragraph) in words.split("\n\n").enumerate() {
        if index > 0 {
            text.push_str(".PP\n");
        }
        let _ = writeln!(text, "{}", escaped(&paragraph.replace('\n', " ")));
    }
}

/// A text escaped for roff: backslashes, dashes, and dots or quotes at the beginning of a line.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let line =
        |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
