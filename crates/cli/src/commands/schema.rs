//! `mcp-bash schema`: the JSON schemas of a project's files, for editors and other programs.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::scaffold::{Draft, SCHEMAS, SCHEMAS_FOLDER, ScaffoldError, say_text};
use crate::open::startup;
use mcp_bash_project::Location;
use std::fmt::Write;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The schema to print; without a name, lists all of them
    #[arg(value_parser = SCHEMAS.iter().map(|(name, _)| *name).collect::<Vec<_>>())]
    name: Option<String>,

    /// Write all of them into `.schemas/` of the project, replacing older versions
    #[arg(long, conflicts_with = "name")]
    write: bool,
}

/// The largest schema that is compared with ours, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  mcp-bash schema             which ones there are
  mcp-bash schema tool        the one of tool.meta.json
  mcp-bash schema --write     renew .schemas/ after an update of mcp-bash";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.write {
        return write_all(common);
    }
    let text = match &arguments.name {
        Some(name) => SCHEMAS.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text).to_owned(),
        None => list(),
    };
    say_text(&Common::default(), &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Each of them with its own description.
fn list() -> String {
    let mut text = String::new();
    for (name, schema) in SCHEMAS {
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap_or_default();
        let _ = writeln!(text, "{name:10}{}", schema["title"].as_str().unwrap_or_default());
    }
    text
}

fn write_all(common: &Common) -> Result<ExitCode, Error> {
    let (settings, _) = startup::settings();
    let Location::Folder(root) = startup::location(common, &settings)? else {
        return Err(ScaffoldError::NoProject.into());
    };
    let mut told = String::new();
    for (name, schema) in SCHEMAS {
        let file = root.join(SCHEMAS_FOLDER).join(format!("{name}.schema.json"));
        let mut draft = Draft::default();
        let what = match mcp_bash_files::read_text(&file, LONGEST) {
            Ok(written) if written == *schema => continue,
            Ok(_) => {
                draft.change(file, (*schema).to_owned());
                "Updated"
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                draft.file(file, *schema);
                "Created"
            }
            Err(source) => return Err(Error::Read { path: file, source }),
        };
        draft.write()?;
        let _ = writeln!(told, "  {what} {SCHEMAS_FOLDER}/{name}.schema.json");
    }
    let told = if told.is_empty() { format!("{SCHEMAS_FOLDER} is up to date\n") } else { told };
    say_text(common, &told)?;
    Ok(ExitCode::SUCCESS)
}
