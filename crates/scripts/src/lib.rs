//! Every script of a project is run here.
//!
//! # Theory of operation
//!
//! [`Scripts`] has what all of them need: the settings, the runner, the private folder, the search path, the SDK and jq.
//! What is to be run is a value: a [`ToolCall`], a [`PromptCall`], a [`CompletionCall`], a [`ResourceRead`]. It says who
//! wants what under which limits, and nothing of how a process is told. `Scripts` decides whether it may run at all,
//! renders it for a process (variables, files, words, standard input), runs that through [`Runner`] and returns an
//! [`Outcome`], or a [`ScriptError`] where nothing was run or there is nothing to go on with. The project's own scripts in
//! `server.d`, executables that are asked which tools they have, and the login shell go the same way: `process.rs` is the
//! only place where an invocation is put together.
//!
//! Nothing here knows of requests, clients or revisions of a protocol: a command line calls a tool as a server does.
//!
//! [`Runner`]: mcp_bash_runner::Runner

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod argv;
mod cached_home;
mod call_files;
mod call_logs;
mod completion;
mod env_file;
mod environment;
mod environment_checks;
mod error;
mod failed_loads;
mod fresh_process;
mod function_calls;
mod health_checks;
mod interpreters;
mod known_variables;
mod login_shell;
mod outcome;
mod patience;
mod policy;
mod process;
mod program;
mod project_programs;
mod prompt;
mod provider_list;
mod reading;
mod readings;
mod resource_provider;
mod script;
mod script_roots;
mod scripts;
mod server_script;
mod spill;
mod start_failure;
mod tool_call;
mod toolbox;
mod trace_variables;
mod unanswered;
mod workers;

pub use argv::{Mapped, map as map_arguments};
pub use cached_home::{CacheError, cached_home};
pub use completion::CompletionCall;
pub use environment_checks::EnvironmentProblems;
pub use error::{Block, Failed, NoEnvironment, ScriptError, Unread};
pub use fresh_process::LONGEST_ARGUMENT;
pub use function_calls::FunctionRead;
pub use known_variables::known_variables;
pub use mcp_bash_runner::{Overrun, Patience, ProcessEnding, Question, StateDir, Stream};
pub use outcome::Outcome;
pub use policy::AllowedTool;
pub use process::Limits;
pub use prompt::PromptCall;
pub use readings::FileInProgress;
pub use resource_provider::ResourceRead;
pub use script_roots::ScriptRoots;
pub use scripts::Scripts;
pub use start_failure::{StartFailure, interpreter_problem};
pub use tool_call::ToolCall;
pub use trace_variables::TraceVariables;
pub use workers::{AnswerKind, CallLog, LogEntry, Request, WorkerCall, WorkerNews};
