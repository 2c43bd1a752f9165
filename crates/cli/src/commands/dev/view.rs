//! View: everything that `dev` shows of a running server: messages, log events and changes of the project.

use super::changes::Holdings;
use super::exchange::Exchange;
use super::line::{Line, Look};
use super::screen::Screen;
use mcp_bash_server::{Observer, Operator, Redaction};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::words::{self, Length};
use mcp_bash_wire::LogLevel;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct View {
    screen: Screen,
    length: Length,
    redaction: Redaction,
    exchange: Mutex<Exchange>,
}

impl View {
    pub(crate) fn new(screen: Screen, length: Length, settings: &Settings) -> Self {
        let secret = settings.remote_token.as_ref().map(|token| token.secret.clone());
        let exchange = Mutex::new(Exchange::new(length));
        Self { screen, length, redaction: Redaction::new(secret), exchange }
    }

    /// Receives the events of the log.
    pub(crate) fn operator(self: &Arc<Self>) -> Box<Operator> {
        let view = Arc::clone(self);
        Box::new(move |level, logger, message, details| {
            // Changes are shown by name when the project is read.
            let is_shown_better = logger == "mcp.project" && message.ends_with("have changed");
            if !is_shown_better {
                view.screen.show(&view.event(level, logger, message, details));
            }
        })
    }

    /// Receives the problems of the project, and nothing else.
    pub(crate) fn operator_for_problems(self: &Arc<Self>) -> Box<Operator> {
        let view = Arc::clone(self);
        Box::new(move |level, logger, message, details| {
            let is_problem = matches!(logger, "mcp.checks" | "mcp.project") && level >= LogLevel::Warning;
            if is_problem {
                view.screen.show(&view.event(level, logger, message, details));
            }
        })
    }

    /// Shows what has changed in what is served.
    pub(crate) fn reloaded(&self, before: &Holdings, after: &Holdings) {
        for change in after.changes_since(before) {
            self.screen.show(&Line::reload(words::visible(&change, self.length)));
        }
    }

    fn event(&self, level: LogLevel, logger: &str, message: &str, details: &Value) -> Line {
        if let (Some(stderr), "mcp.tools") = (details["stderr"].as_str(), logger) {
            let tool = details["tool"].as_str().unwrap_or("a tool");
            let tool = words::visible(tool, Length::Whole);
            let text = format!("{tool} wrote to standard error: {}", words::visible(stderr, self.length));
            return Line::event(Look::Faint, text);
        }
        if let (Some(printed), "mcp.worker") = (details["text"].as_str(), logger) {
            let script = words::visible(details["script"].as_str().unwrap_or_default(), Length::Whole);
            let text = format!("{message} ({script}): {}", words::visible(printed, self.length));
            return Line::event(look(level), text);
        }
        let is_empty = details.as_object().is_none_or(serde_json::Map::is_empty);
        let details =
            if is_empty { String::new() } else { format!(" {}", words::value(details, self.length)) };
        // Problems are shown whole: the fix is at the end.
        let message = words::visible(message, Length::Whole);
        let what = if logger == "mcp.checks" { "problem" } else { level.as_str() };
        Line::event(look(level), format!("{what}: {message}{details}"))
    }

    fn show(&self, message: &[u8], is_received: bool) {
        let read = self.redaction.read(message);
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = match (read, is_received) {
            (Ok(message), true) => exchange.received(&message),
            (Ok(read), false) => exchange.sent(&read, message.trim_ascii().len()),
            (Err(_), true) if message.trim_ascii().is_empty() => Vec::new(),
            (Err(why), true) => vec![Line::received(Look::Bad, why.to_string())],
            (Err(why), false) => vec![Line::sent(Look::Faint, why.to_string())],
        };
        // Under the lock, so that lines are in the order of the messages.
        for line in &lines {
            self.screen.show(line);
        }
    }
}

fn look(level: LogLevel) -> Look {
    match level {
        LogLevel::Debug | LogLevel::Info => Look::Faint,
        LogLevel::Notice | LogLevel::Warning => Look::Notable,
        _ => Look::Bad,
    }
}

impl Observer for View {
    fn received(&self, message: &[u8]) {
        self.show(message, true);
    }

    fn sent(&self, message: &[u8]) {
        self.show(message, false);
    }
}
