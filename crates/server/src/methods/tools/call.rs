//! `tools/call`: from the client's params to a finished process.

use super::environment::Environment;
use super::{output, policy, questions, served};
use crate::context::RequestContext;
use crate::in_flight::InFlightCall;
use crate::parking::Subject;
use crate::schemas::{Schemas, Unfit};
use crate::server::Server;
use crate::settings::Settings;
use crate::shape::Answer;
use crate::work::{Return, Work, unknown_state};
use mcp_bash_budget::SMALL;
use mcp_bash_project::{Catalog, Origin, Tool};
use mcp_bash_runner::{Confinement, Invocation, Patience, Talk};
use mcp_bash_wire::{Object, Raw, RpcError};
use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// How long a script may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(1);

/// What a client asks for.
struct Params<'a> {
    name: String,
    /// The text of a JSON object.
    arguments: &'a str,
    timeout: Option<Duration>,
}

impl<'a> Params<'a> {
    const MEMBERS: [&'static str; 3] = ["name", "arguments", "timeoutSecs"];

    fn read(params: Option<Raw<'a>>) -> Result<Self, RpcError> {
        let missing = || RpcError::invalid_params("Invalid params: `name` is missing");
        let params = Object::read(params.ok_or_else(missing)?, "params", &Self::MEMBERS)?;
        Ok(Self {
            name: params.string("name")?.into_owned(),
            arguments: params.optional_object("arguments")?.map_or("{}", Raw::text),
            timeout: asked_timeout(&params)?,
        })
    }
}

/// A request that goes on with a call which an earlier one has begun, in the stateless era.
pub(crate) struct Resumption<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
    /// The word that leads back to the earlier request.
    state: Cow<'a, str>,
    responses: Option<Raw<'a>>,
}

