//! `mcp-bash read`: prints the content of a resource, as text or as bytes.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::error::CallError;
use crate::commands::call::save::decoded;
use crate::commands::call::show::Shown;
use crate::open::connect::ServerArguments;
use crate::open::talk::{Talk, exit_of, refused};
use crate::terminal::print::{print, print_json};
use mcp_bash_terminal::for_stdout;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The URI of the resource, from `mcp-bash list resources` or from a template
    uri: String,

    /// Print the result as JSON on one line, exactly as the server sent it
    #[arg(long)]
    json: bool,

    /// Write it to this file, which must not exist
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["json", "save"])]
    output: Option<PathBuf>,

    /// Save it in this folder under its own name; nothing there is overwritten
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    save: Option<PathBuf>,

    #[command(flatten)]
    server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash read file:///srv/notes.txt
  mcp-bash read db://users/7 --json
  mcp-bash read file:///srv/photo.png -o photo.png
  mcp-bash read test://static --command \"npx -y some-server\"

Bytes that are no text go to standard output only where it is no terminal.";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let uri = arguments.uri.as_str();
    let result = Talk::with(common, &arguments.server, |talk| {
        match talk.request("resources/read", &json!({ "uri": uri })) {
            Err(failure) if exit_of(&failure) == Exit::NotFound && !arguments.json => {
                // If the server cannot list, there are no suggestions.
                let known = talk.entries("resources/list", "resources").unwrap_or_default();
                let known: Vec<&str> = known.iter().filter_map(|entry| entry["uri"].as_str()).collect();
                Err(Error::of_command(
                    Exit::NotFound,
                    CallError::not_found("resource", uri, &known, "resources"),
                ))
            }
            answer => answer.map_err(|failure| refused(failure, arguments.json)),
        }
    })?;
    if arguments.json {
        print_json(result.get())?;
        return Ok(ExitCode::SUCCESS);
    }
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    match &arguments.output {
        Some(file) => write_to(file, contents)?,
        None => show_contents(arguments, contents)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show_contents(arguments: &Arguments, contents: &[Value]) -> Result<(), Error> {
    let is_for_person = io::stdout().is_terminal() || arguments.save.is_some();
    if !is_for_person {
        let failed =
            |source: io::Error| Error::of_command(Exit::Failed, format!("failed to write: {source}"));
        return match io::stdout().write_all(&bytes_of(contents)?).and_then(|()| io::stdout().flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(failed),
        };
    }
    let shown = Shown { name: &arguments.uri, save: arguments.save.as_deref() };
    let mut text = String::new();
    for content in contents {
        shown.push_resource(&mut text, content)?;
    }
    print(&for_stdout(text))
}

fn write_to(file: &Path, contents: &[Value]) -> Result<(), Error> {
    let bytes = bytes_of(contents)?;
    let opened = mcp_bash_files::create_new(file, 0o666);
    let written = opened.and_then(|mut file| file.write_all(&bytes));
    written.map_err(|error| {
        let exit = if error.kind() == io::ErrorKind::AlreadyExists { Exit::Refused } else { Exit::Failed };
        Error::of_command(exit, format!("failed to write {}: {error}", file.display()))
    })
}

/// All contents as they are, one after the other.
fn bytes_of(contents: &[Value]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for content in contents {
        match (content["text"].as_str(), content["blob"].as_str()) {
            (Some(text), _) => bytes.extend_from_slice(text.as_bytes()),
            (None, blob) => {
                let blob = decoded(blob.unwrap_or_default());
                bytes.extend(
                    blob.map_err(|error| {
                        Error::of_command(Exit::Failed, format!("the resource has {error}"))
                    })?,
                );
            }
        }
    }
    Ok(bytes)
}
