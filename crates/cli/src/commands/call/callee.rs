//! Callee: the tool that is called. Finds it by its name, reads its arguments, and calls it.

use super::arguments::CallOptions;
use super::error::CallError;
use super::flags;
use super::given::{Pair, assembled};
use super::parameters::Parameters;
use super::{Asked, judge, whole};
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::own_flags::own_flags;
use crate::open::connect::{Conversation, Failure, OpenProject};
use crate::terminal::host::CommandLineHost;
use mcp_bash_project::Diagnostic;
use mcp_bash_terminal::{harmless, harmless_line};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Component, Path};
use std::time::Duration;

/// Why a tool of that name was skipped, as the server would say it. If the project has no tools at all, any skipped file may
/// hold it.
fn skipped(project: &OpenProject, name: &str) -> Option<CallError> {
    let catalog = &project.catalog;
    let is_called_so = |part: Component<'_>| part.as_os_str() == name;
    let may_hold_it = |path: &Path| catalog.tools.is_empty() || path.components().any(is_called_so);
    let any = || {
        let below = |skip: &Diagnostic| skip.path.strip_prefix(&catalog.paths.tools).is_ok_and(may_hold_it);
        project.skipped().find(|skip| below(skip))
    };
    let skip = catalog.skipped_tool(name).or_else(any)?;
    Some(CallError::NotFound { kind: "tool", name: name.to_owned(), nearest: None, more: skip.to_string() })
}

/// A call without a result: the reason, and its exit code.
pub(crate) struct Unanswered {
    pub(crate) exit: Exit,
    pub(crate) failure: Failure,
}

/// What the words after the name of a tool say.
pub(crate) struct Given {
    /// The arguments of the call as one JSON object.
    pub(crate) arguments: String,
    /// Whether `--yes` is among them, and is not for the tool.
    pub(crate) consents: bool,
}

/// A tool, as far as a call needs to know it.
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The text of its input schema.
    pub(crate) schema: String,
    /// Whether the server is that of our own project.
    pub(crate) is_own: bool,
    /// The author's timeout, in seconds.
    pub(crate) seconds: Option<u64>,
}

impl Callee {
    pub(crate) fn of_project(project: &OpenProject, name: &str) -> Result<Self, Error> {
        if project.scripts.settings().minimal {
            return Err(Error::of_command(Exit::Refused, CallError::Minimal));
        }
        let tools = &project.catalog.tools;
        let Some(tool) = tools.get(name) else {
            if let Some(duplicate) =
                project.catalog.duplicates.iter().find(|duplicate| duplicate.name == name)
            {
                return Err(Error::of_command(
                    Exit::Failed,
                    format!("tool name `{name}` is used twice ({duplicate})"),
                ));
            }
            if let Some(skipped) = skipped(project, name) {
                return Err(Error::of_command(Exit::NotFound, skipped));
            }
            let known: Vec<&str> = tools.items().iter().map(|tool| tool.name.as_str()).collect();
            return Err(Error::of_command(
                Exit::NotFound,
                CallError::not_found("tool", name, &known, "tools"),
            ));
        };
        Ok(Self {
            name: tool.name.clone(),
            description: tool.description.clone().unwrap_or_default(),
            schema: tool.input_schema.get().to_owned(),
            is_own: true,
            seconds: tool.options.timeouts.limit.map(|limit| limit.as_secs()),
        })
    }

    pub(crate) fn of_server(
        conversation: &mut Conversation,
        host: &mut CommandLineHost,
        name: &str,
        limit: Option<Duration>,
    ) -> Result<Self, Error> {
        let tools = conversation.entries("tools/list", "tools", host, limit)?;
        let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
            let known: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
            return Err(Error::of_command(
                Exit::NotFound,
                CallError::not_found("tool", name, &known, "tools"),
            ));
        };
        Ok(Self {
            name: name.to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            schema: tool["inputSchema"].to_string(),
            is_own: false,
            seconds: None,
        })
    }

    /// Reads what was given with the call. Exits the program if the user asks for help or misuses a flag.
    pub(crate) fn given(&self, command: &str, asked: &Asked) -> Result<Given, Error> {
        let usage = |error| Error::of_command(Exit::Usage, error);
        let schema: Value = serde_json::from_str(&self.schema).unwrap_or_default();
        let parameters = Parameters::of(&schema);
        let mut consents = false;
        let pairs = if asked.words.iter().any(|word| word.starts_with('-')) {
            let parser = flags::with_flags(self.parser(command), &parameters, own_flags(command));
            let words = std::iter::once(&self.name).chain(&asked.words);
            let mut matches = parser.try_get_matches_from(words).unwrap_or_else(|error| error.exit());
            consents = flags::consents(&matches);
            flags::given(&parameters, &mut matches)
        } else {
            asked.words.iter().map(|word| Pair::read(word)).collect()
        };
        let of = format!("`{}`", harmless_line(&self.name));
        let arguments = pairs
            .and_then(|pairs| assembled(&of, &parameters, asked.args.as_deref(), &pairs))
            .map_err(usage)?;
        Ok(Given { arguments, consents })
    }

    /// The command line of this tool: its name and description, and a pointer to our own flags.
    fn parser(&self, command: &str) -> clap::Command {
        let lasting = |text: String| -> &'static str { text.leak() };
        let name = harmless_line(&self.name);
        clap::Command::new("tool")
            .bin_name(lasting(format!("mcp-bash {command} {name}")))
            .about(lasting(harmless(&self.description)))
            .after_help(lasting(format!("`mcp-bash {command} --help` lists what every call takes.")))
    }

    /// Calls it, shows the outcome, and then closes the conversation: the user need not wait for that. If `whole`, texts
    /// that the server sent in part are read.
    pub(crate) fn call<T>(
        &self,
        mut conversation: Conversation,
        mut host: CommandLineHost,
        arguments: &str,
        options: &CallOptions,
        whole: bool,
        show: impl FnOnce(Result<Box<RawValue>, Unanswered>) -> T,
    ) -> T {
        let mut answer = self.request(&mut conversation, &mut host, arguments, options);
        if whole {
            let limit = options.time_limit();
            let mut read =
                |uri: &str| conversation.request("resources/read", &json!({ "uri": uri }), &mut host, limit);
            answer = answer.and_then(|result| whole::completed(result, &mut read));
        }
        let is_refused = conversation.server().is_some_and(|server| server.has_refused_a_call());
        host.finish();
        let answer =
            answer.map_err(|failure| Unanswered { exit: judge::of_failure(&failure, is_refused), failure });
        let shown = show(answer);
        conversation.end();
        shown
    }

    fn request(
        &self,
        conversation: &mut Conversation,
        host: &mut CommandLineHost,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, Failure> {
        let name = Value::from(self.name.as_str());
        let mut params = format!(r#"{{"name":{name},"arguments":{arguments}"#);
        if host.wants_progress() {
            params.push_str(r#","_meta":{"progressToken":1}"#);
        }
        // Our own server enforces the timeout itself, so that it can report the outcome.
        let limit = if self.is_own { None } else { options.time_limit() };
        if let Some(seconds) = options.seconds().filter(|_| self.is_own) {
            let _ = write!(params, r#","timeoutSecs":{seconds}"#);
        }
        params.push('}');
        let params = RawValue::from_string(params);
        let params = params.map_err(|error| mcp_bash_client::Error::Protocol(error.to_string()))?;
        conversation.request("tools/call", &params, host, limit)
    }
}
