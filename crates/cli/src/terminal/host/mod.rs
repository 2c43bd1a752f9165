//! Command-line host: the user, as a server sees them. Shows progress and log messages on standard error, and answers
//! questions if there is a terminal. Without one, the server learns that there is no user to ask.

mod bar;
mod form;
mod person;
mod sampling;

use crate::base::common::Common;
use bar::Bar;
use mcp_bash_client::Host;
use mcp_bash_server::{asks_for_consent, consent_answer};
use mcp_bash_terminal::{harmless_line, tell};
use mcp_bash_uri::FileUri;
use mcp_bash_wire::LogLevel;
use person::Person;
use serde_json::{Value, json};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(crate) struct CommandLineHost {
    bar: Option<Bar>,
    person: Option<Arc<Mutex<Person>>>,
    /// Whether the user has consented on the command line to what is called.
    has_consented: bool,
    /// The folders that scripts may work in, if the user names some.
    roots: Vec<PathBuf>,
    is_verbose: bool,
    is_quiet: bool,
}

impl CommandLineHost {
    pub(crate) fn new(common: &Common, roots: Vec<PathBuf>) -> Self {
        Self {
            bar: Bar::of_stderr().filter(|_| !common.quiet),
            person: Person::find().map(|person| Arc::new(Mutex::new(person))),
            has_consented: false,
            roots,
            is_verbose: common.verbose,
            is_quiet: common.quiet,
        }
    }

    /// The same, for a user who has consented on the command line, or not.
    pub(crate) fn consenting(self, has_consented: bool) -> Self {
        Self { has_consented, ..self }
    }

    /// The lowest level of log messages that is of interest.
    pub(crate) fn level(&self) -> LogLevel {
        match (self.is_verbose, self.is_quiet) {
            (true, _) => LogLevel::Debug,
            (_, true) => LogLevel::Error,
            _ => LogLevel::Warning,
        }
    }

    /// Whether progress is shown.
    pub(crate) fn wants_progress(&self) -> bool {
        self.bar.is_some()
    }

    /// Removes temporary output. To be called before anything else is written.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = &mut self.bar {
            bar.clear();
        }
    }

    fn log(&mut self, params: &Value) {
        let (level, logger) = (params["level"].as_str().unwrap_or("info"), params["logger"].as_str());
        // Commands that look at the whole project report the problems of other files.
        let is_about_others = logger == Some("mcp.project") && !self.is_verbose;
        let level = LogLevel::parse(level).unwrap_or(LogLevel::Info);
        if level < self.level() || is_about_others {
            return;
        }
        let text = text_of(&params["data"]);
        self.finish();
        tell(&format!("{}: {text}", level.as_str()));
    }
}

/// The text of a log message, whose data may be anything.
fn text_of(data: &Value) -> String {
    match data {
        Value::String(text) => text.clone(),
        Value::Object(members) => match members.get("message").and_then(Value::as_str) {
            Some(message) if members.len() == 1 => message.to_owned(),
            Some(message) => {
                let rest: serde_json::Map<String, Value> = members
                    .iter()
                    .filter(|(key, _)| *key != "message")
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect();
                format!("{message} {}", Value::Object(rest))
            }
            None => data.to_string(),
        },
        other => other.to_string(),
    }
}

impl Host for CommandLineHost {
    fn log_level(&self) -> Option<&'static str> {
        Some(self.level().as_str())
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = json!({});
        if self.person.is_some() {
            capabilities["elicitation"] = json!({ "form": {}, "url": {} });
            capabilities["sampling"] = json!({});
        } else if self.has_consented {
            capabilities["elicitation"] = json!({ "form": {} });
        }
        if !self.roots.is_empty() {
            capabilities["roots"] = json!({});
        }
        capabilities
    }

    fn notified(&mut self, method: &str, params: &Value) {
        match (method, &mut self.bar) {
            ("notifications/progress", Some(bar)) => {
                let message = params["message"].as_str().map(harmless_line).unwrap_or_default();
                bar.draw(params["progress"].as_f64().unwrap_or(0.0), params["total"].as_f64(), &message);
            }
            ("notifications/message", _) => self.log(params),
            _ => {}
        }
    }

    fn asked(&mut self, method: &str, params: &Value) -> impl Future<Output = Result<Value, String>> {
        self.finish();
        let (method, params, roots) = (method.to_owned(), params.clone(), self.roots.clone());
        let person = self.person.clone();
        let has_consented = self.has_consented;
        async move {
            match (method.as_str(), person) {
                ("ping", _) => Ok(json!({})),
                ("roots/list", _) => {
                    Ok(json!({ "roots": roots.iter().map(|root| root_entry(root)).collect::<Vec<_>>() }))
                }
                ("elicitation/create", _) if has_consented && asks_for_consent(&params) => {
                    Ok(consent_answer(true))
                }
                // There is a user, who cannot be asked anything else.
                ("elicitation/create", None) if has_consented => Ok(json!({ "action": "decline" })),
                ("elicitation/create", Some(person)) => {
                    with_person(person, move |person| Ok(form::fill(person, &params))).await
                }
                ("sampling/createMessage", Some(person)) => {
                    with_person(person, move |person| sampling::reply(person, &params)).await
                }
                ("elicitation/create" | "sampling/createMessage", None) => {
                    Err("no user can be asked: there is no terminal".to_owned())
                }
                _ => Err(format!("this client does not answer `{method}`")),
            }
        }
    }
}

/// Talks with the user on a thread that may block, so that Ctrl-C and the server are handled meanwhile.
async fn with_person<T: Send + 'static>(
    person: Arc<Mutex<Person>>,
    talk: impl FnOnce(&mut Person) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let talked = tokio::task::spawn_blocking(move || match person.lock() {
        Ok(mut person) => talk(&mut person),
        Err(_) => Err("the user can no longer be asked".to_owned()),
    });
    talked.await.unwrap_or_else(|_| Err("the user can no longer be asked".to_owned()))
}

fn root_entry(root: &Path) -> Value {
    let name = root.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
    json!({ "uri": FileUri::of_unix(root.as_os_str().as_bytes()), "name": name })
}
