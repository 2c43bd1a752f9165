//! `mcp-bash man`: manual pages, generated from the command line itself, so that they say what `--help` says.

#[cfg(test)]
mod markdown;
mod roff;
#[cfg(test)]
mod tests;

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use clap::Command;
use mcp_bash_spelling::nearest;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  mcp-bash man | man -l -                       the page of mcp-bash itself
  mcp-bash man import | man -l -                the page of one command
  mcp-bash man --output ~/.local/share/man/man1     all pages, for `man mcp-bash-import`

Exit codes: 0 printed or written, 1 failed to write, 2 usage, 4 no such command.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The command whose page to print [default: mcp-bash itself]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    commands: Vec<String>,

    /// Write the pages of all commands to this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, whole: Command) -> Result<ExitCode, Error> {
    let pages = pages(whole);
    match &arguments.output {
        Some(folder) => write_all(folder, &pages)?,
        None => print(&roff::page(page(&pages, &arguments.commands)?, &pages))?,
    }
    Ok(Exit::Done.into())
}

/// A command, and its full name: `mcp-bash registry refresh`.
pub(crate) struct Page {
    name: Vec<String>,
    command: Command,
}

impl Page {
    /// The name of the page: `mcp-bash-registry-refresh`.
    fn file_stem(&self) -> String {
        self.name.join("-")
    }

    /// The help after the options: examples and exit codes.
    fn after_help(&self) -> String {
        let help = self.command.get_after_long_help().or(self.command.get_after_help());
        help.map(ToString::to_string).unwrap_or_default()
    }
}

/// All visible commands, each after the one it belongs to.
fn pages(mut whole: Command) -> Vec<Page> {
    whole.build();
    let mut pages = Vec::new();
    add(&whole, &mut vec![whole.get_name().to_owned()], &mut pages);
    pages
}

fn add(command: &Command, name: &mut Vec<String>, pages: &mut Vec<Page>) {
    pages.push(Page { name: name.clone(), command: command.clone() });
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
    {
        name.push(inner.get_name().to_owned());
        add(inner, name, pages);
        name.pop();
    }
}

fn page<'p>(pages: &'p [Page], commands: &[String]) -> Result<&'p Page, Error> {
    if let Some(page) = pages.iter().find(|page| page.name[1..] == *commands) {
        return Ok(page);
    }
    let name = commands.join(" ");
    let names: Vec<String> = pages.iter().map(|page| page.name[1..].join(" ")).collect();
    let suggestion = nearest(&name, names.iter().map(String::as_str)).map(str::to_owned);
    Err(Error::NoCommand { name, suggestion })
}

fn write_all(folder: &Path, pages: &[Page]) -> Result<(), Error> {
    let failed = |path: &Path, source| Error::Write { path: path.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    for page in pages {
        let path = folder.join(format!("{}.1", page.file_stem()));
        // Concurrent readers of a page see the old one.
        let written = mcp_bash_files::write_whole(&path, roff::page(page, pages).as_bytes());
        written.map_err(|source| failed(&path, source))?;
    }
    Ok(())
}

/// How an argument is written: `-o, --output <DIR>`, `<FILE>...`.
fn term(argument: &clap::Arg) -> String {
    let values = match argument.get_value_names() {
        Some(names) if argument.get_action().takes_values() => {
            names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    if argument.is_positional() {
        let many = matches!(argument.get_action(), clap::ArgAction::Append);
        let values = if values.is_empty() { format!("<{}>", argument.get_id()) } else { values };
        return if many { format!("{values}...") } else { values };
    }
    let letter = argument.get_short().map(|letter| format!("-{letter}"));
    let name = argument.get_long().map(|name| format!("--{name}"));
    let names = letter.into_iter().chain(name).collect::<Vec<_>>().join(", ");
    if values.is_empty() { names } else { format!("{names} {values}") }
}

/// The values that an argument may have, if there are only some.
fn choices(argument: &clap::Arg) -> Vec<String> {
    if !argument.get_action().takes_values() {
        return Vec::new();
    }
    let values = argument.get_possible_values();
    values.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name().to_owned()).collect()
}
