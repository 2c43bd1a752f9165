//! Call results: converts the outcome of a process into a result, or into the error that its script returned.

use super::resources_file::{self, Allowance};
use super::structured::Structured;
use super::whole_result::{WholeResult, readable_result, rpc_error, without_lone_surrogates};
use super::{content_check, cut, failures, not_json};
use crate::handling::Work;
use crate::logging::{Facts, Measured, SchemaRule};
use crate::offered::{Broken, Schemas};
use crate::replies::definitions::{LAUNCHER, SANDBOX};
use crate::replies::{Answer, Content, Members, result_redaction};
use mcp_bash_budget::{Charge, NoRoom, SMALL, tree_bytes};
use mcp_bash_policy::Redactions;
use mcp_bash_project::{Execution, Tool, excerpt};
use mcp_bash_scripts::{
    AnswerKind, LONGEST_ARGUMENT, Outcome, ProcessEnding, ScriptRoots, TimeLimits, interpreter_problem,
    missing_variable, sdk_not_sourced,
};
use mcp_bash_wire::{Limits, LogLevel, Raw, RpcError, ScanError, Scanner, keys, surrogates, write};
use std::borrow::Cow;
use std::path::Path;

/// A call whose process has ended.
pub(crate) struct Finished<'a> {
    pub(crate) work: &'a Work,
    pub(crate) tool: &'a Tool,
    pub(crate) schemas: &'a Schemas,
    pub(crate) outcome: &'a Outcome,
    pub(crate) patience: TimeLimits,
    /// The roots of the script.
    pub(crate) roots: &'a ScriptRoots,
    /// The arguments of the call.
    pub(crate) arguments: &'a str,
    /// The redactions for files that the script named; its output is redacted already.
    pub(crate) redactions: &'a Redactions,
}

/// The error for the client, and its kind, which is all that the operator sees.
struct FailedCall {
    error: RpcError,
    kind: &'static str,
    /// The violated schema rule, and the number of problems.
    rule: Option<(SchemaRule, usize)>,
}

impl FailedCall {
    fn new(kind: &'static str, error: RpcError) -> Self {
        Self { error, kind, rule: None }
    }

    /// The script itself returned an error.
    fn own(error: RpcError) -> Self {
        Self::new("the script answered with an error of its own", error)
    }
}

impl From<Broken> for FailedCall {
    fn from(Broken { error, kind, problems, rule }: Broken) -> Self {
        Self { error, kind, rule: rule.map(|rule| (rule, problems)) }
    }
}

