//! `mcp-bash list`: what a server offers, as a table for people or as JSON.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::parameters::Parameters;
use crate::open::connect::ServerArguments;
use crate::open::talk::Talk;
use crate::terminal::print::{print, print_json};
use clap::ValueEnum;
use mcp_bash_terminal::{Terminal, complain, harmless_line};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to list [default: everything]
    #[arg(value_enum)]
    kind: Option<EntryKind>,

    /// Print the entries as JSON, exactly as clients receive them
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash list
  mcp-bash list tools -v
  mcp-bash list resources --json | jq -r .[].uri
  mcp-bash list --command \"npx -y some-server\"";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EntryKind {
    Tools,
    Resources,
    Prompts,
    Templates,
    Completions,
}

pub(crate) const ALL: [EntryKind; 5] = [
    EntryKind::Tools,
    EntryKind::Resources,
    EntryKind::Templates,
    EntryKind::Prompts,
    EntryKind::Completions,
];

impl EntryKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Templates => "templates",
            Self::Completions => "completions",
        }
    }

    /// The method that lists it, the member of its result, and its capability.
    fn request(self) -> Option<(&'static str, &'static str, &'static str)> {
        match self {
            Self::Tools => Some(("tools/list", "tools", "tools")),
            Self::Resources => Some(("resources/list", "resources", "resources")),
            Self::Prompts => Some(("prompts/list", "prompts", "prompts")),
            Self::Templates => Some(("resources/templates/list", "resourceTemplates", "resources")),
            Self::Completions => None,
        }
    }

    /// The member that identifies an entry.
    fn key(self) -> &'static str {
        match self {
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
            _ => "name",
        }
    }
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let kinds = arguments.kind.map_or_else(|| ALL.to_vec(), |kind| vec![kind]);
    let (listed, skipped) = Talk::with(common, &arguments.server, |talk| {
        let listed = kinds.iter().map(|kind| Ok((*kind, entries(talk, *kind, arguments.kind.is_some())?)));
        let listed: Vec<(EntryKind, Vec<Value>)> = listed.collect::<Result<_, Error>>()?;
        Ok((listed, std::mem::take(&mut talk.skipped)))
    })?;
    if !common.quiet {
        complain_of(&skipped);
    }
    if arguments.json {
        let document = match (&*listed, arguments.kind) {
            ([(_, entries)], Some(_)) => Value::Array(entries.clone()),
            _ => Value::Object(
                listed.into_iter().map(|(kind, entries)| (kind.name().to_owned(), entries.into())).collect(),
            ),
        };
        print_json(&document.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = Terminal::of_stdout();
    let mut text = String::new();
    for (kind, entries) in &listed {
        if arguments.kind.is_none() && !entries.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(
                text,
                "{gap}{}",
                terminal.painted("1", &format!("{} ({})", kind.name(), entries.len()))
            );
        }
        push_table(&mut text, *kind, entries, common.verbose, terminal);
    }
    if text.is_empty() && !common.quiet {
        let what = arguments.kind.map_or("anything", EntryKind::name);
        complain(&format!("the server does not offer {what}"));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Reports what is missing from the list, at most the first few.
fn complain_of(skipped: &[String]) {
    const SHOWN: usize = 3;

    skipped.iter().take(SHOWN).for_each(|skip| complain(skip));
    if skipped.len() > SHOWN {
        let more = skipped.len() - SHOWN;
        complain(&format!("{more} more: `mcp-bash validate` tells what is missing from the list, and why"));
    }
}

/// The entries of one kind: none if the server lacks the kind, unless it was requested by name and is not available.
pub(crate) fn entries(talk: &mut Talk, kind: EntryKind, is_named: bool) -> Result<Vec<Value>, Error> {
    let Some((method, member, capability)) = kind.request() else {
        return match &talk.completions {
            Some(names) => Ok(names.iter().map(|name| json!({ "name": name })).collect()),
            None if is_named => Err(Error::of_command(
                Exit::Usage,
                "the protocol has no list of completions; `mcp-bash complete` asks for one",
            )),
            None => Ok(Vec::new()),
        };
    };
    if !talk.offers(capability) {
        return Ok(Vec::new());
    }
    Ok(talk.entries(method, member)?)
}

/// Adds a table of entries.
pub(crate) fn push_table(
    text: &mut String,
    kind: EntryKind,
    entries: &[Value],
    is_verbose: bool,
    terminal: Terminal,
) {
    /// Longer names get a line of their own.
    const WIDEST: usize = 40;
    let name_of = |entry: &Value| harmless_line(entry[kind.key()].as_str().unwrap_or_default());
    let widths = entries.iter().map(|entry| name_of(entry).chars().count());
    let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0);
    for entry in entries {
        let (name, about) = (name_of(entry), about(kind, entry));
        let line = format!("{}  {about}", terminal.painted("36", &format!("{name:width$}")));
        let _ = writeln!(text, "{}", line.trim_end());
        if is_verbose {
            push_details(text, kind, entry);
        }
    }
}

/// The description of an entry on one line.
fn about(kind: EntryKind, entry: &Value) -> String {
    let said = |member: &str| entry[member].as_str().filter(|text| !text.is_empty());
    let description = said("description").or(said("title")).unwrap_or_default();
    let first = description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match kind {
        EntryKind::Resources | EntryKind::Templates => {
            let name = said("name").unwrap_or_default();
            harmless_line(&if first.is_empty() { name.to_owned() } else { format!("{name}: {first}") })
        }
        _ => harmless_line(first),
    }
}

/// The arguments of a tool or a prompt, one per line.
fn push_details(text: &mut String, kind: EntryKind, entry: &Value) {
    match kind {
        EntryKind::Tools => {
            for parameter in Parameters::of(&entry["inputSchema"]).list {
                let mark = if parameter.is_required { ", required" } else { "" };
                let about = harmless_line(&parameter.description);
                let line = format!(
                    "    {} ({}{mark})  {about}",
                    harmless_line(&parameter.name),
                    parameter.kind.name()
                );
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        EntryKind::Prompts => {
            for argument in entry["arguments"].as_array().into_iter().flatten() {
                let said = |member: &str| harmless_line(argument[member].as_str().unwrap_or_default());
                let mark = if argument["required"] == true { " (required)" } else { "" };
                let _ = writeln!(
                    text,
                    "{}",
                    format!("    {}{mark}  {}", said("name"), said("description")).trim_end()
                );
            }
        }
        _ => {
            if let Some(mime) = entry["mimeType"].as_str() {
                let _ = writeln!(text, "    {}", harmless_line(mime));
            }
        }
    }
}
