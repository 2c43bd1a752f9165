//! Script questions: elicitation, sampling and roots requests of a script.

use crate::callers::ClientCapabilities;
use crate::handling::{ClientQuestion, Resumable, Work};
use crate::requests::Unanswered;
use crate::sessions::roots;
use mcp_bash_runner::{AskedThrough, Question};
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_wire::{Limits, Object, Raw, RawBuf, RpcError, Scanner, surrogates, write};
use std::sync::Arc;
use std::time::Duration;

/// The longest timeout that a script can set.
const LONGEST: Duration = Duration::from_secs(3600);

/// The longest name of a question, in bytes.
const LONGEST_NAME: usize = 128;

/// The most questions in one round.
const MOST_AT_ONCE: usize = 32;

/// The questions of one round.
struct Asked {
    questions: Vec<AskedQuestion>,
    /// Whether the script expects named answers instead of a single one.
    are_several: bool,
    /// The timeout that the script sets, if any.
    patience: Option<Duration>,
}

/// A question from a script.
struct AskedQuestion {
    name: Option<Box<str>>,
    method: String,
    /// A JSON object.
    params: String,
    /// The elicitation mode, if the params contain one.
    mode: Option<String>,
}

/// Gets the answer to a question in the background, while the script continues.
pub(crate) fn attend(work: &Arc<Work>, mut question: Question, call: Resumable) {
    let work = Arc::clone(work);
    tokio::spawn(async move {
        let way = question.asked_through;
        let asked = match &question.text {
            Ok(text) => read(text, way).ok_or_else(|| "the question cannot be read".to_owned()),
            Err(no_room) => Err(no_room.to_string()),
        };
        // It has been parsed, and may be large.
        question.text = Ok(Vec::new());
        let line = match asked {
            Err(why) => failure(way, &why),
            Ok(asked) => tokio::select! {
                line = answer(&work, asked, call, way) => line,
                () = question.withdrawn() => return,
            },
        };
        question.answer(line.into_bytes());
    });
}

fn read(text: &[u8], way: AskedThrough) -> Option<Asked> {
    let text = surrogates::repaired(std::str::from_utf8(text).ok()?);
    let whole = Scanner::new(&text, Limits::default()).whole_value().ok()?;
    match way {
        AskedThrough::Socket => read_line(whole),
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
            let method = "elicitation/create".to_owned();
            let questions = vec![AskedQuestion { name: None, method, params, mode }];
            Some(Asked { questions, are_several: false, patience: None })
        }
    }
}

/// Parses one question, or several by name.
fn read_line(whole: Raw<'_>) -> Option<Asked> {
    let names = ["name", "method", "params", "questions", "timeoutSecs"];
    let asked = Object::read(whole, "the question", &names).ok()?;
    let seconds = asked.get("timeoutSecs").and_then(|raw| raw.text().parse().ok());
    let patience = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST));
    let Some(several) = asked.optional_object("questions").ok()? else {
        let name = asked.optional_string("name").ok()?.filter(|name| !name.is_empty());
        let questions = vec![AskedQuestion::read(whole, name.as_deref())?];
        return Some(Asked { questions, are_several: false, patience });
    };
    let mut members = Vec::new();
    Scanner::again(several).members(|key, question| members.push((key.string(), question))).ok()?;
    let questions = members.into_iter().map(|(name, question)| AskedQuestion::read(question, Some(&name?)));
    let questions = questions.collect::<Option<Vec<_>>>()?;
    let mut names: Vec<&Option<Box<str>>> = questions.iter().map(|question| &question.name).collect();
    names.sort_unstable();
    names.dedup();
    let is_clear = names.len() == questions.len() && (1..=MOST_AT_ONCE).contains(&names.len());
    is_clear.then_some(Asked { questions, are_several: true, patience })
}

impl AskedQuestion {
    fn read(raw: Raw<'_>, name: Option<&str>) -> Option<Self> {
        let asked = Object::read(raw, "the question", &["method", "params"]).ok()?;
        let params = asked.optional_object("params").ok()?;
        let members = params.map(|params| Object::read(params, "params", &["mode"])).transpose().ok()?;
        let mode = members.map(|members| members.optional_string("mode").map(|mode| mode.map(Into::into)));
        name.is_none_or(|name| name.len() <= LONGEST_NAME).then_some(Self {
            name: name.map(Into::into),
            method: asked.string("method").ok()?.into_owned(),
            params: params.map_or("{}", Raw::text).to_owned(),
            mode: mode.transpose().ok()?.flatten(),
        })
    }

    /// Decides whether to ask the client, or answers from known values.
    async fn plan(self, work: &Work) -> Plan {
        if self.method == ROOTS {
            work.note_question_for_roots();
        }
        let (method, is_offered): (_, fn(ClientCapabilities) -> bool) =
            match (&*self.method, self.mode.as_deref()) {
                (ELICITATION, None | Some("form")) => (ELICITATION, |offered| offered.form),
                (ELICITATION, Some("url")) => (ELICITATION, |offered| offered.url),
                (ELICITATION, Some(_)) => (ELICITATION, |_| false),
                (SAMPLING, _) => (SAMPLING, |offered| offered.sampling),
                (ROOTS, _) if work.has_unasked_roots() => (ROOTS, |offered| offered.roots),
                (ROOTS, _) => return Plan::Known(Ok(roots_result(&*work.roots().await))),
                _ => return Plan::Known(Err(Unanswered::NotOffered("there is no such question"))),
            };
        let params = if method == ROOTS { "{}".to_owned() } else { self.params };
        Plan::Ask(ClientQuestion { name: self.name, method, params, is_offered, may_be_given: true })
    }
}

