//! Review: what the user sees, and is asked, before anything is written.

use super::error::ImportError;
use super::tool_file;
use crate::base::error::Error;
use crate::terminal::print::print;
use mcp_bash_harmless::clip;
use mcp_bash_harmless::painted;
use mcp_bash_importing::{Argument, Effect, LeftOut, Tool};
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{Terminal, can_ask, confirm};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// One import.
pub(super) struct Review {
    /// The source, for people.
    pub(super) from: String,
    pub(super) tools: Vec<Tool>,
    pub(super) left_out: Vec<LeftOut>,
    /// The folder for the files.
    pub(super) folder: PathBuf,
    /// The folder for their tests.
    pub(super) tests: PathBuf,
    pub(super) has_tests: bool,
}

/// The verdict on a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    New,
    Written,
    /// Why it is not written.
    Skipped(String),
}

impl Review {
    pub(super) fn file(&self, tool: &Tool) -> PathBuf {
        tool_file::path(&self.folder, &tool.name)
    }

    pub(super) fn nothing(self) -> ImportError {
        ImportError::Nothing { from: self.from, left_out: self.left_out }
    }

    /// Shows each file that would be written, and those that would not.
    pub(super) fn show(&self, verdicts: &[Verdict], is_quiet: bool) -> Result<(), Error> {
        let terminal = Terminal::of_stdout();
        let mut text = String::new();
        if !is_quiet {
            for (tool, verdict) in self.tools.iter().zip(verdicts) {
                if *verdict == Verdict::New {
                    describe(&mut text, tool, &self.file(tool), terminal);
                }
            }
        }
        for (tool, verdict) in self.tools.iter().zip(verdicts) {
            if let Verdict::Skipped(why) = verdict {
                let _ = writeln!(text, "{} is skipped: {why}", terminal.painted("33", &tool.name));
            }
        }
        if !is_quiet {
            for left in &self.left_out {
                let _ = writeln!(
                    text,
                    "{} is left out: {}",
                    terminal.painted("33", &shown(&left.what)),
                    left.why
                );
            }
        }
        print(&painted(&text))
    }

    /// Reports what was written, or how to write it.
    pub(super) fn conclude(&self, verdicts: &[Verdict], is_json: bool, is_quiet: bool) -> Result<(), Error> {
        if is_json {
            return print(&format!("{:#}\n", self.to_json(verdicts)));
        }
        let (new, written) = (count(verdicts, &Verdict::New), count(verdicts, &Verdict::Written));
        let folder = self.folder.display();
        let words = match (new, written) {
            (0, 0) => "Nothing was written: there is nothing new.\n".to_owned(),
            (0, _) if is_quiet => String::new(),
            (0, written) if self.has_tests => format!(
                "Wrote {} to {folder}, and a case file for each to {}: `mcp-bash test` compares the commands of calls, and \
                 runs no script. Read the drafts, and complete what is unsure.\n",
                counted(written, "file"),
                self.tests.display()
            ),
            (0, written) => format!(
                "Wrote {} to {folder}. Look at them, change them as you like; `mcp-bash health` says whether they can be \
                 served.\n",
                counted(written, "file")
            ),
            (new, _) => {
                format!("Nothing was written. `--yes` writes {} to {folder}.\n", counted(new, "file"))
            }
        };
        print(&painted(&words))
    }

    fn to_json(&self, verdicts: &[Verdict]) -> Value {
        let tool = |(tool, verdict): (&Tool, &Verdict)| {
            let (status, why) = match verdict {
                Verdict::New => ("new", None),
                Verdict::Written => ("written", None),
                Verdict::Skipped(why) => ("skipped", Some(why)),
            };
            json!({
                "name": tool.name,
                "origin": tool.origin,
                "file": self.file(tool),
                "status": status,
                "why": why,
                "unsure": tool.doubts,
                "lacks": tool.gaps,
                "needs": tool.needs,
                "metadata": tool.metadata(),
            })
        };
        let left = |left: &LeftOut| json!({ "what": left.what, "why": left.why });
        json!({
            "from": self.from,
            "tools": self.tools.iter().zip(verdicts).map(tool).collect::<Vec<_>>(),
            "leftOut": self.left_out.iter().map(left).collect::<Vec<_>>(),
        })
    }
}

/// Whether to write the new files: `--yes`, or the user agrees.
pub(super) fn is_confirmed(verdicts: &[Verdict], yes: bool, is_json: bool) -> bool {
    let count = count(verdicts, &Verdict::New);
    if yes || count == 0 || is_json || !can_ask() {
        return yes;
    }
    confirm(&format!("Write {}?", counted(count, "file"))).unwrap_or(false)
}

fn describe(text: &mut String, tool: &Tool, file: &Path, terminal: Terminal) {
    let mark = match tool.effect {
        Some(Effect::Destroys) => terminal.painted("31", "  (marked as destructive)"),
        Some(Effect::Reads) => "  (marked as read-only)".to_owned(),
        Some(Effect::Adds) | None => String::new(),
    };
    let _ = writeln!(text, "{}{mark}", terminal.painted("1", &tool.name));
    for line in terminal.lines(&shown(&tool.description), 2) {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text, "  runs  {}", shown(&tool.command_words()));
    for argument in &tool.arguments {
        let _ = writeln!(text, "  takes {}", shown(&described(argument)));
    }
    for variable in &tool.environment {
        let _ = writeln!(text, "  sets  {}={}", variable.0, shown(&variable.1));
    }
    if !tool.passed.is_empty() {
        let _ = writeln!(text, "  needs {} in the environment of the server", tool.passed.join(", "));
    }
    if let Some(input) = &tool.input {
        let _ = writeln!(text, "  reads {}", shown(input));
    }
    if !tool.success_exit_codes.is_empty() {
        let codes: Vec<String> = tool.success_exit_codes.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "  exits with {}, which counts as an answer", codes.join(", "));
    }
    if !tool.needs.is_empty() {
        let _ = writeln!(text, "  needs {}", shown(&tool.needs.join(", ")));
    }
    for gap in &tool.gaps {
        let _ = writeln!(text, "  lacks {}", shown(gap));
    }
    for doubt in &tool.doubts {
        let _ = writeln!(text, "  {} {}", terminal.painted("33", "unsure"), shown(doubt));
    }
    if tool.is_undescribed {
        let _ = writeln!(
            text,
            "  {} nothing in it says what it does: write a description",
            terminal.painted("33", "unsure")
        );
    }
    let _ = writeln!(text, "  file  {}\n", file.display());
}

fn described(argument: &Argument) -> String {
    let mut words = format!("{} ({}", argument.name, argument.kind.words());
    if argument.is_required {
        words.push_str(", required");
    }
    if let Some(default) = &argument.default {
        let _ = write!(words, ", default {default:?}");
    }
    words.push(')');
    if !argument.description.is_empty() {
        let _ = write!(words, ": {}", argument.description);
    }
    words
}

/// Foreign text on one line of limited length.
fn shown(words: &str) -> String {
    const MOST: usize = 200;
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    clip(&line.replace(char::is_control, ""), MOST).into_owned()
}

fn count(verdicts: &[Verdict], wanted: &Verdict) -> usize {
    verdicts.iter().filter(|verdict| *verdict == wanted).count()
}
