//! What a finished process becomes: a result, or an error that its script asked for.

use super::resources_file::{self, Allowance};
use super::structured::Structured;
use super::{content_check, cut};
use crate::schemas::Schemas;
use crate::shape::{Answer, Content, Members};
use crate::work::Work;
use mcp_bash_budget::{Charge, NoRoom, SMALL, tree_bytes};
use mcp_bash_project::{Execution, Tool, WorkerProgram, excerpt};
use mcp_bash_scripts::{
    AnswerKind, LONGEST_ARGUMENT, Outcome, Overrun, Patience, ProcessEnding, interpreter_problem,
};
use mcp_bash_wire::{Limits, LogLevel, Object, Raw, RpcError, ScanError, Scanner, code, keys, write};
use serde_json::{Value, json};
use std::time::Duration;

/// A call whose process has ended.
pub(crate) struct Finished<'a> {
    pub(crate) work: &'a Work,
    pub(crate) tool: &'a Tool,
    pub(crate) schemas: &'a Schemas,
    pub(crate) outcome: &'a Outcome,
    pub(crate) patience: Patience,
    /// What it was given.
    pub(crate) arguments: &'a str,
}

impl Finished<'_> {
    pub(crate) fn answer(&self) -> Result<Answer, RpcError> {
        let answer = self.result();
        let error = answer.as_ref().err();
        let worker_failed =
            self.outcome.worker_answer.is_some() && answer.as_ref().is_ok_and(|answer| answer.is_error);
        match self.outcome.ending {
            ProcessEnding::Exited(_) if error.is_none() && self.has_answered() && !worker_failed => {
                let details = || json!({ "tool": self.tool.name, "exitCode": self.outcome.exit_code() });
                self.work.log(LogLevel::Debug, "mcp.tools", "tool ended", details);
            }
            ProcessEnding::Cancelled => {}
            _ => self.report_failure(error),
        }
        answer
    }

    /// Tells the operator of a failed call. Its client has the answer, which may quote what is nobody else's business:
    /// only the beginning of the reason is told, and where nobody wants to know what tools complain of, no reason that
    /// may be in their words.
    fn report_failure(&self, error: Option<&RpcError>) {
        let mut details = json!({ "tool": self.tool.name });
        if let Some(code) = self.outcome.exit_code() {
            details["exitCode"] = json!(code);
        }
        if let ProcessEnding::TimedOut(_) = self.outcome.ending {
            details["timedOut"] = json!(true);
        }
        if let Some(error) = error {
            details["errorCode"] = json!(error.code);
        }
        let reason = error.filter(|error| error.code == code::INTERNAL_ERROR).map(|error| &*error.message);
        let may_quote = self.work.server().settings().stderr_tail > 0;
        if let Some(reason) = reason.or(self.outcome.complaint.as_deref()).filter(|_| may_quote) {
            details["error"] = json!(excerpt(reason));
        }
        if let Some(line) = self.outcome.errors().lines().rev().find(|line| !line.trim().is_empty()) {
            details["stderr"] = json!(excerpt(line));
        }
        report_failure(self.work, &details);
    }

    fn result(&self) -> Result<Answer, RpcError> {
        match self.outcome.ending {
            ProcessEnding::OutputTooLarge => return Err(self.too_large()),
            ProcessEnding::NoRoom(why) => return Err(self.no_room(why)),
            ProcessEnding::TimedOut(overrun) => {
                return Ok(self.with_meta(self.timed_out(overrun), None, None));
            }
            _ => {}
        }
        if let Some(kind) = self.outcome.worker_answer {
            return self.answered_by_worker(kind);
        }
        // A script that ends well has got over whatever it wrote there.
        if !self.has_answered()
            && let Some(error) = self.own_error()
        {
            return Err(error);
        }
        let stdout = self.outcome.text();
        let printed = Scanner::new(stdout.trim(), Limits::default()).whole_value();
        if self.tool.execution == Execution::Provider {
            return self.provided(&stdout, printed);
        }
        let printed = printed.ok();
        if self.has_answered() { self.success(&stdout, printed) } else { self.failed(&stdout, printed) }
    }

    /// What a worker answered: a whole result, or an error.
    fn answered_by_worker(&self, kind: AnswerKind) -> Result<Answer, RpcError> {
        let text = self.outcome.text();
        if kind == AnswerKind::Error {
            let unread =
                || RpcError::internal(format!("Tool '{}' failed with no error: {text}", self.tool.name));
            return Err(rpc_error(&text).unwrap_or_else(unread));
        }
        let result = Scanner::new(&text, Limits::default()).whole_value().ok().and_then(WholeResult::read);
        let Some(whole) = result else {
            let problem = "answered with no `CallToolResult`, which has an array of `content`";
            return Err(RpcError::internal(format!(
                "Tool '{}' {problem}: {}",
                self.tool.name,
                excerpt(&text)
            )));
        };
        if let Some(problem) = content_check::problem(whole.content) {
            return Err(RpcError::internal(format!(
                "Tool '{}' answered with no `CallToolResult`: {problem}",
                self.tool.name
            )));
        }
        if !whole.is_error {
            self.check(whole.structured, no_structured_content)?;
        }
        self.pass_through(&whole, whole.is_error)
    }

    fn has_answered(&self) -> bool {
        self.outcome.answers(self.tool)
    }

    fn success(&self, stdout: &str, printed: Option<Raw<'_>>) -> Result<Answer, RpcError> {
        if let Some(whole) = printed.and_then(WholeResult::read) {
            if !whole.is_error {
                self.check(whole.structured, no_structured_content)?;
            }
            return self.pass_through(&whole, whole.is_error);
        }
        self.check(printed, || not_json(stdout))?;
        // Whoever promises structure in a schema may give any; otherwise only an object is taken for it.
        let is_structured = |raw: &Raw<'_>| raw.is_object() || self.tool.output_schema.is_some();
        let structured = printed.filter(is_structured);
        let text = stdout.strip_suffix('\n').unwrap_or(stdout);
        let _held =
            self.room_for(cut::size_of(text, self.work) + structured.map_or(0, |raw| raw.text().len()))?;
        let content = cut::content_of(text, self.work);
        Ok(self.with_meta(self.content(content, structured.map(Structured::of_text), false), None, None))
    }

    fn failed(&self, stdout: &str, printed: Option<Raw<'_>>) -> Result<Answer, RpcError> {
        if let Some(whole) = printed.and_then(WholeResult::read) {
            return self.pass_through(&whole, true);
        }
        // Older scripts print the error they want.
        if let Some(error) = printed.and_then(|raw| rpc_error(raw.text())) {
            return Err(error);
        }
        let (stderr, exit_code) = (self.errors(), self.outcome.exit_code().unwrap_or_default());
        let said = [stderr.trim(), stdout.trim()].into_iter().find(|text| !text.is_empty());
        let mut content = match said {
            Some(said) => cut::content_of(said, self.work),
            None => Content::of_text(&format!("Tool '{}' failed (exit {exit_code})", self.tool.name)),
        };
        if let Some(problem) = interpreter_problem(&self.tool.script, exit_code) {
            content.text(&self.short(&problem.to_string()));
        }
        Ok(self.with_meta(content.finish(true), None, said))
    }

    /// The end of standard error, as the client is told it.
    fn errors(&self) -> String {
        self.short(&self.outcome.errors())
    }

    fn short(&self, text: &str) -> String {
        let roots = self.work.known_roots();
        self.work.server().short_paths().text_but(text, &[self.arguments, &roots.paths]).into_owned()
    }

    /// What an executable that provides tools makes of a call: a whole result, or an error.
    fn provided(&self, stdout: &str, printed: Result<Raw<'_>, ScanError>) -> Result<Answer, RpcError> {
        let name = &self.tool.name;
        let failed = |why: String| {
            let hint = if self.arguments.len() > LONGEST_ARGUMENT {
                let size = self.arguments.len();
                format!(
                    "\n(Its arguments of {size} bytes are too long for a command line: they were only on its standard input.)"
                )
            } else {
                String::new()
            };
            Err(RpcError::internal(format!("Tool '{name}' {why}{hint}")))
        };
        if !self.has_answered() {
            let stderr = self.outcome.errors();
            let said = [stdout.trim(), stderr.trim()].into_iter().filter(|text| !text.is_empty());
            let exit_code = self.outcome.exit_code().unwrap_or_default();
            let mut said = said.collect::<Vec<_>>().join("\n");
            if let Some(problem) = interpreter_problem(&self.tool.script, exit_code) {
                said = format!("{said}\n{problem}");
            }
            return failed(format!("failed (exit {exit_code}): {said}"));
        }
        let printed = match printed {
            Ok(printed) => printed,
            Err(error) => return failed(format!("returned invalid JSON: {error}")),
        };
        let Some(whole) = WholeResult::read(printed) else {
            return failed(format!("returned invalid JSON:\n{}", stdout.trim()));
        };
        if !whole.is_error {
            self.check(whole.structured, no_structured_content)?;
        }
        self.pass_through(&whole, whole.is_error)
    }

    /// A result that the script has written itself. What it says stands; what we know is added to its `_meta`.
    fn pass_through(&self, whole: &WholeResult<'_>, is_error: bool) -> Result<Answer, RpcError> {
        let size = |part: Option<Raw<'_>>| part.map_or(0, |raw| raw.text().len());
        let meta = whole.meta.map_or(0, |meta| tree_bytes(meta.text()));
        let _held = self.room_for(size(Some(whole.content)) + size(whole.structured) + meta)?;
        let mut content = Content::new();
        let _ = Scanner::again(whole.content)
            .elements(|element| content.item(element.text(), self.work.revision()));
        // Only where it may be left out does it matter what stands beside it.
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
        if may_be_left_out && (has_files || structured.is_beside_files) {
            if !structured.is_in_text {
                content.text(&write::compact(structured.value.text()));
            }
            return content.finish(is_error);
        }
        content.finish(is_error).with_structured(structured.value.text(), self.work.revision())
    }

    /// Adds the files that the script named. Returns whether there are any.
    fn embed_files(&self, content: &mut Content) -> bool {
        let root = &self.work.server().snapshot().catalog.paths.root;
        let allowance = Allowance::new(self.work.server().settings().output_limit, self.work.budget());
        let before = content.len();
        for problem in resources_file::embed(content, self.outcome.list_of_resources(), root, allowance) {
            let message = format!("Tool '{}': {problem}", self.tool.name);
            self.work.log(LogLevel::Warning, "mcp.tools", &message, || json!({}));
        }
        content.len() > before
    }

    /// Adds to the `_meta` of a result how the process failed, unless the result `says` it already. A result that needs
    /// none has none: some clients hand the model the whole result as JSON as soon as there is `_meta`.
    fn with_meta(&self, answer: Answer, own: Option<Raw<'_>>, says: Option<&str>) -> Answer {
        let mut meta = Members::default();
        if let Some(own) = own {
            // What we know wins over what a script says under the same name.
            meta.splice_object(own, &["exitCode", "stderr", keys::SERVER_INFO]);
        }
        let always = self.work.server().settings().result_meta_always;
        let exit_code = self.outcome.exit_code().filter(|code| always || *code != 0);
        meta.optional_raw("exitCode", exit_code.map(|code| code.to_string()).as_deref());
        if always || answer.is_error {
            let stderr = self.errors();
            let stderr = stderr.trim();
            meta.string(
                "stderr",
                Some(stderr).filter(|text| !text.is_empty() && (always || says != Some(text))),
            );
        }
        Answer { meta: meta.into_text(), ..answer }
    }

    /// The error that the script left for the client.
    fn own_error(&self) -> Option<RpcError> {
        let text = self.outcome.own_error()?;
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let raw = || RpcError { data: Some(write::string(text)), ..RpcError::internal("Tool failed") };
        Some(rpc_error(text).unwrap_or_else(raw))
    }

    fn timed_out(&self, overrun: Overrun) -> Answer {
        let (name, seconds) = (&self.tool.name, self.patience.limit.as_secs());
        let most = self.patience.most.map_or(seconds, |most| most.as_secs());
        let program = self.tool.worker().map_or(WorkerProgram::Itself, |worker| worker.program);
        let place = match program {
            WorkerProgram::Itself => " or in its metadata".to_owned(),
            language => format!(", {}", language.place_of_time("timeoutSecs")),
        };
        let longer =
            format!("`timeoutSecs` in the call{place}, or MCPBASH_DEFAULT_TOOL_TIMEOUT, gives it more");
        let (reason, message) = match overrun {
            Overrun::Fixed => {
                ("fixed", format!("Tool '{name}' timed out after {seconds} s and was ended; {longer}"))
            }
            Overrun::Idle => (
                "idle",
                format!(
                    "Tool '{name}' timed out: it reported no progress for {seconds} s and was ended; {longer}"
                ),
            ),
            Overrun::Most => (
                "max_exceeded",
                format!(
                    "Tool '{name}' timed out: it ran for {most} s, the most it may, and was ended; {}, or \
                     MCPBASH_MAX_TIMEOUT_SECS, gives it more",
                    program.place_of_time("maxTimeoutSecs")
                ),
            ),
        };
        let mut error = json!({
            "type": "timeout",
            "message": message,
            "reason": reason,
            "timeoutSecs": seconds,
            "exitCode": 124,
        });
        if self.patience.most.is_some() {
            error["progressExtendsTimeout"] = json!(true);
            error["maxTimeoutSecs"] = json!(most);
        }
        let mut text = message;
        if let Some(hint) = &self.tool.timeouts.hint {
            error["hint"] = json!(hint);
            text.push_str("\nSuggestion: ");
            text.push_str(hint);
        }
        let structured = json!({ "error": error }).to_string();
        failure(&text).with_structured(&structured, self.work.revision())
    }

    fn too_large(&self) -> RpcError {
        let limit = self.work.server().settings().output_limit;
        RpcError::internal(format!(
            "Tool '{}' printed more than {limit} bytes; MCPBASH_MAX_TOOL_OUTPUT_SIZE sets the limit",
            self.tool.name
        ))
    }

    /// Whether what the script gave is what its author promised.
    fn check(&self, structured: Option<Raw<'_>>, missing: impl FnOnce() -> String) -> Result<(), RpcError> {
        if self.tool.output_schema.is_none() {
            return Ok(());
        }
        let text = structured.map(Raw::text);
        let _held = self.room_for(text.map_or(0, Schemas::cost_of))?;
        self.schemas.check_output(self.tool, text, missing)
    }

    /// Room for a result of so many bytes beside what was printed, for as long as it is being written.
    fn room_for(&self, bytes: usize) -> Result<Option<Charge>, RpcError> {
        let held = (bytes > SMALL).then(|| self.work.budget().charge(bytes)).transpose();
        held.map_err(|why| self.no_room(why))
    }

    fn no_room(&self, why: NoRoom) -> RpcError {
        RpcError::internal(format!("The result of tool '{}' is not sent: {why}", self.tool.name))
    }
}

