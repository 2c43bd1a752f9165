//! What a running script asks: the user, the client's model, or for the folders it may work in.

use crate::capabilities::ClientCapabilities;
use crate::parking::Subject;
use crate::questions::Unanswered;
use crate::roots;
use crate::work::Work;
use mcp_bash_project::roots::to_json;
use mcp_bash_runner::{AskedThrough, Question};
use mcp_bash_wire::{Limits, Object, Raw, Scanner, write};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// How long a script waits that does not say.
const USUAL: Duration = Duration::from_secs(300);

/// No question is open for longer.
const LONGEST: Duration = Duration::from_secs(3600);

/// A question as a script asks it.
struct Asked {
    method: String,
    /// The text of a JSON object.
    params: String,
    /// How the user is asked, where the params say.
    mode: Option<String>,
    patience: Duration,
}

/// Sees to it that the question is answered, while the script and all else goes on. `subject` is what the call is about.
pub(super) fn attend(work: &Arc<Work>, mut question: Question, subject: Subject) {
    let work = Arc::clone(work);
    tokio::spawn(async move {
        let way = question.asked_through;
        let asked = match &question.text {
            Ok(text) => read(text, way).ok_or_else(|| "the question cannot be read".to_owned()),
            Err(no_room) => Err(no_room.to_string()),
        };
        // It is known now, and may be long.
        question.text = Ok(Vec::new());
        let line = match asked {
            Err(why) => failure(way, &why),
            Ok(asked) => tokio::select! {
                line = answer(&work, &asked, subject, way) => line,
                () = question.withdrawn() => return,
            },
        };
        question.answer(line.into_bytes());
    });
}

fn read(text: &[u8], way: AskedThrough) -> Option<Asked> {
    let text = std::str::from_utf8(text).ok()?;
    let whole = Scanner::new(text, Limits::default()).whole_value().ok()?;
    match way {
        AskedThrough::Socket => {
            let asked = Object::read(whole, "the question", &["method", "params", "timeoutSecs"]).ok()?;
            let seconds = asked.get("timeoutSecs").and_then(|raw| raw.text().parse().ok());
            let patience = seconds.map_or(USUAL, Duration::from_secs).min(LONGEST);
            let params = asked.optional_object("params").ok()?;
            let members = params.map(|params| Object::read(params, "params", &["mode"])).transpose().ok()?;
            let mode = members.map(|members| members.optional_string("mode")).transpose().ok()?.flatten();
            Some(Asked {
                method: asked.string("method").ok()?.into_owned(),
                params: params.map_or("{}", Raw::text).to_owned(),
                mode: mode.map(Cow::into_owned),
                patience,
            })
        }
        AskedThrough::File => {
            let asked = Object::read(whole, "the question", &["message", "schema", "mode", "url"]).ok()?;
            let message = write::string(&asked.optional_string("message").ok()?.unwrap_or_default());
            let is_url = asked.optional_string("mode").ok()?.is_some_and(|mode| mode == "url");
            let params = if is_url {
                let url = write::string(&asked.optional_string("url").ok()?.unwrap_or_default());
                format!(r#"{{"mode":"url","message":{message},"url":{url}}}"#)
            } else {
                let schema = asked.optional_object("schema").ok()?;
                let schema = schema.map_or(r#"{"type":"object","properties":{}}"#, Raw::text);
                format!(r#"{{"mode":"form","message":{message},"requestedSchema":{schema}}}"#)
            };
            let mode = Some(if is_url { "url" } else { "form" }.to_owned());
            Some(Asked { method: "elicitation/create".to_owned(), params, mode, patience: USUAL })
        }
    }
}

async fn answer(work: &Work, asked: &Asked, subject: Subject, way: AskedThrough) -> String {
    match outcome(work, asked, subject).await {
        Ok(result) if way == AskedThrough::Socket => format!(r#"{{"result":{result}}}"#),
        Ok(result) => result,
        Err(unanswered) => failure(way, &unanswered.to_string()),
    }
}

async fn outcome(work: &Work, asked: &Asked, subject: Subject) -> Result<String, Unanswered> {
    let is_offered: fn(ClientCapabilities) -> bool = match (&*asked.method, asked.mode.as_deref()) {
        ("elicitation/create", None | Some("form")) => |offered| offered.form,
        ("elicitation/create", Some("url")) => |offered| offered.url,
        ("elicitation/create", Some(_)) => |_| false,
        ("sampling/createMessage", _) => |offered| offered.sampling,
        ("roots/list", _) => return roots_of(work, asked, subject).await,
        _ => return Err(Unanswered::NotOffered("there is no such question")),
    };
    match work.ask(&asked.method, &asked.params, is_offered, subject, asked.patience).await {
        // One that cannot show the question has a user who has not accepted.
        Err(Unanswered::NotOffered(_)) if asked.method == "elicitation/create" => {
            Ok(r#"{"action":"decline","content":null}"#.to_owned())
        }
        answer => {
            let result = answer?;
            work.budget().has_room(2 * result.as_raw().text().len())?;
            Ok(write::compact(result.as_raw().text()))
        }
    }
}

/// The folders that the script may work in. A client that was not asked for its own before is asked now.
async fn roots_of(work: &Work, asked: &Asked, subject: Subject) -> Result<String, Unanswered> {
    let told = |json: &str| Ok(format!(r#"{{"roots":{json}}}"#));
    if !work.has_unasked_roots() {
        return told(&work.roots().await.json);
    }
    let answer = work.ask("roots/list", "{}", |offered| offered.roots, subject, asked.patience).await?;
    let (listed, problems) = roots::read(answer).await;
    match listed {
        // Of those it named none can be used, and no script may go elsewhere because of that.
        Some(listed) if !listed.is_empty() || !problems.is_empty() => told(&to_json(&listed)),
        Some(_) => told(&work.roots().await.json),
        None => Err(Unanswered::Refused(problems.join("; "))),
    }
}

fn failure(way: AskedThrough, why: &str) -> String {
    match way {
        AskedThrough::Socket => format!(r#"{{"error":{{"code":-32603,"message":{}}}}}"#, write::string(why)),
        AskedThrough::File => r#"{"action":"error","content":null}"#.to_owned(),
    }
}
