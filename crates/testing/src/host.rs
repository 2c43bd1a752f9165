//! Test client of a case: records what the server sends while the case runs, and answers as the case says.

use crate::cases::case::Answer;
use mcp_bash_client::{Host, asks_for_consent, consent_answer};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much of each kind is recorded; the rest is ignored.
const MOST: usize = 100_000;

#[derive(Debug, Default)]
pub(crate) struct TestHost {
    roots: Vec<PathBuf>,
    answers: VecDeque<Answer>,
    /// Whether the user of the case consents to the call, if the case says so.
    consents: Option<bool>,
    pub(crate) heard: Heard,
}

/// What the server sent and asked.
#[derive(Debug, Default, Clone)]
pub(crate) struct Heard {
    pub(crate) progress: Vec<Progress>,
    pub(crate) logs: Vec<Logged>,
    /// The text of each question.
    pub(crate) questions: Vec<String>,
    /// How many of the questions had no answer in the case.
    pub(crate) unanswered: usize,
    /// How many answers were not used.
    pub(crate) unused_answers: usize,
    /// The question for consent, if the case has no answer to it.
    pub(crate) unconfirmed: Option<String>,
    /// The case says whether its user consents, and was not asked.
    pub(crate) has_unused_consent: bool,
    /// An answer that does not fit its question.
    pub(crate) misplaced: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub(crate) done: Option<f64>,
    pub(crate) total: Option<f64>,
    pub(crate) message: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Logged {
    pub(crate) level: String,
    pub(crate) text: String,
}

impl TestHost {
    pub(crate) fn with_roots(roots: Vec<PathBuf>) -> Self {
        Self { roots, ..Self::default() }
    }

    /// Forgets the last case and prepares for the next.
    pub(crate) fn prepare(&mut self, answers: &[Answer], consents: Option<bool>) {
        self.answers = answers.iter().cloned().collect();
        self.consents = consents;
        self.heard = Heard { has_unused_consent: consents.is_some(), ..Heard::default() };
    }

    pub(crate) fn take_heard(&mut self) -> Heard {
        self.heard.unused_answers = self.answers.len();
        std::mem::take(&mut self.heard)
    }

    fn consent(&mut self, params: &Value) -> Value {
        self.heard.has_unused_consent = false;
        if let Some(consents) = self.consents {
            return consent_answer(consents);
        }
        self.heard.unconfirmed = Some(question_words(params, false));
        json!({ "action": "cancel" })
    }

    fn question(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let is_for_model = method == "sampling/createMessage";
        self.heard.questions.push(question_words(params, is_for_model));
        let Some(answer) = self.answers.pop_front() else {
            self.heard.unanswered += 1;
            return if is_for_model {
                Err("the case has no answer to this".to_owned())
            } else {
                Ok(json!({ "action": "cancel" }))
            };
        };
        match (answer, is_for_model) {
            (Answer::Accept(content), false) => Ok(json!({ "action": "accept", "content": content })),
            (Answer::Decline, false) => Ok(json!({ "action": "decline" })),
            (Answer::Cancel, false) => Ok(json!({ "action": "cancel" })),
            (Answer::Text(text), true) => Ok(json!({
                "role": "assistant",
                "content": { "type": "text", "text": text },
                "model": "test",
                "stopReason": "endTurn",
            })),
            (Answer::Decline | Answer::Cancel, true) => Err("the user declined".to_owned()),
            (answer, _) => {
                let (given, wanted) = match answer {
                    Answer::Text(_) => ("`text`", "a person, who can `accept`, `decline` or `cancel`"),
                    _ => ("`accept`", "a model, which answers with `text`"),
                };
                let question = self.heard.questions.last().map_or("", String::as_str);
                self.heard.misplaced =
                    Some(format!("{given} is no answer to “{question}”, which asks {wanted}"));
                Err("the case has another kind of answer".to_owned())
            }
        }
    }
}

/// The question, in the script's own words.
fn question_words(params: &Value, is_for_model: bool) -> String {
    if !is_for_model {
        return params["message"].as_str().unwrap_or_default().to_owned();
    }
    let messages = params["messages"].as_array().into_iter().flatten();
    let texts = messages.filter_map(|message| message["content"]["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

impl Host for TestHost {
    fn log_level(&self) -> Option<&'static str> {
        Some("debug")
    }

    fn capabilities(&self) -> Value {
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
    }

    fn notified(&mut self, method: &str, params: &Value) {
        match method {
            "notifications/progress" if self.heard.progress.len() < MOST => {
                self.heard.progress.push(Progress {
                    done: params["progress"].as_f64(),
                    total: params["total"].as_f64(),
                    message: params["message"].as_str().unwrap_or_default().to_owned(),
                });
            }
            "notifications/message" if self.heard.logs.len() < MOST && !is_of_server(params) => {
                let text = match &params["data"] {
                    Value::String(text) => text.clone(),
                    Value::Object(data) if data.get("message").is_some_and(Value::is_string) => {
                        data["message"].as_str().unwrap_or_default().to_owned()
                    }
                    other => other.to_string(),
                };
                let level = params["level"].as_str().unwrap_or_default().to_owned();
                self.heard.logs.push(Logged { level, text });
            }
            _ => {}
        }
    }

    async fn asked(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        match method {
            "roots/list" => {
                let roots: Vec<Value> = self.roots.iter().map(|root| root_of(root)).collect();
                Ok(json!({ "roots": roots }))
            }
            "ping" => Ok(json!({})),
            "elicitation/create" if asks_for_consent(params) => Ok(self.consent(params)),
            "elicitation/create" | "sampling/createMessage" => self.question(method, params),
            _ => Err(format!("this client does not answer `{method}`")),
        }
    }
}

/// Log messages of the server about its own work, which no case tests.
fn is_of_server(params: &Value) -> bool {
    params["level"] == "debug" && params["logger"].as_str().is_some_and(|name| name.starts_with("mcp."))
}

fn root_of(root: &Path) -> Value {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    json!({ "uri": mcp_bash_uri::FileUri::of_unix(root.as_os_str().as_bytes()), "name": name })
}
