//! Worker: a process that stays alive and serves many calls of a tool, one or several at a time.

use crate::declarations::error::{EntryError, within, wrong_value};
use crate::ground::json::without_position;
use crate::languages::Language;
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

/// The worker of a tool, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    pub program: WorkerProgram,
    pub options: WorkerOptions,
    /// The options as the author wrote them: the text of a JSON object.
    written: String,
}

/// The program of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerProgram {
    /// The script itself, which implements the worker protocol.
    Itself,
    /// The interpreter of a language, with the SDK's worker and the script, whose functions are the tools.
    Functions(&'static Language),
}

impl WorkerProgram {
    /// The language of the functions, if it serves functions.
    pub fn language(self) -> Option<&'static Language> {
        match self {
            Self::Itself => None,
            Self::Functions(language) => Some(language),
        }
    }

    /// Where an author sets an option of the worker, in the syntax of the language.
    pub fn place_of_option(self, name: &str) -> String {
        match self {
            Self::Itself => format!("`{name}` of `worker` in its metadata"),
            Self::Functions(language) => (language.place_of_option)(name),
        }
    }

    /// Where an author sets a timeout of a tool, by its name in metadata.
    pub fn place_of_time(self, name: &str) -> String {
        match self {
            Self::Itself => format!("`{name}` in its metadata"),
            Self::Functions(language) => (language.place_of_time)(name),
        }
    }
}

/// The author's options of a worker. The settings give the missing ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WorkerOptions {
    /// How many processes there may be at once.
    pub processes: Option<NonZeroU32>,
    /// How many calls one process serves at once.
    pub at_once: Option<NonZeroU32>,
    /// How long an idle process stays; 0 for ever.
    pub idle_secs: Option<u64>,
    /// After how many calls a process is replaced.
    pub max_calls: Option<NonZeroU64>,
    /// A process that uses more memory than this after a call is replaced.
    pub memory_mb: Option<NonZeroU64>,
    /// The variables of the server's environment that it needs.
    pub env: Vec<String>,
    /// Whether a process is started with the server.
    pub start_ahead: bool,
    /// Whether processes that a worker started may stay between calls.
    pub keeps_processes: bool,
    /// What the process may do.
    pub sandbox: Option<Declaration>,
    /// The secrets that it needs.
    pub secrets: Needs,
}

impl WorkerOptions {
    /// How long an idle process stays, if the author says so. The inner `None` means for ever.
    pub fn idle(&self) -> Option<Option<Duration>> {
        self.idle_secs.map(|seconds| (seconds > 0).then(|| Duration::from_secs(seconds)))
    }
}

impl Worker {
    /// The value of `worker` in metadata: `true`, or the options. `None` if it is `false`.
    pub(crate) fn read(field: Option<&RawValue>, program: WorkerProgram) -> Result<Option<Self>, EntryError> {
        match field.map(RawValue::get) {
            None | Some("null" | "false") => Ok(None),
            Some("true") => Ok(Some(Self::new(program, "{}")?)),
            Some(options) => {
                let worker = Self::new(program, options)?;
                if worker.options.sandbox.is_some() {
                    return Err("`sandbox` of a script belongs beside `worker`, not into it".into());
                }
                if !worker.options.secrets.is_empty() {
                    return Err("`secrets` of a script belongs beside `worker`, not into it".into());
                }
                Ok(Some(worker))
            }
        }
    }

    /// A worker with the options of a JSON object.
    pub(crate) fn new(program: WorkerProgram, options: &str) -> Result<Self, EntryError> {
        if !options.starts_with('{') {
            return Err(wrong_value("worker", "be `true` or an object of options", options, ""));
        }
        let read = serde_json::from_str(options).map_err(|error| without_position(&error));
        Ok(Self { program, options: read.map_err(within("worker"))?, written: options.to_owned() })
    }

    /// The metadata form.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::language_named;

    fn read(text: &str) -> Result<Option<Worker>, EntryError> {
        let field = RawValue::from_string(text.to_owned()).unwrap();
        Worker::read(Some(&field), WorkerProgram::Itself)
    }

    #[test]
    fn it_is_true_or_an_object_of_options() {
        assert_eq!(read("false").unwrap(), None);
        assert_eq!(read("null").unwrap(), None);
        assert_eq!(read("true").unwrap().unwrap().options, WorkerOptions::default());
        let options = read(r#"{"processes":2,"idleSecs":0,"keepsProcesses":true}"#).unwrap().unwrap().options;
        assert_eq!(options.processes, NonZeroU32::new(2));
        assert_eq!(options.idle(), Some(None));
        assert!(options.keeps_processes && !options.start_ahead);
    }

    #[test]
    fn an_option_is_named_as_its_language_has_it() {
        let functions = |name| WorkerProgram::Functions(language_named(name).unwrap());
        for (program, memory, time) in [
            (
                WorkerProgram::Itself,
                "`memoryMb` of `worker` in its metadata",
                "`maxTimeoutSecs` in its metadata",
            ),
            (functions("python"), "`worker(memory_mb=…)` in its file", "`@tool(max_timeout=…)`"),
            (
                functions("node"),
                "`worker({ memoryMb: … })` in its file",
                "`maxTimeoutSecs` in the options of `tool`",
            ),
        ] {
            assert_eq!(program.place_of_option("memoryMb"), memory);
            assert_eq!(program.place_of_time("maxTimeoutSecs"), time);
        }
    }

    #[test]
    fn invalid_options_are_named() {
        for (text, problem) in [
            ("1", "must be `true` or an object"),
            (r#"{"proceses":2}"#, "unknown field `proceses`"),
            (r#"{"processes":0}"#, "a nonzero u32"),
        ] {
            let told = read(text).unwrap_err().to_string();
            assert!(told.contains(problem), "{text}: {told}");
        }
    }
}
