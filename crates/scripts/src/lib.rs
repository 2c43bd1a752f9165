//! Scripts: runs every script of a project.
//!
//! # Theory of operation
//!
//! [`Scripts`] holds what all of them need: the settings, the runner, the private folder, the search path, the SDK and jq. A
//! request to run something is a value: a [`ToolCall`], a [`PromptCall`], a [`CompletionCall`], a [`ResourceRead`]. It holds
//! the caller, the request and the limits, and nothing about how a process receives them. `Scripts` decides whether it may run
//! at all, renders it for a process (variables, files, words, standard input), runs that through [`Runner`] and returns an
//! [`Outcome`], or a [`ScriptError`] if nothing ran or there is no usable result. The project's own scripts in `server.d`,
//! executables that list their tools, and the login shell take the same route: `running/process.rs` is the only place that
//! builds an invocation.
//!
//! This crate knows no requests, clients or protocol revisions, so a command line calls a tool as a server does.
//!
//! [`Runner`]: mcp_bash_runner::Runner

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod calls;
mod checks;
mod confining;
mod definitions;
mod interpreters;
mod running;
mod scripts;
mod surroundings;
mod workers;

pub use calls::argv::{LONGEST_ARGUMENT, Mapped, map as map_arguments};
pub use calls::completion::CompletionCall;

pub use calls::function_calls::FunctionRead;
pub use calls::help_text::HelpRequest;
pub use calls::policy::AllowedTool;
pub use calls::prompt::PromptCall;
pub use calls::resource_provider::ResourceRead;
pub use calls::tool_call::ToolCall;
pub use checks::environment_checks::EnvironmentProblems;
pub use checks::sandbox_checks::Probe;
pub use confining::denial::Denial;
pub use confining::script_sandbox::{AllowedPlace, SandboxSource, ScriptSandbox};
pub use confining::tracing::{AccessTrace, can_watch};
pub use definitions::readings::FileInProgress;
pub use mcp_bash_runner::{Overrun, ProcessEnding, Question, StateDir, Stream, TimeLimits};
pub use running::error::{Block, Failed, NoEnvironment, ScriptError, Unread};
pub use running::missing_variable::{MissingVariable, missing_variable};
pub use running::outcome::{AnswerKind, Outcome};
pub use running::process::Limits;
pub use running::sdk_not_sourced::sdk_not_sourced;
pub use running::start_failure::{StartFailure, interpreter_problem};
pub use scripts::Scripts;
pub use surroundings::cached_home::{CacheError, cached_home};
pub use surroundings::called_by::CalledBy;
pub use surroundings::known_variables::known_variables;
pub use surroundings::script_roots::ScriptRoots;
pub use surroundings::trace_variables::TraceVariables;
pub use workers::{CallLog, LogEntry, Request, WorkerCall, WorkerNews};
