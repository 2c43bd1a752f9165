//! Importing: turns files that people run things with (a justfile, a Makefile, the scripts of a package.json, a
//! Taskfile, scripts, the `--help` of a program) into tools: metadata with a `command`, and a type for each argument.
//!
//! Everything here is a function from text to values: nothing is read, run or written. Anything that is not understood
//! is left out, and reported ([`LeftOut`]). Foreign text is data: no expression of a justfile or a Makefile is ever
//! evaluated.
//!
//! just, make, task and package managers put the values of their variables into the text of shell commands. An argument
//! that ends up there has a pattern ([`mcp_bash_hazards::HARMLESS`]), however the text quotes it, so that a caller can
//! add neither a word nor an option nor a command. An argument that would be the command itself is left out.

mod argument;
mod argument_limit;
mod effect;
mod help_text;
mod justfile;
mod makefile;
mod name;
mod package_json;
mod plain_text;
mod sample;
mod scripts;
mod shell_text;
mod taskfile;
mod tool;
mod unset_variables;
mod word;

pub use argument::{Argument, ArgumentKind};
pub use effect::Effect;
pub use help_text::{HelpChoices, read as read_help};
pub use justfile::read as read_justfile;
pub use makefile::read as read_makefile;
pub use name::tool_name;
pub use package_json::read as read_package_json;
pub use plain_text::plain_text;
pub use sample::Sample;
pub use scripts::{
    EvaluatedValue, Evaluation, GivenWord, ScriptCommand, ScriptLanguage, ShellEvaluations, ShellTraps,
    interpreter, read as read_script, shell_traps,
};
pub use taskfile::read as read_taskfile;
pub use tool::Tool;

use thiserror::Error;

/// The result of an import.
#[derive(Debug, Default, PartialEq)]
pub struct Imported {
    pub tools: Vec<Tool>,
    pub left_out: Vec<LeftOut>,
}

/// More than a model could choose from, and than anyone reviews.
const MOST_TOOLS: usize = 1000;

impl Imported {
    /// Whether the limit of tools is reached. The rest is left out, which is reported once.
    fn is_full(&mut self) -> bool {
        let is_full = self.tools.len() >= MOST_TOOLS;
        if is_full {
            self.leave_out("the rest of the file", format!("{MOST_TOOLS} tools are enough"));
        }
        is_full
    }

    fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.left_out.push(LeftOut { what: what.into(), why: why.into() });
    }
}

/// Something that did not become a tool or an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub what: String,
    /// Completes "`what` is left out: ...".
    pub why: String,
}

/// The location of the file that was read, as words for a command line that is run in the folder of the project.
#[derive(Debug, Clone, Copy)]
pub struct FileLocation<'a> {
    /// The folder of the file; empty for the folder of the project.
    pub folder: &'a str,
    /// The name of the file in it.
    pub file: &'a str,
}

impl FileLocation<'_> {
    fn path(&self) -> String {
        if self.folder.is_empty() { self.file.to_owned() } else { format!("{}/{}", self.folder, self.file) }
    }
}

/// Why a text cannot be imported. The messages complete "FILE ...".
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Unreadable {
    #[error("is no JSON: {0}")]
    Json(String),
    #[error("is no YAML: {0}")]
    Yaml(String),
    #[error("has no `{0}`")]
    Missing(&'static str),
    #[error("is no text")]
    NoText,
    #[error("has a name without a letter or digit that a tool's name may have")]
    NoName,
    #[error("only defines functions, for other scripts")]
    OnlyFunctions,
    #[error("runs {0} as a command, which no caller may choose")]
    RunsWords(String),
    #[error("evaluates {0} as a number or a name, which can run a command: no caller may choose it")]
    EvaluatesWords(String),
    #[error("does not look like the help of a program: there is no usage line and no option in it")]
    NoHelp,
    #[error("is the help of `{other}`, not of `{program}`")]
    OtherProgram { other: String, program: String },
    #[error("has no option `{option}` that could be allowed{}", .options.as_deref().map_or_else(String::new, |options| format!("; there are {options}")))]
    NoSuchOption { option: String, options: Option<String> },
    #[error("is the help of a program that runs what it is given as `{0}`, which no caller may choose")]
    TakesCode(String),
    #[error("is the help of a program that does nothing without one of its commands{}", such_as(.0))]
    OnlyCommands(Vec<String>),
}

fn such_as(commands: &[String]) -> String {
    if commands.is_empty() { String::new() } else { format!(" ({})", commands.join(", ")) }
}
