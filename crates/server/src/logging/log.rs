//! Log: writes events to standard error for the operator, and sends them to the clients they concern. An event about a request
//! consists of [`Facts`] only. Script output is not an event: it goes to a file of its own, if the operator keeps one.

use super::audience::Audience;
use super::facts::Facts;
use super::log_file::LogFile;
use super::start_warnings::{StartWarnings, digest};
use super::subscriber::Subscriber;
use crate::replies::ShortPaths;
use mcp_bash_harmless as harmless;
use mcp_bash_project::SentWarnings;
use mcp_bash_project::utc::now;
use mcp_bash_secrets::KnownSecrets;
use mcp_bash_wire::{LogLevel, write};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The format of events on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One JSON object per line.
    Json,
    /// Plain text, for a terminal.
    Plain,
    /// Plain text with the time.
    Timed,
    /// No output: clients receive the events, and the user who runs the command is one of them.
    Hidden,
}

/// Receives events instead of standard error: level, logger, message, details.
pub type Operator = dyn Fn(LogLevel, &str, &str, &Value) + Send + Sync;

/// The log. Events contain kinds, places, counts and durations, never arguments, results, secrets or script output.
pub struct Log {
    level: LogLevel,
    style: Style,
    audience: Audience,
    file: Option<NamedLogFile>,
    /// The file for script output, if the operator keeps one.
    script_output: Option<NamedLogFile>,
    /// Receives events instead of standard error.
    operator: Option<Box<Operator>>,
    /// Shortens paths for clients. The operator sees full paths.
    short_paths: Arc<ShortPaths>,
    /// The secrets that no event may contain.
    known_secrets: Arc<KnownSecrets>,
    /// Warnings from before any client was initialized.
    start_warnings: StartWarnings,
    /// The warnings that clients have received from earlier servers, if that is recorded.
    sent_warnings: Option<SentWarnings>,
}

impl Log {
    pub fn new(level: LogLevel, style: Style) -> Self {
        Self {
            level,
            style,
            audience: Audience::default(),
            file: None,
            script_output: None,
            operator: None,
            short_paths: Arc::default(),
            known_secrets: Arc::default(),
            start_warnings: StartWarnings::default(),
            sent_warnings: None,
        }
    }

    /// Sets how paths are shortened for clients.
    pub(crate) fn with_short_paths(self, short_paths: Arc<ShortPaths>) -> Self {
        Self { short_paths, ..self }
    }

    /// Sets the secrets that no event may contain.
    pub(crate) fn with_known_secrets(self, known_secrets: Arc<KnownSecrets>) -> Self {
        Self { known_secrets, ..self }
    }

    /// Sets the record of warnings that clients received from earlier servers. They are not sent again.
    #[must_use]
    pub fn with_sent_warnings(self, sent_warnings: SentWarnings) -> Self {
        Self { sent_warnings: Some(sent_warnings), ..self }
    }

    /// Sends the startup warnings to a client that was just initialized, without those it has already received. A client
    /// without a name receives all of them.
    pub(crate) fn tell_start_warnings(&self, client: &Subscriber, name: &str) {
        let wanted = self.start_warnings.all().into_iter().filter(|(level, ..)| client.wants(*level));
        let warnings: Vec<_> = wanted.map(|warning| (digest(&warning), warning)).collect();
        if warnings.is_empty() {
            return;
        }
        let memory = self.sent_warnings.as_ref().filter(|_| !name.is_empty());
        let known = memory.map(|memory| memory.of(name)).unwrap_or_default();
        for (_, (level, logger, data)) in warnings.iter().filter(|(digest, _)| !known.contains(digest)) {
            client.log(&message_notification(*level, logger, &self.client_data(data)));
        }
        let digests: HashSet<String> = warnings.into_iter().map(|(digest, _)| digest).collect();
        if let Some(memory) = memory.filter(|_| digests != known) {
            let (memory, name) = (memory.clone(), name.to_owned());
            // On its own thread: no response waits for a disk. A warning that is not recorded is sent again.
            let _ = std::thread::Builder::new()
                .name("sent-warnings".into())
                .spawn(move || memory.store(&name, &digests));
        }
    }

    /// Sets the `operator` that receives events and script output instead of standard error.
    #[must_use]
    pub fn with_operator(self, operator: Box<Operator>) -> Self {
        Self { operator: Some(operator), ..self }
    }

    /// Also writes events to a file.
    pub fn with_file(self, path: &Path) -> io::Result<Self> {
        Ok(Self { file: Some(NamedLogFile::open(path)?), ..self })
    }