const ELICITATION: &str = "elicitation/create";
const SAMPLING: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

/// How a question is answered.
enum Plan {
    Ask(ClientQuestion),
    Known(Result<String, Unanswered>),
}

async fn answer(work: &Work, asked: Asked, call: Resumable, way: AskedThrough) -> String {
    let names: Vec<_> = asked.questions.iter().map(|question| question.name.clone()).collect();
    let are_several = asked.are_several;
    let mut outcomes = outcomes(work, asked, call).await.into_iter().map(|outcome| match outcome {
        Ok(result) if way == AskedThrough::File => result,
        Ok(result) => format!(r#"{{"result":{result}}}"#),
        Err(unanswered) => failure(way, &unanswered.to_string()),
    });
    if !are_several {
        return outcomes.next().unwrap_or_default();
    }
    let members = names.iter().zip(outcomes);
    let members = members
        .map(|(name, outcome)| format!("{}:{outcome}", write::string(name.as_deref().unwrap_or_default())));
    format!(r#"{{"result":{{{}}}}}"#, members.collect::<Vec<_>>().join(","))
}

/// The results, one for each question.
async fn outcomes(work: &Work, asked: Asked, call: Resumable) -> Vec<Result<String, Unanswered>> {
    let (mut questions, mut known) = (Vec::new(), Vec::new());
    for question in asked.questions {
        known.push(match question.plan(work).await {
            Plan::Known(outcome) => Some(outcome),
            Plan::Ask(question) => {
                questions.push(question);
                None
            }
        });
    }
    let mut answers = match &*questions {
        [] => Vec::new(),
        questions => work.ask(questions, call, asked.patience).await,
    }
    .into_iter();
    let mut questions = questions.iter();
    let mut outcomes = Vec::new();
    for known in known {
        outcomes.push(match known {
            Some(outcome) => outcome,
            None => match (questions.next(), answers.next()) {
                (Some(question), Some(answer)) => result(work, question, answer).await,
                _ => Err(Unanswered::Cancelled),
            },
        });
    }
    outcomes
}

/// The result that a script receives.
async fn result(
    work: &Work,
    question: &ClientQuestion,
    answer: Result<RawBuf, Unanswered>,
) -> Result<String, Unanswered> {
    match (question.method, answer) {
        // If the client cannot show the question, its user has not accepted.
        (ELICITATION, Err(Unanswered::NotOffered(_))) => {
            Ok(r#"{"action":"decline","content":null}"#.to_owned())
        }
        (ROOTS, Ok(answer)) => roots_of(work, answer).await,
        (_, answer) => {
            let result = answer?;
            work.budget().has_room(2 * result.as_raw().text().len())?;
            Ok(write::compact(result.as_raw().text()))
        }
    }
}

/// The roots for a script, from a client that had not been asked before.
async fn roots_of(work: &Work, answer: RawBuf) -> Result<String, Unanswered> {
    let (listed, problems) = roots::read(answer).await;
    let listed = listed.ok_or_else(|| Unanswered::Refused(problems.join("; ")))?;
    let roots = work.learn_roots(roots::usable(&listed, !problems.is_empty()));
    Ok(roots_result(&roots))
}

/// Asks a client without a session for its roots, before the start of a script that reads them from its environment. Without an
/// answer the script gets the roots of the project. An error if no request waits for the result any more.
pub(crate) async fn ask_roots(work: &Work, call: Resumable) -> Result<(), RpcError> {
    let question = ClientQuestion {
        name: Some("roots".into()),
        method: ROOTS,
        params: "{}".to_owned(),
        is_offered: |offered| offered.roots,
        may_be_given: true,
    };
    match work.ask(&[question], call, None).await.pop() {
        Some(Ok(answer)) => drop(roots_of(work, answer).await),
        Some(Err(why)) if work.is_over() => return Err(RpcError::internal(why.to_string())),
        _ => {}
    }
    Ok(())
}

/// The result of `roots/list` for a script: its roots, or the reason if an invalid setting leaves none.
fn roots_result(roots: &ScriptRoots) -> String {
    let refused = roots.refusal.as_deref().map(|why| format!(r#","refused":{}"#, write::string(why)));
    format!(r#"{{"roots":{}{}}}"#, roots.json, refused.unwrap_or_default())
}

fn failure(way: AskedThrough, why: &str) -> String {
    match way {
        AskedThrough::Socket => format!(r#"{{"error":{{"code":-32603,"message":{}}}}}"#, write::string(why)),
        AskedThrough::File => r#"{"action":"error","content":null}"#.to_owned(),
    }
}
