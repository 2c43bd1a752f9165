//! Next steps: what the user reads after something was created: where it is, what to mind, what to do next.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::terminal::print::print;
use mcp_bash_harmless::shell_word;
use mcp_bash_terminal::{harmless, visible};
use std::fmt::Write;
use std::path::Path;

#[derive(Default)]
pub(crate) struct NextSteps {
    /// What to mind.
    pub(crate) notes: Vec<String>,
    /// Commands, and the purpose of each.
    steps: Vec<(String, &'static str)>,
}

impl NextSteps {
    pub(crate) fn step(mut self, command: impl Into<String>, why: &'static str) -> Self {
        self.steps.push((command.into(), why));
        self
    }

    /// Prints the steps, after what was done.
    pub(crate) fn say(self, common: &Common, done: &str) -> Result<(), Error> {
        let mut text = done.to_owned();
        for note in &self.notes {
            let _ = writeln!(text, "\nNote: {}", visible(note));
        }
        if !self.steps.is_empty() {
            text.push_str("\nNext steps:\n");
        }
        let commands: Vec<String> =
            self.steps.iter().map(|(command, _)| for_project(command, common)).collect();
        let width = commands.iter().map(|command| command.chars().count()).max().unwrap_or(0);
        for (command, (_, why)) in commands.iter().zip(&self.steps) {
            let _ = writeln!(text, "  {command:width$}   # {why}");
        }
        say_text(common, &text)
    }
}

/// Prints a text, unless `--quiet`.
pub(crate) fn say_text(common: &Common, text: &str) -> Result<(), Error> {
    if common.quiet {
        return Ok(());
    }
    print(&harmless(text))
}

/// A path as the user would write it here.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let below = path.strip_prefix(&here).ok().filter(|below| !below.as_os_str().is_empty());
    visible(&below.unwrap_or(path).to_string_lossy())
}

/// A command for the named project, if one was named.
fn for_project(command: &str, common: &Common) -> String {
    match &common.project_root {
        Some(root) if command.starts_with("mcp-bash ") => {
            format!("{command} --project-root {}", shell_word(&root.to_string_lossy()))
        }
        _ => command.to_owned(),
    }
}