    /// Writes script output to a file of its own.
    pub fn with_script_output(self, path: &Path) -> io::Result<Self> {
        Ok(Self { script_output: Some(NamedLogFile::open(path)?), ..self })
    }

    /// Opens a log file for appending. A new file is readable only by its owner; an existing one must not be group- or
    /// world-accessible.
    pub fn open_file(path: &Path) -> io::Result<File> {
        // A named pipe without a reader would block the server, now or with every event.
        let file = mcp_bash_files::append(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            let problem = "others may read or write it; run `chmod 600` on it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
        Ok(file)
    }

    /// Opens the log files again by their paths, for log rotation. If a file cannot be opened, the previous one stays in use,
    /// and the log contains the reason.
    pub fn reopen(&self) {
        let files: Vec<&NamedLogFile> = [&self.file, &self.script_output].into_iter().flatten().collect();
        let failed: Vec<_> =
            files.iter().filter_map(|file| Some((file.path.clone(), file.reopen().err()?))).collect();
        for (path, error) in &failed {
            let details = serde_json::json!({ "path": path, "error": error.to_string() });
            let message = "a log file cannot be opened again, and is written to as before";
            self.project_event(LogLevel::Error, "mcp.logs", message, &details);
        }
        let message =
            if files.is_empty() { "there is no log file to open again" } else { "log files opened again" };
        if failed.is_empty() {
            self.project_event(LogLevel::Notice, "mcp.logs", message, &Value::Null);
        }
    }

    /// The subscribers that receive events for all clients.
    pub(crate) fn audience(&self) -> &Audience {
        &self.audience
    }

    pub(crate) fn default_level(&self) -> LogLevel {
        self.level
    }

    /// Whether the operator receives events of this level.
    pub(crate) fn is_heard(&self, level: LogLevel) -> bool {
        level >= self.level
    }

    /// Logs an event about the project or the server, for the operator and every client. `logger` names the part of the server,
    /// `details` is an object.
    pub fn event(&self, level: LogLevel, logger: &str, message: &str, details: &Value) {
        self.project_event(level, logger, message, details);
        // A client receives it when it is initialized.
        if self.start_warnings.keep(level, logger, || data_of(message, details)) {
            return;
        }
        let interested = self.audience.interested(level);
        if !interested.is_empty() {
            let notification = self.notification(level, logger, message, details);
            for subscriber in interested {
                subscriber.log(&notification);
            }
        }
    }

    /// Logs an event about one client, for the operator and, if it has a session, for that client.
    pub(crate) fn client_event(
        &self,
        client: Option<&Subscriber>,
        level: LogLevel,
        logger: &str,
        kind: &'static str,
        facts: Facts,
    ) {
        let details = facts.into_value();
        self.project_event(level, logger, kind, &details);
        if let Some(client) = client.filter(|client| client.wants(level)) {
            client.log(&self.notification(level, logger, kind, &details));
        }
    }

    /// Sends a client with a session the problem with its message, and logs the kind of problem for the operator.
    pub(crate) fn client_problem(
        &self,
        client: Option<&Subscriber>,
        level: LogLevel,
        logger: &str,
        kind: &'static str,
        problem: &str,
    ) {
        self.request_event(level, logger, kind, Facts::none());
        if let Some(client) = client.filter(|client| client.wants(level)) {
            client.log(&self.notification(level, logger, problem, &Value::Null));
        }
    }

    /// Logs an event about a request, only for the operator.
    pub(crate) fn request_event(&self, level: LogLevel, logger: &str, kind: &'static str, facts: Facts) {
        self.project_event(level, logger, kind, &facts.into_value());
    }

    /// The notification of an event for clients.
    pub(crate) fn notification(
        &self,
        level: LogLevel,
        logger: &str,
        message: &str,
        details: &Value,
    ) -> Vec<u8> {
        message_notification(level, logger, &self.client_data(&data_of(message, details)))
    }

    /// The `data` of an event for clients.
    fn client_data(&self, data: &Value) -> String {
        self.short_paths.value(data).to_string()
    }

    /// Logs an event about the project or the server, only for the operator.
    pub fn project_event(&self, level: LogLevel, logger: &str, message: &str, details: &Value) {
        if !self.is_heard(level) {
            return;
        }
        let (message, details) = &self.without_secrets(message, details);
        match &self.operator {
            Some(operator) => operator(level, logger, message, details),
            None if self.style == Style::Hidden => {}
            None => to_stderr(&Self::line(self.style, level, logger, message, details)),
        }
        self.write(self.file.as_ref(), level, logger, message, details);
    }

    /// Writes script output to its file, and passes it to the receiver that replaces standard error, if the level of the log
    /// includes it.
    pub(crate) fn script_printed(
        &self,
        level: LogLevel,
        logger: &str,
        message: &'static str,
        details: &Value,
    ) {
        let (_, details) = &self.without_secrets("", details);
        if let Some(operator) = self.operator.as_ref().filter(|_| self.is_heard(level)) {
            operator(level, logger, message, details);
        }
        self.keep_script_output(level, logger, message, details);
    }

    /// Writes script output only to its file, whatever the level of the log.
    pub(crate) fn keep_script_output(
        &self,
        level: LogLevel,
        logger: &str,
        message: &'static str,
        details: &Value,
    ) {
        self.write(self.script_output.as_ref(), level, logger, message, details);
    }

    fn write(
        &self,
        file: Option<&NamedLogFile>,
        level: LogLevel,
        logger: &str,
        message: &str,
        details: &Value,
    ) {
        if let Some(file) = file {
            let (message, details) = self.without_secrets(message, details);
            let line = Self::line(Style::Json, level, logger, &message, &details);
            file.lines.append(&line);
        }
    }

    /// Removes secrets from an event. Paths, and the output of scripts that could not be run, may contain them.
    fn without_secrets<'e>(&self, message: &'e str, details: &'e Value) -> (Cow<'e, str>, Cow<'e, Value>) {
        let Some(redactor) = self.known_secrets.redactor() else {
            return (Cow::Borrowed(message), Cow::Borrowed(details));
        };
        let details = match redactor.redact_text(&details.to_string()) {
            Cow::Borrowed(_) => Cow::Borrowed(details),
            Cow::Owned(text) => Cow::Owned(serde_json::from_str(&text).unwrap_or(Value::String(text))),
        };
        (redactor.redact_text(message), details)
    }