impl<'a> Resumption<'a> {
    const MEMBERS: [&'static str; 4] = ["name", "arguments", "requestState", "inputResponses"];

    pub(crate) fn read(params: Option<Raw<'a>>) -> Result<Self, RpcError> {
        let params = Object::read(params.ok_or_else(unknown_state)?, "params", &Self::MEMBERS)?;
        Ok(Self {
            name: params.string("name")?,
            arguments: params.optional_object("arguments")?.map_or("{}", Raw::text),
            state: params.string("requestState")?,
            responses: params.optional_object("inputResponses")?,
        })
    }

    /// Lets `in_flight` take the place of the earlier request, or refuses it.
    pub(crate) fn resume(self, server: &Server, context: RequestContext, in_flight: InFlightCall) {
        let subject = || Subject::new(&self.name, self.arguments);
        Return { word: &self.state, responses: self.responses }.resume(server, subject, context, in_flight);
    }
}

/// How long the client lets its request take: its `timeoutSecs`, if it says.
pub(crate) fn asked_timeout(params: &Object<'_, '_>) -> Result<Option<Duration>, RpcError> {
    let Some(value) = params.get("timeoutSecs").filter(|value| !value.is_null()) else { return Ok(None) };
    match value.text().parse::<u64>() {
        Ok(seconds) if seconds > 0 => Ok(Some(Duration::from_secs(seconds))),
        _ => Err(RpcError::invalid_params(
            "Invalid params: `timeoutSecs` must be a whole number of seconds above 0",
        )),
    }
}

pub(crate) async fn call(work: &Arc<Work>, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let params = Params::read(params)?;
    let snapshot = work.server().snapshot();
    let paths = &snapshot.catalog.paths;
    served(&snapshot.catalog)?;
    let (tool, schemas) =
        snapshot.tool(&params.name).ok_or_else(|| no_such_tool(&snapshot.catalog, &params.name))?;
    let start = policy::allow(work, tool, paths).await?;
    let cost = Schemas::cost_of(params.arguments);
    let checking = (cost > SMALL).then(|| work.budget().charge(cost)).transpose();
    let checking = checking.map_err(|why| RpcError::internal(format!("Server busy: {why}")))?;
    let arguments = match schemas.check_input(tool, params.arguments) {
        Ok(arguments) => arguments,
        Err(Unfit::Arguments(problems)) => return Ok(output::failure(&problems)),
        Err(Unfit::Tool(error)) => return Err(error),
    };
    drop(checking);

    let settings = work.server().settings();
    let patience = patience(settings, tool, params.timeout);
    let roots = work.roots().await;
    let (environment, variables, input) = Environment::for_call(work, tool, &arguments, paths, &roots)
        .map_err(|error| {
            RpcError::internal(format!("Tool '{}' cannot be given its arguments: {error}", tool.name))
        })?;
    // Lines on it are signs of life, even where the client wants to hear none of them.
    let is_heard = work.wants_notifications() || patience.most.is_some();
    let side_channel: &[_] = if is_heard { &["MCP_PROGRESS_STREAM", "MCP_LOG_STREAM"] } else { &[] };
    let invocation = Invocation {
        program: start.program,
        arguments: start.arguments.into_iter().chain(words(tool, &arguments)).collect(),
        directory: paths.root.clone(),
        environment: variables,
        input,
        patience,
        grace: GRACE,
        output_limit: settings.output_limit,
        budget: Arc::clone(work.budget()),
        error_tail: settings.stderr_tail,
        talk: Some(Talk {
            folder: environment.files.folder(),
            side_channel,
            questions: work.capabilities().can_be_asked().then_some(QUESTIONS),
        }),
        confinement: Confinement::default(),
    };
    let cancelled = async {
        work.cancelled().await;
        environment.files.tell_of_cancellation();
    };
    let outcome = match work
        .server()
        .runner()
        .run(
            invocation,
            cancelled,
            |line| work.relay(line),
            |question| questions::attend(work, question, Subject::new(&params.name, params.arguments)),
        )
        .await
    {
        Ok(outcome) => outcome,
        Err(error) => {
            return Ok(output::failure(&format!("Tool '{}' could not be started: {error}", tool.name)));
        }
    };
    output::Finished {
        work,
        tool,
        schemas,
        outcome: &outcome,
        environment: &environment,
        patience,
        arguments: &arguments,
    }
    .answer()
}

/// How a script finds out where to ask.
const QUESTIONS: [&str; 4] =
    ["MCP_ASK_SOCKET", "MCP_ASK_KEY", "MCP_ELICIT_REQUEST_FILE", "MCP_ELICIT_RESPONSE_FILE"];

/// Why there is no tool of that name.
fn no_such_tool(catalog: &Catalog, name: &str) -> RpcError {
    match catalog.duplicates.iter().find(|duplicate| duplicate.name == name) {
        Some(duplicate) => RpcError::internal(format!("Tool name '{name}' duplicated ({duplicate})")),
        None => RpcError::invalid_params(format!("Unknown tool: {name}")),
    }
}

/// The longest argument that a process can be given, on the system that allows the least.
pub(super) const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// What the process is started with. An executable that provides tools has to know which one is meant; arguments that
/// are too long for it are only on its standard input.
fn words(tool: &Tool, arguments: &str) -> Vec<OsString> {
    match tool.origin {
        Origin::Script => Vec::new(),
        Origin::Provider if arguments.len() > LONGEST_ARGUMENT => vec![OsString::from(&tool.name)],
        Origin::Provider => vec![OsString::from(&tool.name), arguments.into()],
    }
}

/// How long the call may take: as its client says, else as the tool's author says, else as is usual. A client may ask
/// for no more than the setting allows, or the author already does.
fn patience(settings: &Settings, tool: &Tool, asked: Option<Duration>) -> Patience {
    let usual = tool.timeouts.limit.unwrap_or(settings.default_timeout);
    let limit = asked.map_or(usual, |asked| asked.min(settings.max_timeout.max(usual)));
    let extends = tool.timeouts.progress_extends.unwrap_or(settings.progress_extends_timeout);
    let most = tool.timeouts.most.unwrap_or(settings.max_timeout);
    // Whoever is asked may think as long as the longest call may take, all questions of a call together.
    Patience { limit, most: extends.then_some(most), pause: settings.max_timeout }
}
