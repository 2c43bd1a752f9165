//! `prompts/get`: creates the messages of a prompt from the client's arguments.

use super::content::{Spent, Writer};
use super::error::PromptError;
use super::values::Values;
use crate::handling::{Resumable, Work};
use crate::logging::{Facts, Measured};
use crate::methods::asked_timeout::asked_timeout;
use crate::methods::{questions, required};
use crate::offered::Policed;
use crate::replies::script_errors::told;
use crate::replies::{Answer, Members, result_redaction};
use crate::requests::Subject;
use mcp_bash_policy::Redactions;
use mcp_bash_project::{Paths, Prompt, Source, without_metadata};
use mcp_bash_scripts::{Outcome, PromptCall};
use mcp_bash_wire::{LogLevel, Object, Raw, RpcError, keys, write};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The params that are read.
const MEMBERS: [&str; 4] = ["name", "arguments", "timeoutSecs", "inputResponses"];

pub(crate) async fn get(work: &Arc<Work>, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let missing = || RpcError::invalid_params("Invalid params: `name` is missing");
    let params = Object::read(params.ok_or_else(missing)?, "params", &MEMBERS)?;
    let name = params.string("name")?;
    let asked = asked_timeout(&params)?;
    let snapshot = work
        .snapshot_with(|snapshot, in_progress| {
            let prompt = snapshot.catalog.prompts.get(&name);
            prompt.is_some_and(|prompt| in_progress.iter().all(|asked| asked.file != prompt.file))
        })
        .await;
    snapshot.check_served()?;
    let prompt = snapshot.catalog.prompts.get(&name);
    let prompt = prompt.ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: {name}")))?;
    required::check(work, &prompt.required_capabilities)?;
    if work.is_replay() && !prompt.may_run_again {
        return Err(work.unresumable());
    }
    if let Some(responses) = params.get("inputResponses").filter(|responses| responses.is_object()) {
        work.take_answers(responses);
    }
    let arguments = params.optional_object("arguments")?;
    let values = Values::read(prompt, arguments)?;
    let policed = Policed::Prompt { name: &prompt.name, arguments: &values.json() };
    let redactions = work.police(&snapshot, &policed)?;
    work.log(LogLevel::Debug, "mcp.prompts", "prompt asked for", || Facts::of_prompt(prompt));

    let paths = &snapshot.catalog.paths;
    let writer = Writer {
        prompt,
        paths,
        values: Some(&values),
        limit: work.server().settings().prompt_limit,
        revision: work.revision(),
        spent: Spent::nothing(work.budget()),
    };
    let rendered = match &prompt.source {
        Source::Template => template(&writer),
        Source::Messages(messages) => listed(&writer, messages.get()),
        Source::Script | Source::Function(_) => {
            let resumable = || Resumable {
                subject: Subject::new("prompts/get", &name, arguments.map_or("{}", Raw::text)),
                may_run_again: prompt.may_run_again,
            };
            let printed = run(work, prompt, &values, paths, asked, resumable).await?;
            printed_by_script(&Writer { values: None, ..writer }, &printed)
        }
    };
    let rendered = rendered.map_err(|problem| {
        RpcError::internal(format!("Prompt '{}' ({}) {problem}", prompt.name, prompt.path))
    })?;
    Ok(rendered.redacted(&redactions).answer(prompt))
}

/// A rendered prompt.
#[derive(Default)]
struct Rendered {
    /// A JSON array.
    messages: String,
    description: Option<String>,
    /// The `_meta` members that a script adds to the result.
    meta: Value,
}

impl Rendered {
    fn of(messages: String) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Applies the redactions of the policy to the messages, a description of the script's own, and `_meta`.
    fn redacted(mut self, redactions: &Redactions) -> Self {
        if !redactions.is_empty() {
            self.messages = result_redaction::contents(&self.messages, redactions);
            self.description = self.description.map(|text| redactions.patterns(&text).into_owned());
            redactions.value(&mut self.meta);
        }
        self
    }