    /// Why the log file cannot be written, if so.
    pub(crate) fn problem(&self) -> Option<String> {
        let of = |file: &NamedLogFile| {
            file.lines.problem(|lost| {
                let details = serde_json::json!({ "lost": lost });
                Self::line(Style::Json, LogLevel::Warning, "mcp.logs", "lines could not be written", &details)
            })
        };
        [&self.file, &self.script_output].into_iter().flatten().find_map(of)
    }

    /// Formats an event as one line, even if it quotes text from elsewhere.
    fn line(style: Style, level: LogLevel, logger: &str, message: &str, details: &Value) -> String {
        if style != Style::Json {
            let time = if style == Style::Timed { format!("{} ", now()) } else { String::new() };
            let details = if details.as_object().is_none_or(Map::is_empty) {
                String::new()
            } else {
                format!(" {}", harmless::json(&details.to_string()))
            };
            return format!("{time}mcp-bash {}: {}{details}\n", level.as_str(), harmless::line(message));
        }
        let mut event = Map::new();
        event.insert("time".into(), now().into());
        event.insert("level".into(), level.as_str().into());
        event.insert("logger".into(), logger.into());
        event.insert("message".into(), message.into());
        if let Value::Object(details) = details {
            event.extend(details.clone());
        }
        format!("{}\n", harmless::json(&Value::Object(event).to_string()))
    }
}

/// A log file and its path.
struct NamedLogFile {
    path: PathBuf,
    lines: LogFile,
}

impl NamedLogFile {
    fn open(path: &Path) -> io::Result<Self> {
        // The working directory of the server may change later.
        let path = std::path::absolute(path)?;
        let lines = LogFile::new(Log::open_file(&path)?);
        Ok(Self { path, lines })
    }

    fn reopen(&self) -> io::Result<()> {
        self.lines.replace(Log::open_file(&self.path)?);
        Ok(())
    }
}

/// A `notifications/message` with `data` as JSON text.
pub(crate) fn message_notification(level: LogLevel, logger: &str, data: &str) -> Vec<u8> {
    let (level, logger) = (level.as_str(), write::string(logger));
    let params = format!(r#"{{"level":"{level}","logger":{logger},"data":{data}}}"#);
    write::notification("notifications/message", &params)
}

/// The `data` of an event: its message and details.
fn data_of(message: &str, details: &Value) -> Value {
    let mut data = Map::new();
    data.insert("message".into(), message.into());
    if let Value::Object(details) = details {
        data.extend(details.clone());
    }
    Value::Object(data)
}

/// Writes to standard error if it accepts the line immediately. The process at the other end may never read it, and must not
/// block the server.
fn to_stderr(line: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stderr = rustix::stdio::stderr();
    for piece in line.as_bytes().chunks(rustix::pipe::PIPE_BUF) {
        let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut ready, Some(&at_once)).unwrap_or(0) == 0 || rustix::io::write(stderr, piece).is_err() {
            return;
        }
    }
}
