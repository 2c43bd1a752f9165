//! Install report about all files, for people and programs.

use super::outcome::{Done, Outcome};
use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_entries::Entry;
use mcp_bash_terminal::{Terminal, complain, harmless};
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) struct Report<'e> {
    pub(super) verb: &'static str,
    pub(super) entry: &'e Entry,
    pub(super) outcomes: Vec<Outcome>,
}

impl Report<'_> {
    /// The worst of all: failures first, then refusals.
    pub(super) fn exit(&self) -> Exit {
        let has = |exit| self.outcomes.iter().any(|outcome| outcome.exit() == exit);
        [Exit::Failed, Exit::Refused].into_iter().find(|exit| has(*exit)).unwrap_or(Exit::Done)
    }

    pub(super) fn print(&self, common: &Common, as_json: bool) -> Result<(), Error> {
        let text = if as_json { format!("{:#}\n", self.json()) } else { self.text(common) };
        print(&text)
    }

    fn text(&self, common: &Common) -> String {
        let terminal = Terminal::of_stdout();
        let mut text = String::new();
        // A configuration file may hold anything, and so may a name in it.
        for outcome in &self.outcomes {
            let client = outcome.file.client;
            let words = outcome.words(self.verb);
            if outcome.done.is_err() {
                complain(&format!("{}: {words}", client.title));
                continue;
            }
            if common.quiet && !matches!(outcome.done, Ok(Done::Shown { .. })) {
                continue;
            }
            let _ = writeln!(text, "{}: {}", client.title, harmless(&words));
            match &outcome.done {
                Ok(Done::Shown { difference, .. }) => text.push_str(&painted(terminal, difference)),
                Ok(Done::Changed { .. }) if !client.then.is_empty() => {
                    let _ = writeln!(text, "  Next: {}.", client.then);
                    if self.verb == "install" {
                        let notes: Vec<&str> = client.notes_for(outcome.file.scope).collect();
                        if !notes.is_empty() {
                            let _ = writeln!(text, "  Note: {}", notes.join(" "));
                        }
                    }
                }
                _ => {}
            }
        }
        text
    }

    fn json(&self) -> Value {
        let env: Map<String, Value> =
            self.entry.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let clients: Vec<Value> = self.outcomes.iter().map(|outcome| outcome.json(self.verb)).collect();
        json!({
            "name": self.entry.name,
            "command": self.entry.command,
            "args": self.entry.args,
            "env": env,
            "clients": clients,
        })
    }
}

fn painted(terminal: Terminal, difference: &str) -> String {
    let line = |line: &str| {
        let shown = harmless(line);
        match line.chars().next() {
            Some('+') => terminal.painted("32", &shown),
            Some('-') => terminal.painted("31", &shown),
            _ => shown,
        }
    };
    difference.lines().fold(String::new(), |text, next| format!("{text}{}\n", line(next)))
}
