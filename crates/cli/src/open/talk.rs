//! Talk: a conversation for one purpose: opened, used and closed, for commands that ask a server something and show the
//! answer.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::{Conversation, Failure, OpenProject, ServerArguments};
use crate::terminal::host::CommandLineHost;
use crate::terminal::print::print_json;
use mcp_bash_client::Error as ClientError;
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// The timeout for another server's answer to anything but a tool call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The error codes for a missing entry, and for invalid params.
const NOT_FOUND: i64 = -32002;
const INVALID_PARAMS: i64 = -32602;

/// A conversation with a server, and its host.
pub(crate) struct Talk {
    conversation: Conversation,
    host: CommandLineHost,
    limit: Option<Duration>,
    /// The completions of the project, which no request lists. `None` for another server.
    pub(crate) completions: Option<Vec<String>>,
    /// What is not served, and why.
    pub(crate) skipped: Vec<String>,
}

impl Talk {
    /// Opens a conversation, passes it to `use_it`, and closes it.
    pub(crate) fn with<T>(
        common: &Common,
        server: &ServerArguments,
        use_it: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut talk = Self::open(common, server)?;
        let used = use_it(&mut talk);
        talk.end();
        used
    }

    /// A talk over an open conversation with the server of a project.
    pub(crate) fn of(conversation: Conversation, host: CommandLineHost) -> Self {
        Self { conversation, host, limit: None, completions: None, skipped: Vec::new() }
    }

    pub(crate) fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// The host of the conversation.
    pub(crate) fn host(&mut self) -> &mut CommandLineHost {
        &mut self.host
    }

    pub(crate) fn end(mut self) {
        self.host.finish();
        self.conversation.end();
    }

    fn open(common: &Common, server: &ServerArguments) -> Result<Self, Error> {
        let mut host = CommandLineHost::new(common, Vec::new());
        let limit = Some(TIMEOUT);
        if let Some(conversation) = server.connect(common, &mut host, limit)? {
            return Ok(Self { conversation, host, limit, completions: None, skipped: Vec::new() });
        }
        // Long text is shown whole, because the rest could not be read later.
        let project = OpenProject::read(common, |settings| settings.text_limit = 0)?;
        let completions =
            project.catalog.completions.items().iter().map(|completion| completion.name.clone());
        let completions = Some(completions.collect());
        let skipped = project.skipped().map(ToString::to_string).collect();
        let conversation = Conversation::with_project(project, host.level(), &mut host)?;
        Ok(Self { conversation, host, limit: None, completions, skipped })
    }

    pub(crate) fn request(
        &mut self,
        method: &str,
        params: &impl serde::Serialize,
    ) -> Result<Box<RawValue>, Failure> {
        self.conversation.request(method, params, &mut self.host, self.limit)
    }

    pub(crate) fn entries(&mut self, method: &str, member: &str) -> Result<Vec<Value>, Failure> {
        self.conversation.entries(method, member, &mut self.host, self.limit)
    }

    /// Whether the server has that capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.conversation.greeting()["capabilities"].get(capability).is_some()
    }
}

/// The exit code of a request without a result.
pub(crate) fn exit_of(failure: &Failure) -> Exit {
    match failure {
        Failure::Client(ClientError::Refused(refusal)) => match refusal.code {
            NOT_FOUND => Exit::NotFound,
            INVALID_PARAMS => Exit::Usage,
            _ => Exit::Failed,
        },
        other => other.exit(),
    }
}

/// The error of a request without a result; for programs, if `is_json`, on standard output as well.
pub(crate) fn refused(failure: Failure, is_json: bool) -> Error {
    if let (true, Failure::Client(ClientError::Refused(refusal))) = (is_json, &failure) {
        // The exit code says it too, if the output is not read.
        let _ = print_json(&format!("{{\"error\":{}}}", refusal.text));
    }
    Error::of_command(exit_of(&failure), failure)
}
