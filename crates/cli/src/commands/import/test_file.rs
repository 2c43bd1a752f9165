//! Test file of an imported script: cases that compare the command of a call with the expected one, and run nothing.

use super::error::ImportError;
use mcp_bash_importing::{Sample, Tool};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Writes the cases of a tool, unless there is a file of this name.
pub(super) fn write(folder: &Path, tool: &Tool) -> Result<(), ImportError> {
    let file = folder.join(format!("{}.yaml", tool.name));
    let written = DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)
        .and_then(|()| mcp_bash_files::create_new(&file, 0o644))
        .and_then(|mut opened| opened.write_all(text(tool).as_bytes()));
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(ImportError::Write { file, source }),
        Ok(()) => Ok(()),
    }
}

fn text(tool: &Tool) -> String {
    let mut text =
        String::from("# The commands that calls would run. Nothing is run: `command` only compares.\n");
    let (all, required) = (tool.sample(true), tool.sample(false));
    case(&mut text, tool, "all arguments", &all);
    if required != all {
        case(&mut text, tool, "required arguments only", &required);
    }
    text
}

fn case(text: &mut String, tool: &Tool, name: &str, sample: &Sample) {
    let _ = writeln!(
        text,
        "- name: {name}\n  tool: {}\n  arguments: {}\n  expect:",
        json!(tool.name),
        sample.arguments
    );
    let _ = writeln!(text, "    command: {}", json!(sample.command));
    if !sample.variables.is_empty() {
        let _ = writeln!(text, "    variables: {}", Value::from(sample.variables.clone()));
    }
    if let Some(stdin) = &sample.stdin {
        let _ = writeln!(text, "    stdin: {}", json!(stdin));
    }
}
