//! Log: one event, for the operator, who reads standard error, and for the clients it concerns. An event about a
//! request is made of [`Facts`] only. What scripts print is no event: it goes to a file of its own, where the operator
//! keeps one.

use super::audience::Audience;
use super::facts::Facts;
use super::log_file::LogFile;
use super::start_warnings::{StartWarnings, digest};
use super::subscriber::Subscriber;
use crate::replies::ShortPaths;
use mcp_bash_harmless as harmless;
use mcp_bash_project::SentWarnings;
use mcp_bash_project::utc::now;
use mcp_bash_wire::{LogLevel, write};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

/// How events look on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A JSON object a line.
    Json,
    /// Words, for a person at a terminal.
    Plain,
    /// The same with the time.
    Timed,
    /// Not at all: clients are told, and whoever runs the command is one of them.
    Hidden,
}

/// One who is told of events in place of standard error: level, part of the server, message, details.
pub type Operator = dyn Fn(LogLevel, &str, &str, &Value) + Send + Sync;

/// Who hears of events. Events carry kinds, places, counts and durations: never arguments, results, secrets, or what a
/// script printed.
pub struct Log {
    level: LogLevel,
    style: Style,
    audience: Audience,
    file: Option<LogFile>,
    /// What scripts print, where the operator keeps that.
    script_output: Option<LogFile>,
    /// Who is told instead of standard error.
    operator: Option<Box<Operator>>,
    /// How clients are told paths. The operator is told whole ones.
    short_paths: Arc<ShortPaths>,
    /// What went wrong before any client was ready.
    start_warnings: StartWarnings,
    /// Which of it clients have received from earlier servers, where that is remembered.
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
            start_warnings: StartWarnings::default(),
            sent_warnings: None,
        }
    }

    /// The same, with short paths for clients.
    pub(crate) fn with_short_paths(self, short_paths: Arc<ShortPaths>) -> Self {
        Self { short_paths, ..self }
    }

    /// The same, with clients that were told of a warning by an earlier server not told again.
    #[must_use]
    pub fn with_sent_warnings(self, sent_warnings: SentWarnings) -> Self {
        Self { sent_warnings: Some(sent_warnings), ..self }
    }

    /// Tells a client, which is ready now, of what went wrong at the start, and of nothing that it knows already. A client
    /// without a name is told of everything.
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
            // Beside the start: no answer waits for a disk. What is not remembered is sent again.
            let _ = std::thread::Builder::new()
                .name("sent-warnings".into())
                .spawn(move || memory.store(&name, &digests));
        }
    }

    /// The same, with `operator` told in place of standard error, and of what scripts print.
    #[must_use]
    pub fn with_operator(self, operator: Box<Operator>) -> Self {
        Self { operator: Some(operator), ..self }
    }

    /// The same, with events written to a file as well.
    pub fn with_file(self, path: &Path) -> io::Result<Self> {
        Ok(Self { file: Some(LogFile::new(Self::open_file(path)?)), ..self })
    }

    /// The same, with what scripts print kept in a file of its own.
    pub fn with_script_output(self, path: &Path) -> io::Result<Self> {
        Ok(Self { script_output: Some(LogFile::new(Self::open_file(path)?)), ..self })
    }

    /// Opens a log file to append to it. One that is made is its owner's alone; one that is there already must not be
    /// readable by others.
    pub fn open_file(path: &Path) -> io::Result<File> {
        // A named pipe that nobody reads would keep us waiting, now or with every event.
        let file = mcp_bash_files::append(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            let problem = "others may read or write it; run `chmod 600` on it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
        Ok(file)
    }

    /// The clients that hear of what concerns all of them.
    pub(crate) fn audience(&self) -> &Audience {
        &self.audience
    }

    pub(crate) fn default_level(&self) -> LogLevel {
        self.level
    }

    /// Whether the operator hears of events of that level.
    pub(crate) fn is_heard(&self, level: LogLevel) -> bool {
        level >= self.level
    }

    /// Tells the operator and every client of something that concerns them all: the project, or the server itself.
    /// `logger` names the part of the server, `details` is an object.
    pub fn event(&self, level: LogLevel, logger: &str, message: &str, details: &Value) {
        self.project_event(level, logger, message, details);
        // The client that is becoming ready is told of it with the rest.
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

    /// Tells the operator of something that concerns one client, and that client if it has a session: no other one.
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

    /// Tells a client of what is wrong with what it said, if it has a session, and the operator of what kind of problem that is.
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

    /// Tells the operator alone of something that concerns a request.
    pub(crate) fn request_event(&self, level: LogLevel, logger: &str, kind: &'static str, facts: Facts) {
        self.project_event(level, logger, kind, &facts.into_value());
    }

    /// The event as a client is told of it.
    pub(crate) fn notification(
        &self,
        level: LogLevel,
        logger: &str,
        message: &str,
        details: &Value,
    ) -> Vec<u8> {
        message_notification(level, logger, &self.client_data(&data_of(message, details)))
    }

    /// The `data` of an event as clients are told them.
    fn client_data(&self, data: &Value) -> String {
        self.short_paths.value(data).to_string()
    }

    /// Tells the operator alone of something that concerns the project or the server itself, and no request.
    pub fn project_event(&self, level: LogLevel, logger: &str, message: &str, details: &Value) {
        if !self.is_heard(level) {
            return;
        }
        match &self.operator {
            Some(operator) => operator(level, logger, message, details),
            None if self.style == Style::Hidden => {}
            None => to_stderr(&Self::line(self.style, level, logger, message, details)),
        }
        self.write(self.file.as_ref(), level, logger, message, details);
    }

    /// Keeps what a script printed where the operator keeps that, and tells whoever is told in place of standard error.
    pub(crate) fn script_printed(
        &self,
        level: LogLevel,
        logger: &str,
        message: &'static str,
        details: &Value,
    ) {
        if let Some(operator) = self.operator.as_ref().filter(|_| self.is_heard(level)) {
            operator(level, logger, message, details);
        }
        self.keep_script_output(level, logger, message, details);
    }

    /// Keeps what a script printed where the operator keeps that, and tells nobody.
    pub(crate) fn keep_script_output(
        &self,
        level: LogLevel,
        logger: &str,
        message: &'static str,
        details: &Value,
    ) {
        self.write(self.script_output.as_ref(), level, logger, message, details);
    }

    fn write(&self, file: Option<&LogFile>, level: LogLevel, logger: &str, message: &str, details: &Value) {
        if let Some(file) = file.filter(|_| self.is_heard(level)) {
            let line = Self::line(Style::Json, level, logger, message, details);
            file.append(&line);
        }
    }

    /// Why the log file cannot be written, if it cannot.
    pub(crate) fn problem(&self) -> Option<String> {
        let of = |file: &LogFile| {
            file.problem(|lost| {
                let details = serde_json::json!({ "lost": lost });
                Self::line(Style::Json, LogLevel::Warning, "mcp.logs", "lines could not be written", &details)
            })
        };
        [&self.file, &self.script_output].into_iter().flatten().find_map(of)
    }

    /// One line, whatever the event holds: people read it too, and it may quote what came from elsewhere.
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

/// `notifications/message` with `data` as JSON text.
pub(crate) fn message_notification(level: LogLevel, logger: &str, data: &str) -> Vec<u8> {
    let (level, logger) = (level.as_str(), write::string(logger));
    let params = format!(r#"{{"level":"{level}","logger":{logger},"data":{data}}}"#);
    write::notification("notifications/message", &params)
}

/// The `data` of an event: its message and its details.
fn data_of(message: &str, details: &Value) -> Value {
    let mut data = Map::new();
    data.insert("message".into(), message.into());
    if let Value::Object(details) = details {
        data.extend(details.clone());
    }
    Value::Object(data)
}

/// Writes to standard error if it takes the line now. Whoever holds its other end may never read it, and must not be
/// able to stop the server by that.
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
