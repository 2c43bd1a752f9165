//! Call log of a worker: what a function prints, and the traceback of one that failed. The end of it is kept for the log of the
//! server, as that of a script's standard error is, whether or not a client receives it.

use mcp_bash_wire::{Limits, LogLevel, Object, Raw, Scanner};
use std::collections::VecDeque;

/// The overhead of an entry, so that the number of short entries is bounded too.
const ENTRY_BYTES: usize = 64;

/// The longest name of a logger that is kept, in characters.
const LONGEST_NAME: usize = 64;

/// Consecutive messages of one logger at one level.
#[derive(Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub level: LogLevel,
    pub logger: String,
    pub text: String,
}

/// The end of the log of a call.
#[derive(Debug)]
pub struct CallLog {
    entries: VecDeque<LogEntry>,
    bytes: usize,
    limit: usize,
    is_cut: bool,
}

impl CallLog {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, limit, is_cut: false }
    }

    pub fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter()
    }

    /// Whether its beginning was cut off.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keeps the log message of a frame. Other frames are ignored.
    pub(super) fn note(&mut self, frame: &[u8]) {
        if self.limit > 0
            && let Some(entry) = read(frame)
        {
            self.push(entry);
            self.cut();
        }
    }

    fn push(&mut self, entry: LogEntry) {
        match self.entries.back_mut() {
            Some(last) if last.level == entry.level && last.logger == entry.logger => {
                self.bytes += 1 + entry.text.len();
                last.text.push('\n');
                last.text.push_str(&entry.text);
            }
            _ => {
                self.bytes += ENTRY_BYTES + entry.text.len();
                self.entries.push_back(entry);
            }
        }
    }

    /// Cuts the log to its end.
    fn cut(&mut self) {
        while let Some(excess) = self.bytes.checked_sub(self.limit).filter(|excess| *excess > 0) {
            self.is_cut = true;
            let Some(first) = self.entries.front_mut() else { return };
            if first.text.len() <= excess {
                self.bytes -= ENTRY_BYTES + first.text.len();
                self.entries.pop_front();
            } else {
                let mut starts = excess..first.text.len();
                let start = starts.find(|place| first.text.is_char_boundary(*place));
                let start = start.unwrap_or(first.text.len());
                first.text.drain(..start);
                self.bytes -= start;
            }
        }
    }
}

/// The log message of a frame, if it has one.
fn read(frame: &[u8]) -> Option<LogEntry> {
    let text = std::str::from_utf8(frame).ok()?;
    let whole = Scanner::new(text, Limits { message_bytes: usize::MAX, ..Limits::default() }).whole_value();
    let frame = Object::read(whole.ok()?, "a frame", &["method", "params"]).ok()?;
    frame.get("method").and_then(Raw::string).filter(|method| method == "notifications/message")?;
    let params = Object::read(frame.get("params")?, "params", &["level", "logger", "data"]).ok()?;
    let string = |name: &str| params.get(name).and_then(Raw::string);
    let data = params.get("data")?;
    Some(LogEntry {
        level: string("level").and_then(|name| LogLevel::parse(&name)).unwrap_or(LogLevel::Info),
        logger: string("logger").unwrap_or_default().chars().take(LONGEST_NAME).collect(),
        text: data.string().map_or_else(|| data.text().to_owned(), Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(log: &CallLog) -> Vec<(LogLevel, &str, &str)> {
        log.entries().map(|entry| (entry.level, &*entry.logger, &*entry.text)).collect()
    }

    fn frame(level: &str, logger: &str, data: &str) -> Vec<u8> {
        format!(r#"{{"call":1,"method":"notifications/message","params":{{"level":"{level}","logger":"{logger}","data":{data}}}}}"#).into_bytes()
    }

    #[test]
    fn lines_of_one_logger_are_one_entry_and_what_is_no_log_is_none() {
        let mut log = CallLog::new(4096);
        log.note(&frame("info", "stdout", "\"a\""));
        log.note(&frame("info", "stdout", "\"b\""));
        log.note(&frame("error", "look", "\"Traceback\\n  x\\nValueError: y\\n\""));
        log.note(&frame("info", "stdout", r#"{"rows":1}"#));
        log.note(br#"{"call":1,"method":"notifications/progress","params":{"progress":1}}"#);
        log.note(b"rubbish");
        let all = [
            (LogLevel::Info, "stdout", "a\nb"),
            (LogLevel::Error, "look", "Traceback\n  x\nValueError: y\n"),
            (LogLevel::Info, "stdout", r#"{"rows":1}"#),
        ];
        assert_eq!(said(&log), all);
        assert!(!log.is_cut());
    }

    #[test]
    fn the_end_is_kept_however_much_is_logged() {
        let mut log = CallLog::new(200);
        for number in 0..10_000 {
            log.note(&frame(
                if number % 2 == 0 { "info" } else { "warning" },
                "x",
                &format!("\"é{number}\""),
            ));
            assert!(log.bytes <= 200 && log.entries.len() <= 3, "{log:?}");
        }
        assert_eq!(said(&log).last(), Some(&(LogLevel::Warning, "x", "é9999")));
        log.note(&frame("error", "look", &format!("\"{}end\"", "é".repeat(10_000))));
        let [(LogLevel::Error, "look", text)] = said(&log)[..] else { panic!("{log:?}") };
        assert!(text.len() <= 200 && text.ends_with("éend"), "{text}");
        assert!(log.is_cut());
    }

    #[test]
    fn nothing_is_kept_if_disabled() {
        let mut log = CallLog::new(0);
        log.note(&frame("error", "x", "\"a\""));
        assert!(log.is_empty());
    }
}