impl Finished<'_> {
    pub(crate) fn answer(&self) -> Result<Answer, RpcError> {
        let answer = self.result();
        let failure = answer.as_ref().err();
        let worker_failed =
            self.outcome.worker_answer.is_some() && answer.as_ref().is_ok_and(|answer| answer.is_error);
        match self.outcome.ending {
            ProcessEnding::Exited(_) if failure.is_none() && self.has_answered() && !worker_failed => {
                self.work.log(LogLevel::Debug, "mcp.tools", "tool ended", || self.facts());
            }
            ProcessEnding::Cancelled => {}
            _ => self.report_failure(failure),
        }
        answer.map_err(|failure| failure.error)
    }

    /// The tool, and how its process ended.
    fn facts(&self) -> Facts {
        let mut facts = Facts::of_tool(self.tool);
        if let Some(code) = self.outcome.exit_code() {
            facts = facts.number("exitCode", code);
        }
        match self.outcome.ending {
            ProcessEnding::Signalled(signal) => facts.number("signal", signal),
            ProcessEnding::TimedOut(_) => facts.is("timedOut"),
            ProcessEnding::Shutdown => facts.is("stoppedByShutdown"),
            _ => facts,
        }
    }

    /// Logs a failed call for the operator. The script's own message is only for the client.
    fn report_failure(&self, failure: Option<&FailedCall>) {
        let mut facts = self.facts();
        if let Some(FailedCall { error, kind, rule }) = failure {
            facts = facts.number("errorCode", error.code).words("error", kind);
            facts = facts.number("stdoutBytes", self.outcome.stdout.len());
            if let Some((rule, problems)) = rule {
                facts = facts.rule(rule).number("problems", *problems);
            }
        } else if self.outcome.worker_answer.is_some() {
            facts = facts.words("error", "its result says that it failed");
        }
        report_failure(self.work, facts);
    }

    fn result(&self) -> Result<Answer, FailedCall> {
        match self.outcome.ending {
            ProcessEnding::OutputTooLarge => {
                return Err(FailedCall::new("it printed more than it may", self.too_large()));
            }
            ProcessEnding::NoRoom(why) => return Err(self.no_room(why)),
            ProcessEnding::TimedOut(overrun) => {
                self.work.measure(Measured::timed_out);
                return Ok(self.with_meta(
                    failures::timed_out(self.tool, self.patience, overrun, self.work.revision()),
                    None,
                    None,
                ));
            }
            ProcessEnding::Shutdown => return Ok(self.with_meta(failures::shut_down(self.tool), None, None)),
            _ => {}
        }
        if let Some(kind) = self.outcome.worker_answer {
            return self.answered_by_worker(kind);
        }
        // A script that exits successfully has handled whatever error it wrote.
        if !self.has_answered()
            && let Some(text) = self.outcome.own_error()
            && !text.trim().is_empty()
        {
            return self.own_failure(&result_redaction::output(text.trim(), self.redactions));
        }
        let mut stdout = self.outcome.text();
        if let Some(repaired) = without_lone_surrogates(&stdout) {
            stdout = Cow::Owned(repaired);
        }
        let printed = Scanner::new(stdout.trim(), Limits::default()).whole_value();
        if self.tool.execution == Execution::Provider {
            return self.provided(&stdout, printed);
        }
        let printed = printed.ok();
        if self.has_answered() { self.success(&stdout, printed) } else { self.failed(&stdout, printed) }
    }

    /// The answer of a worker: a whole result, or an error.
    fn answered_by_worker(&self, kind: AnswerKind) -> Result<Answer, FailedCall> {
        let text = self.outcome.text();
        if kind == AnswerKind::Error {
            let unread =
                || RpcError::internal(format!("Tool '{}' failed with no error: {text}", self.tool.name));
            return Err(FailedCall::own(rpc_error(&text).unwrap_or_else(unread)));
        }
        let result = Scanner::new(&text, Limits::default()).whole_value().ok().and_then(WholeResult::read);
        let Some(whole) = result else {
            let problem = "answered with no `CallToolResult`, which has an array of `content`";
            return Err(FailedCall::new(
                NO_RESULT,
                RpcError::internal(format!("Tool '{}' {problem}: {}", self.tool.name, excerpt(&text))),
            ));
        };
        self.whole_result(&whole)
    }

    /// A result that a script wrote itself, if its content is valid and it satisfies its schema.
    fn whole_result(&self, whole: &WholeResult<'_>) -> Result<Answer, FailedCall> {
        if let Some(problem) = content_check::problem(whole.content) {
            let name = &self.tool.name;
            let told = format!("Tool '{name}' answered with no `CallToolResult`: {problem}");
            return Err(FailedCall::new(NO_RESULT, RpcError::internal(told)));
        }
        if !whole.is_error {
            self.check(whole.structured, no_structured_content)?;
        }
        self.pass_through(whole, whole.is_error)
    }

    fn has_answered(&self) -> bool {
        self.outcome.answers(self.tool)
    }

    fn success(&self, stdout: &str, printed: Option<Raw<'_>>) -> Result<Answer, FailedCall> {
        if let Some(whole) = printed.and_then(WholeResult::read) {
            return self.whole_result(&whole);
        }
        self.check(printed, || not_json::explain(stdout))?;
        // A tool with an output schema may return any JSON value; otherwise only an object is structured content.
        let is_structured = |raw: &Raw<'_>| raw.is_object() || self.tool.output_schema.is_some();
        let structured = printed.filter(is_structured);
        if printed.is_none() {
            self.report_unread(stdout);
        }
        let text = stdout.strip_suffix('\n').unwrap_or(stdout);
        let _held =
            self.room_for(cut::size_of(text, self.work) + structured.map_or(0, |raw| raw.text().len()))?;
        let content = cut::content_of(text, self.work);
        Ok(self.with_meta(self.content(content, structured.map(Structured::of_text), false), None, None))
    }

    /// Logs, once per tool, that its output contains JSON but is sent as text.
    fn report_unread(&self, stdout: &str) {
        let (server, tool) = (self.work.server(), &self.tool.name);
        if server.is_reported_unread(tool) {
            return;
        }
        if let Some(problem) = not_json::unread(stdout)
            && server.note_reported_unread(tool)
        {
            self.work.log(LogLevel::Warning, "mcp.tools", problem, || Facts::of_tool(self.tool));
        }
    }

    fn failed(&self, stdout: &str, printed: Option<Raw<'_>>) -> Result<Answer, FailedCall> {
        // A result with invalid content is sent as text, like any other output.
        if let Some(whole) = printed.and_then(readable_result) {
            return self.pass_through(&whole, true);
        }
        // Older scripts print the error they want.
        if let Some(error) = printed.and_then(|raw| rpc_error(raw.text())) {
            return Err(FailedCall::own(error));
        }
        let (stderr, exit_code) = (self.errors(), self.outcome.exit_code().unwrap_or_default());
        let said = [stderr.trim(), stdout.trim()].into_iter().find(|text| !text.is_empty());
        let mut content = match said {
            Some(said) => cut::content_of(said, self.work),
            None => Content::of_text(&format!("{}{SILENT}", self.how_it_failed())),
        };
        if said.is_some() && self.outcome.ended_by_force() {
            content.text(&self.how_it_failed());
        }
        if let Some(problem) = interpreter_problem(&self.tool.script, exit_code) {
            content.text(&self.short(&problem.to_string()));
        }
        if let Some(advice) = sdk_not_sourced(&stderr).or_else(|| self.missing_variable(&stderr)) {
            content.text(&advice);
        }
        if let Some(denial) = &self.outcome.denial {
            content.text(&self.short(&denial.told));
        }
        Ok(self.with_meta(content.finish(true), None, said))
    }

    /// The variable that the script lacked, unless another reason is known.
    fn missing_variable(&self, stderr: &str) -> Option<String> {
        let exit_code = self.outcome.exit_code().unwrap_or_default();
        if self.outcome.ended_by_force()
            || self.outcome.denial.is_some()
            || interpreter_problem(&self.tool.script, exit_code).is_some()
        {
            return None;
        }
        let server = self.work.server();
        let paths = &server.snapshot().catalog.paths;
        missing_variable(self.tool, paths, server.settings(), stderr).map(|missing| missing.to_string())
    }

    fn how_it_failed(&self) -> String {
        format!("Tool '{}' {}", self.tool.name, self.outcome.failure())
    }

    /// The end of standard error, with short paths.
    fn errors(&self) -> String {
        self.short(&self.outcome.errors())
    }

    fn short(&self, text: &str) -> String {
        self.work.server().short_paths().text_but(text, self.arguments).into_owned()
    }

    /// The answer of an executable that provides tools: a whole result, or an error.
    fn provided(&self, stdout: &str, printed: Result<Raw<'_>, ScanError>) -> Result<Answer, FailedCall> {
        let name = &self.tool.name;
        let failed = |kind, why: String| {
            let hint = if self.arguments.len() > LONGEST_ARGUMENT {
                let size = self.arguments.len();
                format!(
                    "\n(Its arguments of {size} bytes are too long for a command line: they were only on its standard input.)"
                )
            } else {
                String::new()
            };
            Err(FailedCall::new(kind, RpcError::internal(format!("Tool '{name}' {why}{hint}"))))
        };
        if !self.has_answered() {
            let stderr = self.outcome.errors();
            let said = [stdout.trim(), stderr.trim()].into_iter().filter(|text| !text.is_empty());
            let exit_code = self.outcome.exit_code().unwrap_or_default();
            let mut said = said.collect::<Vec<_>>().join("\n");
            if let Some(problem) = interpreter_problem(&self.tool.script, exit_code) {
                said = format!("{said}\n{problem}");
            }
            return failed("its provider failed", format!("{}: {said}", self.outcome.failure()));
        }
        let printed = match printed {
            Ok(printed) => printed,
            Err(error) => return failed(NOT_JSON, format!("returned invalid JSON: {error}")),
        };
        let Some(whole) = WholeResult::read(printed) else {
            return failed(NO_RESULT, format!("returned invalid JSON:\n{}", stdout.trim()));
        };
        self.whole_result(&whole)
    }

    /// A result that the script wrote itself. Its members stay; the server adds to its `_meta`.
    fn pass_through(&self, whole: &WholeResult<'_>, is_error: bool) -> Result<Answer, FailedCall> {
        let size = |part: Option<Raw<'_>>| part.map_or(0, |raw| raw.text().len());
        let meta = whole.meta.map_or(0, |meta| tree_bytes(meta.text()));
        let _held = self.room_for(size(Some(whole.content)) + size(whole.structured) + meta)?;
        let mut content = Content::new();
        let _ = Scanner::again(whole.content)
            .elements(|element| cut::add_item(&mut content, element.text(), self.work));
        if let Some(denial) = self.outcome.denial.as_ref().filter(|_| is_error) {
            content.text(&self.short(&denial.told));
        }
        // The other items matter only if the structured content may be left out.
        let structured = whole.structured.map(|value| match &self.tool.output_schema {
            Some(_) => Structured::of_text(value),
            None => Structured::of_result(value, whole.content),
        });
        let answer = self.content(content, structured, is_error);
        Ok(self.with_meta(answer, whole.meta, None))
    }

    /// A result with `content`, the files that the script named, and its structured content.
    fn content(&self, mut content: Content, structured: Option<Structured<'_>>, is_error: bool) -> Answer {
        let has_files = self.embed_files(&mut content);
        let Some(structured) = structured else { return content.finish(is_error) };
        let may_be_left_out = self.tool.output_schema.is_none();
        let is_long = cut::is_long(structured.value.text().len(), self.work);
        if may_be_left_out && (has_files || structured.is_beside_files || is_long) {
            if !structured.is_in_text {
                cut::add_text(&mut content, &write::compact(structured.value.text()), self.work);
            }
            return content.finish(is_error);
        }
        if content.is_empty() {
            // Many clients show the model only the content.
            cut::add_text(&mut content, &write::compact(structured.value.text()), self.work);
        }
        content.finish(is_error).with_structured(structured.value.text(), self.work.revision())
    }

    /// Adds the files that the script named. Returns whether there are any.
    fn embed_files(&self, content: &mut Content) -> bool {
        let root = &self.work.server().snapshot().catalog.paths.root;
        let allowance = Allowance::new(self.work.server().settings().output_limit, self.work.budget());
        let before = content.len();
        let roots = self.roots.paths.lines().map(Path::new);
        let others: Vec<&Path> = roots.chain(self.outcome.call_folder()).collect();
        let list = self.outcome.list_of_resources();
        let problems = resources_file::embed(content, list, root, &others, allowance, self.redactions);
        let has_files = content.len() > before;
        if !problems.is_empty() {
            content.text(&self.short(&in_brief(&problems)));
        }
        for problem in &problems {
            let message = format!("Tool '{}': {problem}", self.tool.name);
            self.work.log_to_client(LogLevel::Warning, "mcp.tools", &message);
        }
        if !problems.is_empty() {
            let facts = Facts::of_tool(self.tool).number("problems", problems.len());
            let kind = "files that a tool named for its result are left out";
            self.work.server().log().request_event(LogLevel::Warning, "mcp.tools", kind, facts);
        }
        has_files
    }

    /// Adds to `_meta` how the process failed, unless the result `says` so already. A result that needs no `_meta` has none:
    /// some clients pass the whole result to the model as JSON if there is `_meta`.
    fn with_meta(&self, answer: Answer, own: Option<Raw<'_>>, says: Option<&str>) -> Answer {
        let mut meta = Members::default();
        if let Some(own) = own {
            // The server's own values take precedence over a script's.
            meta.splice_object(own, &["exitCode", "stderr", keys::SERVER_INFO, SANDBOX, LAUNCHER]);
        }
        let always = self.work.server().settings().result_meta_always;
        let exit_code = match self.outcome.ending {
            ProcessEnding::TimedOut(_) => Some(failures::TIMED_OUT),
            _ => self.outcome.exit_code().filter(|code| always || *code != 0),
        };
        meta.optional_raw("exitCode", exit_code.map(|code| code.to_string()).as_deref());
        let mut tells_of_process = exit_code.is_some();
        if always || answer.is_error {
            let stderr = self.errors();
            let stderr = stderr.trim();
            let stderr = Some(stderr).filter(|text| !text.is_empty() && (always || says != Some(text)));
            meta.string("stderr", stderr);
            tells_of_process |= stderr.is_some();
        }
        if tells_of_process {
            let sandbox = self.work.server().scripts().sandbox_summary(self.tool.options.sandbox.as_ref());
            meta.optional_raw(SANDBOX, sandbox.as_deref());
        }
        if tells_of_process || answer.is_error {
            meta.optional_raw(LAUNCHER, self.outcome.launcher.as_deref());
        }
        Answer { meta: meta.into_text(), ..answer }
    }

    /// The error that the script wrote for the client: a whole result, or an error object.
    fn own_failure(&self, text: &str) -> Result<Answer, FailedCall> {
        let text = surrogates::repaired(text);
        let whole = Scanner::new(&text, Limits::default()).whole_value().ok();
        if let Some(whole) = whole.and_then(readable_result) {
            return self.pass_through(&whole, true);
        }
        let raw = || RpcError { data: Some(write::string(&text)), ..RpcError::internal("Tool failed") };
        Err(FailedCall::own(rpc_error(&text).unwrap_or_else(raw)))
    }

    fn too_large(&self) -> RpcError {
        let limit = self.work.server().settings().output_limit;
        RpcError::internal(format!(
            "Tool '{}' printed more than {limit} bytes; MCPBASH_MAX_TOOL_OUTPUT_SIZE sets the limit",
            self.tool.name
        ))
    }

    /// Checks the structured content against the tool's output schema.
    fn check(&self, structured: Option<Raw<'_>>, missing: impl FnOnce() -> String) -> Result<(), FailedCall> {
        if self.tool.output_schema.is_none() {
            return Ok(());
        }
        let text = structured.map(Raw::text);
        let _held = self.room_for(text.map_or(0, Schemas::cost_of))?;
        Ok(self.schemas.check_output(self.tool, text, missing)?)
    }

    /// Charges a result of this size, in addition to the output, while it is written.
    fn room_for(&self, bytes: usize) -> Result<Option<Charge>, FailedCall> {
        let held = (bytes > SMALL).then(|| self.work.budget().charge(bytes)).transpose();
        held.map_err(|why| self.no_room(why))
    }

    fn no_room(&self, why: NoRoom) -> FailedCall {
        let told = format!("The result of tool '{}' is not sent: {why}", self.tool.name);
        FailedCall::new("there is no room for its result", RpcError::internal(told))
    }
}

/// Added if a failed script has printed nothing.
const SILENT: &str = ", and printed no reason; its script can print one on standard error";

/// The first problems, one per line, and the number of the others.
fn in_brief(problems: &[String]) -> String {
    const MOST: usize = 10;
    let (told, rest) = problems.split_at(problems.len().min(MOST));
    let more = (!rest.is_empty()).then(|| format!("\n{} more are left out", rest.len()));
    told.join("\n") + &more.unwrap_or_default()
}

const NO_RESULT: &str = "it answered with no `CallToolResult`";
const NOT_JSON: &str = "it printed what is no JSON";

/// Why there is nothing to validate.
fn no_structured_content() -> String {
    "its result has no `structuredContent`".to_owned()
}

/// Logs a failed call for the operator.
pub(super) fn report_failure(work: &Work, facts: Facts) {
    work.server().log().request_event(LogLevel::Warning, "mcp.tools", "a call failed", facts);
}
