//! Execution: how a tool is run.

use crate::declarations::error::EntryError;
use crate::declarations::mapping::{self, Mapping};
use crate::declarations::worker::Worker;
use serde_json::value::RawValue;

/// How a tool is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// Its script is the tool, and reads the arguments as JSON.
    Script,
    /// Its script is the tool, and receives the arguments as its mapping says.
    MappedScript(Mapping),
    /// It has no script, and runs a program that is looked up when it is called.
    Command { program: String, mapping: Mapping },
    /// Its executable provides it, and is run with the name and the arguments of the call.
    Provider,
    /// A process that stays alive serves it, and other calls.
    Worker(Worker),
}

impl Execution {
    /// The execution of a tool with this metadata and this schema of arguments.
    pub(super) fn of(
        mapped: Option<mapping::Read>,
        worker: Option<Worker>,
        schema: &RawValue,
    ) -> Result<Self, EntryError> {
        let mapped = match (mapped, worker) {
            (None, None) => return Ok(Self::Script),
            (None, Some(worker)) => return Ok(Self::Worker(worker)),
            (Some(_), Some(_)) => {
                return Err("it is a `worker`, which is given its arguments as JSON with each call; take `argv`, `env`, \
                            `stdin` and `command` away"
                    .into());
            }
            (Some(mapped), None) => mapped,
        };
        let mapping::Read { program, mapping } = mapped.fitted_to(schema)?;
        Ok(match program {
            Some(program) => Self::Command { program, mapping },
            None => Self::MappedScript(mapping),
        })
    }

    /// How the program receives the arguments, unless it reads the JSON.
    pub fn mapping(&self) -> Option<&Mapping> {
        match self {
            Self::MappedScript(mapping) | Self::Command { mapping, .. } => Some(mapping),
            Self::Script | Self::Provider | Self::Worker(_) => None,
        }
    }

    /// The problem with arguments that the program never sees. A script can still read them as JSON, unless it was plainly
    /// meant to get them otherwise.
    pub(super) fn unused_arguments(&self, schema: &RawValue) -> Option<String> {
        let has_script = !matches!(self, Self::Command { .. });
        let unused = self.mapping()?.unused(schema).into_iter();
        let unused = unused.filter(|(_, has_two_braces)| *has_two_braces || !has_script);
        let unused: Vec<String> = unused.map(|(name, _)| format!("`{name}`")).collect();
        (!unused.is_empty()).then(|| {
            format!(
                "declares {} in `inputSchema`, which its program is not given; write an argument as {{name}}, with one brace \
                 on each side, in `command`, `argv`, `env` or `stdin`",
                unused.join(", ")
            )
        })
    }
}
