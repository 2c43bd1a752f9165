//! Fresh process: a tool call as variables, files, words and standard input for a process of its own. A worker, which
//! serves many calls, receives each as a frame (`workers/frame.rs`).

use crate::calls::argv::{LONGEST_ARGUMENT, Mapped};
use crate::calls::tool_call::ToolCall;
use crate::running::call_files::CallFiles;
use crate::running::spill::Spill;
use crate::scripts::Scripts;
use mcp_bash_project::{Execution, Tool};
use mcp_bash_runner::{Input, Variables};
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

pub(crate) struct Rendered<'a> {
    pub(crate) variables: Variables,
    /// The arguments, or the input that the mapping makes of them.
    pub(crate) input: Input<'a>,
    pub(crate) files: CallFiles,
}

/// Renders a call for a new process. `variables` are common to all scripts; `mapped` is the input of a tool that takes its
/// arguments in another form.
pub(crate) fn render<'a>(
    scripts: &Scripts,
    call: &ToolCall<'a>,
    mapped: Option<&'a Mapped>,
    mut variables: Variables,
) -> io::Result<Rendered<'a>> {
    let (tool, roots, arguments) = (call.tool.tool, call.roots, call.arguments);
    scripts.surroundings.add_needed(&mut variables, &tool.options.variables);
    let mut spill = Spill::new(scripts.runner(), scripts.settings().payload_threshold);
    let file = spill.json(&mut variables, ["MCP_TOOL_ARGS_JSON", "MCP_TOOL_ARGS_FILE"], arguments)?;
    let input = match (mapped.and_then(|mapped| mapped.input.as_deref()), file) {
        (Some(text), _) => Input::Bytes(text.as_bytes()),
        (None, Some(file)) => Input::File(mcp_bash_files::open_no_link(&file)?),
        (None, None) => Input::Bytes(arguments.as_bytes()),
    };
    let metadata = tool.registry_text();
    spill.json(&mut variables, ["MCP_TOOL_METADATA_JSON", "MCP_TOOL_METADATA_FILE"], metadata)?;
    spill.json(&mut variables, ["MCP_TOOL_META_JSON", "MCP_TOOL_META_FILE"], call.meta)?;
    roots.add_to(&mut variables, &mut spill)?;
    let files = CallFiles::new(spill.into_folder()?, Arc::clone(scripts.known_secrets()));
    call.caller.set(&mut variables);
    variables.set("MCP_TOOL_NAME", &tool.name);
    variables.set("MCP_TOOL_PATH", &tool.script);
    variables.set("MCP_PROGRESS_TOKEN", call.progress_token);
    variables.set("MCP_TOOL_ERROR_FILE", files.error());
    variables.set("MCP_TOOL_RESOURCES_FILE", files.resources());
    variables.set("MCP_CANCEL_FILE", files.cancel());
    variables.set("MCP_ELICIT_SUPPORTED", if call.may_elicit { "1" } else { "0" });
    if let Some(hint) = tool.options.timeouts.hint.as_ref().filter(|hint| !hint.contains('\0')) {
        variables.set("MCPBASH_TIMEOUT_HINT", hint);
    }
    if call.has_unasked_roots {
        variables.set("MCP_ROOTS_ASK", "1");
    }
    call.trace.set(&mut variables);
    let own = mapped.into_iter().flat_map(|mapped| &mapped.variables);
    variables.extend(own.map(|(name, value)| (name, value)));
    Ok(Rendered { variables, input, files })
}

/// The words of a process without a mapping. A provider receives the name of the tool; arguments that are too long are only on
/// its standard input.
pub(crate) fn words(tool: &Tool, arguments: &str) -> Vec<OsString> {
    match tool.execution {
        Execution::Script | Execution::MappedScript(_) | Execution::Command { .. } | Execution::Worker(_) => {
            Vec::new()
        }
        Execution::Provider if arguments.len() > LONGEST_ARGUMENT => vec![OsString::from(&tool.name)],
        Execution::Provider => vec![OsString::from(&tool.name), arguments.into()],
    }
}