    fn answer(self, prompt: &Prompt) -> Answer {
        let mut result = Members::default();
        result.string("description", self.description.as_deref().or(prompt.description.as_deref()));
        result.raw("messages", &self.messages);
        let mut meta = Members::default();
        meta.optional_raw(
            "mcpbash/metadata",
            prompt.metadata.as_deref().map(serde_json::value::RawValue::get),
        );
        // The server's own values take precedence over a script's.
        let is_ours = |key: &str| key == "mcpbash/metadata" || key == keys::SERVER_INFO;
        for (key, value) in self.meta.as_object().into_iter().flatten().filter(|(key, _)| !is_ours(key)) {
            meta.splice(&format!("{}:{value}", write::string(key)));
        }
        Answer { meta: meta.into_text(), ..Answer::members(result.into_text()) }
    }
}

/// A text file is one message; a JSON file contains messages.
fn template(writer: &Writer<'_>) -> Result<Rendered, PromptError> {
    let name = writer.prompt.file.file_name().unwrap_or_default().to_string_lossy();
    let (bytes, file) = writer.read(&name)?;
    let text = String::from_utf8(bytes).map_err(|_| "is not valid UTF-8; save it as UTF-8")?;
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return listed(writer, &text);
    }
    Ok(Rendered::of(writer.text(without_metadata(&text).trim_end_matches(['\n', '\r']))?))
}

/// Messages as JSON: an array, or an object with an array `messages`.
fn listed(writer: &Writer<'_>, text: &str) -> Result<Rendered, PromptError> {
    let whole = writer.parse(text)?.map_err(PromptError::NotJson)?;
    listed_in(writer, &whole)
}

fn listed_in(writer: &Writer<'_>, whole: &Value) -> Result<Rendered, PromptError> {
    let messages = whole.as_array().or_else(|| whole["messages"].as_array());
    let messages = messages.ok_or("must hold an array of messages")?;
    let description = whole["description"].as_str().map(str::to_owned);
    Ok(Rendered { description, ..Rendered::of(writer.messages(messages)?) })
}

/// Script output: a whole result, an array of messages, or text.
fn printed_by_script(writer: &Writer<'_>, printed: &str) -> Result<Rendered, PromptError> {
    let is_message = |value: &Value| value.get("content").is_some();
    match writer.parse(printed.trim())? {
        Ok(mut whole) if whole["messages"].is_array() => {
            let meta = whole["_meta"].take();
            Ok(Rendered { meta, ..listed_in(writer, &whole)? })
        }
        Ok(Value::Array(messages)) if !messages.is_empty() && messages.iter().all(is_message) => {
            Ok(Rendered::of(writer.messages(&messages)?))
        }
        _ => Ok(Rendered::of(writer.text(printed.trim_end_matches(['\n', '\r']))?)),
    }
}

/// Runs the script of a prompt, and returns its output.
async fn run(
    work: &Arc<Work>,
    prompt: &Prompt,
    values: &Values,
    paths: &Paths,
    asked: Option<Duration>,
    resumable: impl Fn() -> Resumable,
) -> Result<String, RpcError> {
    let (arguments, span) = (values.json(), work.script_span(&prompt.file));
    let roots = work.roots().await;
    let call = PromptCall {
        caller: work.identity().for_scripts(),
        roots: &roots,
        opened_roots: work.opened_roots(&roots),
        prompt,
        paths,
        arguments: &arguments,
        asked,
        budget: work.budget(),
        trace: span.trace(),
        may_ask: work.can_be_asked(),
        may_elicit: work.capabilities().can_elicit(),
    };
    let on_question = |question| questions::attend(work, question, resumable());
    let outcome = work.server().scripts().prompt(call, work.cancelled(), on_question).await;
    span.end_script(&outcome);
    outcome.map(Outcome::into_text).map_err(|error| {
        if error.is_timeout() {
            work.measure(Measured::timed_out);
        }
        told(error)
    })
}
