//! Calls: tools, prompts, completions and resources, rendered for a process or a worker.

pub(crate) mod argv;
pub(crate) mod call_logs;
pub(crate) mod call_tool;
pub(crate) mod completion;
pub(crate) mod fresh_process;
pub(crate) mod function_calls;
pub(crate) mod help_text;
pub(crate) mod launching;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod resource_provider;
pub(crate) mod script;
pub(crate) mod tool_call;
