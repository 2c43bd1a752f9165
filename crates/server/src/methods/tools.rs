//! `tools/list` and `tools/call`.

use crate::server::Server;
use crate::shape::{Answer, Members};
use crate::spill::Spill;
use crate::work::Work;
use mcp_bash_project::{Catalog, Tool};
use mcp_bash_runner::{Ending, Invocation, Outcome};
use mcp_bash_wire::{Limits, LogLevel, Object, Raw, Revision, RpcError, Scanner, write};
use serde_json::json;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a script may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(1);

/// What a script may read of our own environment.
const INHERITED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "TZ"];

pub(crate) fn list(server: &Server, revision: Revision, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    if let Some(params) = params
        && Object::read(params, "params", &["cursor"])?.optional_string("cursor")?.is_some()
    {
        return Err(RpcError::invalid_params(
            "Invalid params: `cursor` is not one of ours; leave it out to start over",
        ));
    }
    served(&server.catalog())?;
    Ok(Answer::members(format!("\"tools\":{}", server.tools(revision))).cacheable())
}

/// Refuses where the project cannot be served at all.
fn served(catalog: &Catalog) -> Result<(), RpcError> {
    match &catalog.failure {
        None => Ok(()),
        Some(error) => Err(RpcError::internal(format!("server.d/register.json {error}"))),
    }
}

/// What a client asks for with `tools/call`.
struct CallParams<'a> {
    name: String,
    /// The text of a JSON object.
    arguments: &'a str,
    timeout: Option<Duration>,
}

impl<'a> CallParams<'a> {
    fn read(params: Option<&'a str>) -> Result<Self, RpcError> {
        let missing = || RpcError::invalid_params("Invalid params: `name` is missing");
        let raw = Scanner::new(params.ok_or_else(missing)?, Limits::NONE).whole_value();
        let params =
            Object::read(raw.map_err(|_| missing())?, "params", &["name", "arguments", "timeoutSecs"])?;
        let timeout = match params.get("timeoutSecs").filter(|value| !value.is_null()) {
            None => None,
            Some(value) => match value.text().parse::<u64>() {
                Ok(seconds) if seconds > 0 => Some(Duration::from_secs(seconds)),
                _ => {
                    return Err(RpcError::invalid_params(
                        "Invalid params: `timeoutSecs` must be a whole number of seconds above 0",
                    ));
                }
            },
        };
        Ok(Self {
            name: params.string("name")?.into_owned(),
            arguments: params.optional_object("arguments")?.map_or("{}", Raw::text),
            timeout,
        })
    }
}

pub(crate) async fn call(work: &Work, params: Option<&str>) -> Result<Answer, RpcError> {
    let params = CallParams::read(params)?;
    let catalog = work.server().catalog();
    served(&catalog)?;
    let tool = catalog
        .tool(&params.name)
        .ok_or_else(|| RpcError::invalid_params(format!("Unknown tool: {}", params.name)))?;

    let settings = work.server().settings();
    let timeout =
        params.timeout.or(tool.timeouts.limit).unwrap_or(settings.default_timeout).min(settings.max_timeout);
    let spill = spill(work, tool, params.arguments).map_err(|error| {
        RpcError::internal(format!("Tool '{}' cannot be given its arguments: {error}", tool.name))
    })?;
    let invocation = Invocation {
        program: tool.script.clone(),
        arguments: Vec::new(),
        directory: tool.script.parent().unwrap_or(Path::new("/")).to_owned(),
        environment: environment(work, tool, &catalog.paths.root, &spill),
        input: params.arguments.as_bytes().to_vec(),
        timeout,
        grace: GRACE,
        output_limit: settings.output_limit,
        error_tail: settings.stderr_tail,
        side_channel: if work.wants_notifications() {
            &["MCP_PROGRESS_STREAM", "MCP_LOG_STREAM"]
        } else {
            &[]
        },
    };
    let runner = work.server().runner();
    match runner.run(invocation, work.cancelled(), |line| work.relay(line)).await {
        Ok(outcome) => answer(work, tool, &outcome, timeout),
        Err(error) => Ok(failure(&format!("Tool '{}' could not be started: {error}", tool.name))),
    }
}