/// A whole `CallToolResult`, as a script prints it.
struct WholeResult<'a> {
    content: Raw<'a>,
    structured: Option<Raw<'a>>,
    is_error: bool,
    meta: Option<Raw<'a>>,
}

impl<'a> WholeResult<'a> {
    /// `None` for what is no result: one has an array of `content`.
    fn read(raw: Raw<'a>) -> Option<Self> {
        let result =
            Object::read(raw, "the result", &["content", "structuredContent", "isError", "_meta"]).ok()?;
        Some(Self {
            content: result.get("content").filter(|content| content.is_array())?,
            structured: result.get("structuredContent").filter(|structured| !structured.is_null()),
            is_error: result.get("isError").is_some_and(|raw| raw.text() == "true"),
            meta: result.optional_object("_meta").ok()?,
        })
    }
}

/// `{"code": …, "message": …, "data": …}` as the error it describes.
fn rpc_error(text: &str) -> Option<RpcError> {
    let whole = Scanner::new(text, Limits::default()).whole_value().ok()?;
    let error = Object::read(whole, "the error", &["code", "message", "data"]).ok()?;
    let code = error.get("code")?.text().parse().ok()?;
    let message = error.get("message").and_then(Raw::string)?.into_owned();
    let data = error.get("data").filter(|data| !data.is_null()).map(|data| write::compact(data.text()));
    Some(RpcError { data, ..RpcError::new(code, message) })
}

/// Why there is nothing to be held against a schema.
fn no_structured_content() -> String {
    "its result has no `structuredContent`".to_owned()
}

fn not_json(stdout: &str) -> String {
    match stdout.lines().find(|line| !line.trim().is_empty()) {
        None => "it printed nothing".to_owned(),
        Some(line) => format!(
            "it is not JSON. It begins with `{}`. Only the result belongs on standard output: debug output goes to \
             standard error (`>&2`) or to `mcp_log`",
            excerpt(line)
        ),
    }
}

/// Tells the operator, once for each, of a call that failed.
pub(super) fn report_failure(work: &Work, details: &Value) {
    work.server().log().operator_event(LogLevel::Warning, "mcp.tools", "a call failed", details);
}

/// A result that says what went wrong.
/// The result of a call whose time was over before its script was started.
pub(crate) fn not_started(work: &Work, message: &str, limit: Duration) -> Answer {
    let error = json!({
        "type": "timeout",
        "message": message,
        "reason": "not_started",
        "timeoutSecs": limit.as_secs(),
        "exitCode": 124,
    });
    failure(message).with_structured(&json!({ "error": error }).to_string(), work.revision())
}

pub(crate) fn failure(text: &str) -> Answer {
    Content::of_text(text).finish(true)
}
