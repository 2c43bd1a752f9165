//! Exchange between a client and the server, in lines for people: `→ tools/call hello {name: "Ada"}`. It remembers when
//! each request was made, to show its answer with the time it took.

use super::line::{Line, Look};
use mcp_bash_terminal::words::{self, Length, counted, time};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Instant;

/// With more unanswered requests than this, they are forgotten.
const MOST_OPEN: usize = 10_000;

/// How many names of a list are shown.
const MOST_NAMES: usize = 12;

pub(super) struct Exchange {
    length: Length,
    /// The requests of the client that are not answered yet, by their ids.
    open: HashMap<String, Open>,
    /// The questions of the server that are not answered yet, by their ids.
    questions: HashMap<String, Open>,
}

struct Open {
    method: String,
    since: Instant,
}

impl Exchange {
    pub(super) fn new(length: Length) -> Self {
        Self { length, open: HashMap::new(), questions: HashMap::new() }
    }

    /// The lines for a client's message, or for several in a batch.
    pub(super) fn received(&mut self, message: &Value) -> Vec<Line> {
        each(message).map(|message| self.received_one(message)).collect()
    }

    /// The lines for a server's message; `bytes` is its length.
    pub(super) fn sent(&mut self, message: &Value, bytes: usize) -> Vec<Line> {
        each(message).map(|message| self.sent_one(message, bytes)).collect()
    }

    fn received_one(&mut self, message: &Value) -> Line {
        let id = message.get("id").map(|id| self.id(id));
        match (message["method"].as_str(), id) {
            (Some(method), Some(id)) => {
                let text = format!("#{id} {}", self.request(method, &message["params"]));
                remember(&mut self.open, id, method);
                Line::received(Look::Plain, text)
            }
            (Some("notifications/cancelled"), None) => {
                let id = self.id(&message["params"]["requestId"]);
                self.open.remove(&id);
                let reason = message["params"]["reason"].as_str().unwrap_or("no reason given");
                Line::received(Look::Plain, format!("#{id} cancelled: {}", self.text(reason)))
            }
            (Some(method), None) => Line::received(Look::Faint, self.request(method, &message["params"])),
            (None, Some(id)) => {
                let took = took(self.questions.remove(&id).as_ref());
                if let Some(error) = message.get("error") {
                    return Line::received(Look::Bad, format!("#{id} {}{took}", self.error(error)));
                }
                let answer = words::value(&message["result"], self.length);
                Line::received(Look::Plain, format!("#{id} answer{took}: {answer}"))
            }
            (None, None) => Line::received(Look::Bad, words::value(message, self.length)),
        }
    }

    fn sent_one(&mut self, message: &Value, bytes: usize) -> Line {
        let id = message.get("id").map(|id| self.id(id));
        match (message["method"].as_str(), id) {
            (Some(method), Some(id)) => {
                let text = format!("#{id} {}", self.question(method, &message["params"]));
                remember(&mut self.questions, id, method);
                Line::sent(Look::Plain, text)
            }
            (Some(method), None) => Line::sent(Look::Faint, self.notification(method, &message["params"])),
            (None, id) => {
                let id = id.filter(|id| id != "null").unwrap_or_else(|| "?".to_owned());
                let open = self.open.remove(&id);
                let took = took(open.as_ref());
                if let Some(error) = message.get("error") {
                    return Line::sent(Look::Bad, format!("#{id} {}{took}", self.error(error)));
                }
                let method = open.map(|open| open.method).unwrap_or_default();
                let result = &message["result"];
                let (word, look) =
                    if result["isError"] == true { ("failed", Look::Bad) } else { ("result", Look::Good) };
                let said = self.result(&method, result);
                Line::sent(look, format!("#{id} {word}{took}, {}: {said}", counted(bytes, "byte")))
            }
        }
    }

    /// A request or a notification of the client.
    fn request(&self, method: &str, params: &Value) -> String {
        let method_shown = self.text(method);
        let mut rest = params.clone();
        if let Value::Object(members) = &mut rest {
            members.remove("_meta");
        }
        let subject = match method {
            "initialize" => {
                let client = &params["clientInfo"];
                let protocol = self.plain(&params["protocolVersion"]);
                return format!(
                    "{method_shown} from {} {}, protocol {protocol}",
                    self.plain(&client["name"]),
                    self.plain(&client["version"])
                );
            }
            "tools/call" | "prompts/get" => {
                rest = params["arguments"].clone();
                Some(&params["name"])
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                rest = Value::Null;
                Some(&params["uri"])
            }
            _ => None,
        };
        let subject = subject.map(|subject| format!(" {}", self.plain(subject))).unwrap_or_default();
        let is_empty = rest.is_null() || rest.as_object().is_some_and(serde_json::Map::is_empty);
        let rest = if is_empty { String::new() } else { format!(" {}", words::value(&rest, self.length)) };
        format!("{method_shown}{subject}{rest}")
    }