fn environment(work: &Work, tool: &Tool, root: &Path, spill: &Spill<'_>) -> Vec<(OsString, OsString)> {
    let inherited =
        INHERITED.iter().filter_map(|name| Some((OsString::from(*name), std::env::var_os(name)?)));
    let given = [
        ("MCP_TOOL_NAME", OsString::from(&tool.name)),
        ("MCP_TOOL_PATH", tool.script.clone().into()),
        ("MCP_PROGRESS_TOKEN", work.progress_token_text().into()),
        ("MCPBASH_PROJECT_ROOT", root.into()),
    ];
    inherited.chain(given.map(|(name, value)| (name.into(), value))).chain(spill.variables()).collect()
}

/// What the script is told as JSON.
fn spill<'a>(work: &'a Work, tool: &Tool, arguments: &str) -> io::Result<Spill<'a>> {
    let mut spill = Spill::new(work.server().state_dir(), work.server().settings().payload_threshold);
    spill.json("MCP_TOOL_ARGS", arguments)?;
    spill.json("MCP_TOOL_METADATA", &tool.registry_item().to_string())?;
    spill.json("MCP_TOOL_META", work.meta())?;
    Ok(spill)
}

fn answer(work: &Work, tool: &Tool, outcome: &Outcome, timeout: Duration) -> Result<Answer, RpcError> {
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    let mut meta = Members::default();
    let exit_code = match outcome.ending {
        Ending::Exited(code) => Some(code),
        Ending::Signalled(signal) => Some(128 + signal),
        Ending::TimedOut | Ending::Cancelled | Ending::OutputTooLarge => None,
    };
    meta.optional_raw("exitCode", exit_code.map(|code| code.to_string()).as_deref());
    meta.string("stderr", Some(stderr.trim_end()).filter(|text| !text.is_empty()));
    work.log(
        LogLevel::Debug,
        "mcp.tools",
        "tool ended",
        &json!({ "tool": tool.name, "exitCode": exit_code }),
    );

    let mut answer = match outcome.ending {
        Ending::Exited(0) => text_answer(stdout.trim_end_matches('\n'), false),
        Ending::TimedOut => timed_out(tool, timeout),
        Ending::OutputTooLarge => {
            let limit = work.server().settings().output_limit;
            return Err(RpcError::internal(format!(
                "Tool '{}' printed more than {limit} bytes; MCPBASH_MAX_TOOL_OUTPUT_SIZE sets the limit",
                tool.name
            )));
        }
        Ending::Exited(_) | Ending::Signalled(_) | Ending::Cancelled => {
            let said = [stderr.trim(), stdout.trim()].into_iter().find(|text| !text.is_empty());
            let code = exit_code.unwrap_or_default();
            failure(&said.map_or_else(|| format!("Tool '{}' failed (exit {code})", tool.name), str::to_owned))
        }
    };
    answer.meta = meta.into_text();
    Ok(answer)
}

fn timed_out(tool: &Tool, timeout: Duration) -> Answer {
    let seconds = timeout.as_secs();
    let error = json!({ "error": { "type": "timeout", "reason": "fixed", "timeoutSecs": seconds } });
    Answer {
        structured_content: Some(error.to_string()),
        ..failure(&format!("Tool '{}' timed out after {seconds} s and was ended", tool.name))
    }
}

fn failure(text: &str) -> Answer {
    text_answer(text, true)
}

fn text_answer(text: &str, is_error: bool) -> Answer {
    let text = write::string(text);
    Answer::members(format!(r#""content":[{{"type":"text","text":{text}}}],"isError":{is_error}"#))
}
