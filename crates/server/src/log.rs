//! Diagnostics: one event, told to whoever reads standard error and to every client that wants to know.

use crate::channel::Channel;
use crate::limiter::Limiter;
use mcp_bash_wire::{LogLevel, write};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// How events look on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A JSON object a line.
    Json,
    /// Words, for a person at a terminal.
    Plain,
}

/// Who hears of events. Events carry names, counts and durations: never arguments, results or secrets.
pub struct Log {
    level: LogLevel,
    style: Style,
    /// Those whose connections are still there.
    listeners: Mutex<Vec<Weak<Listener>>>,
}

impl Log {
    pub fn new(level: LogLevel, style: Style) -> Self {
        Self { level, style, listeners: Mutex::default() }
    }

    /// A client that will want events. It hears none before its level is set.
    pub(crate) fn listen(&self, channel: Arc<dyn Channel>, events_per_minute: u32) -> Arc<Listener> {
        let limiter = Mutex::new(Limiter::new(events_per_minute));
        let listener = Arc::new(Listener { channel, level: AtomicU8::new(SILENT), limiter });
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        listener
    }

    pub(crate) fn default_level(&self) -> LogLevel {
        self.level
    }

    /// Tells that something happened. `logger` names the part of the server, `details` is an object.
    pub fn event(&self, level: LogLevel, logger: &str, message: &str, details: &Value) {
        if level >= self.level {
            to_stderr(&self.line(level, logger, message, details));
        }
        let interested = self.interested(level);
        if !interested.is_empty() {
            let notification = message_notification(level, logger, &data_of(message, details));
            for listener in interested {
                listener.hear(&notification);
            }
        }
    }

    fn interested(&self, level: LogLevel) -> Vec<Arc<Listener>> {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().filter_map(Weak::upgrade).filter(|listener| listener.wants(level)).collect()
    }

    fn line(&self, level: LogLevel, logger: &str, message: &str, details: &Value) -> String {
        if self.style == Style::Plain {
            let details = if details.as_object().is_none_or(Map::is_empty) {
                String::new()
            } else {
                format!(" {details}")
            };
            return format!("mcp-bash {}: {message}{details}\n", level.as_str());
        }
        let mut event = Map::new();
        event.insert("time".into(), timestamp().into());
        event.insert("level".into(), level.as_str().into());
        event.insert("logger".into(), logger.into());
        event.insert("message".into(), message.into());
        if let Value::Object(details) = details {
            event.extend(details.clone());
        }
        format!("{}\n", Value::Object(event))
    }
}

/// A level that no event reaches.
const SILENT: u8 = u8::MAX;

/// One client that may want events.
pub(crate) struct Listener {
    channel: Arc<dyn Channel>,
    level: AtomicU8,
    limiter: Mutex<Limiter>,
}

impl Listener {
    pub(crate) fn set_level(&self, level: LogLevel) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    pub(crate) fn wants(&self, level: LogLevel) -> bool {
        level as u8 >= self.level.load(Ordering::Relaxed)
    }

    fn hear(&self, notification: &[u8]) {
        let within = self.limiter.lock().unwrap_or_else(PoisonError::into_inner).allow();
        if within && !self.channel.is_clogged() {
            self.channel.push(notification);
            self.channel.flush();
        }
    }
}

/// `notifications/message` with `data` as JSON text.
pub(crate) fn message_notification(level: LogLevel, logger: &str, data: &str) -> Vec<u8> {
    let (level, logger) = (level.as_str(), write::string(logger));
    let params = format!(r#"{{"level":"{level}","logger":{logger},"data":{data}}}"#);
    write::notification("notifications/message", &params)
}

/// The `data` of an event: its message and its details.
pub(crate) fn data_of(message: &str, details: &Value) -> String {
    let mut data = Map::new();
    data.insert("message".into(), message.into());
    if let Value::Object(details) = details {
        data.extend(details.clone());
    }
    Value::Object(data).to_string()
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

/// The time in UTC, as `2026-01-31T12:34:56.789Z`.
fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (now.as_secs() / 86_400, now.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", now.subsec_millis())
}

/// Year, month and day of a day since 1970-01-01. Counts in eras of 400 years that start in March, so that the leap
/// day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_772), (2026, 11, 15));
    }
}