    /// A request of the server.
    fn question(&self, method: &str, params: &Value) -> String {
        match params["message"].as_str() {
            Some(message) => format!("{} asks: {}", self.text(method), self.text(message)),
            None => self.request(method, params),
        }
    }

    /// A notification of the server.
    fn notification(&self, method: &str, params: &Value) -> String {
        match method {
            "notifications/progress" => {
                let total = params.get("total").map(|total| format!("/{}", self.plain(total)));
                let message = params["message"].as_str().map(|message| format!(" {}", self.text(message)));
                format!(
                    "progress {}{}{}",
                    self.plain(&params["progress"]),
                    total.unwrap_or_default(),
                    message.unwrap_or_default()
                )
            }
            "notifications/message" => {
                let data = &params["data"];
                let said = data.get("message").filter(|message| message.is_string()).unwrap_or(data);
                format!("log {}: {}", self.plain(&params["level"]), self.plain(said))
            }
            _ => self.request(method, params),
        }
    }

    fn result(&self, method: &str, result: &Value) -> String {
        match method {
            "initialize" => {
                let server = &result["serverInfo"];
                let protocol = self.plain(&result["protocolVersion"]);
                format!(
                    "{} {}, protocol {protocol}",
                    self.plain(&server["name"]),
                    self.plain(&server["version"])
                )
            }
            "tools/list" => self.names(result, "tools", "tool"),
            "prompts/list" => self.names(result, "prompts", "prompt"),
            "resources/list" => self.names(result, "resources", "resource"),
            "resources/templates/list" => self.names(result, "resourceTemplates", "resource template"),
            _ => match contents(result) {
                Some(contents) => self.text(&contents.join("\n")),
                None => words::value(result, self.length),
            },
        }
    }

    fn names(&self, result: &Value, member: &str, what: &str) -> String {
        let entries = result[member].as_array().map(Vec::as_slice).unwrap_or_default();
        let most = if self.length == Length::Whole { usize::MAX } else { MOST_NAMES };
        let mut names: Vec<String> =
            entries.iter().take(most).map(|entry| self.plain(&entry["name"])).collect();
        if entries.len() > names.len() {
            names.push("…".to_owned());
        }
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        format!("{}{names}", counted(entries.len(), what))
    }

    fn error(&self, error: &Value) -> String {
        let message = self.plain(&error["message"]);
        let data = match error.get("data") {
            Some(data) => format!(" {}", words::value(data, self.length)),
            None => String::new(),
        };
        format!("error {} {message}{data}", self.plain(&error["code"]))
    }

    fn id(&self, id: &Value) -> String {
        self.plain(id)
    }

    /// A string without quotes, or any other value.
    fn plain(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.text(text),
            other => words::value(other, self.length),
        }
    }

    fn text(&self, text: &str) -> String {
        words::visible(text, self.length)
    }
}

fn each(message: &Value) -> impl Iterator<Item = &Value> {
    match message {
        Value::Array(messages) => messages.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

fn remember(open: &mut HashMap<String, Open>, id: String, method: &str) {
    if open.len() >= MOST_OPEN {
        open.clear();
    }
    open.insert(id, Open { method: method.to_owned(), since: Instant::now() });
}

/// How long an answer took, if it is known.
fn took(open: Option<&Open>) -> String {
    open.map(|open| format!(" {}", time(open.since.elapsed()))).unwrap_or_default()
}

/// The texts of a result, with a description of other content; `None` if it has no content.
fn contents(result: &Value) -> Option<Vec<String>> {
    let of_messages = || {
        let messages = result["messages"].as_array()?;
        Some(messages.iter().map(|message| &message["content"]).collect::<Vec<_>>())
    };
    let of_list = |member: &str| Some(result[member].as_array()?.iter().collect::<Vec<_>>());
    let found = of_list("content").or_else(|| of_list("contents")).or_else(of_messages)?;
    Some(found.into_iter().map(content).collect())
}

fn content(content: &Value) -> String {
    let text = content["text"].as_str().or_else(|| content["resource"]["text"].as_str());
    if let Some(text) = text {
        return text.to_owned();
    }
    let kind = content["mimeType"].as_str().or_else(|| content["type"].as_str()).unwrap_or("content");
    let data = [&content["data"], &content["blob"], &content["resource"]["blob"]];
    match data.iter().find_map(|data| data.as_str()) {
        Some(data) => format!("[{kind}, {} characters of Base64]", data.len()),
        None => {
            format!("[{kind}{}]", content["uri"].as_str().map(|uri| format!(" {uri}")).unwrap_or_default())
        }
    }
}
