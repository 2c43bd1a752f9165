//! Surface: what clients see of a project: its tools, prompts, resources and templates, in a form that can be stored and
//! compared.

use crate::expect::sorted;
use crate::folder::{ServerFolder, TemporaryFolder};
use crate::result::Places;
use crate::server::{Setting, TestServer, with_last_words};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The timeout of a list.
const LIMIT: Duration = Duration::from_secs(60);

/// One kind of entry that clients see: its list, the member that identifies an entry, and what is recorded of each.
pub(super) struct Kind {
    pub(super) member: &'static str,
    method: &'static str,
    pub(super) word: &'static str,
    name: &'static str,
    kept: &'static [&'static str],
}

pub(super) const KINDS: [Kind; 4] = [
    Kind {
        member: "tools",
        method: "tools/list",
        word: "tool",
        name: "name",
        kept: &["title", "description", "inputSchema", "outputSchema", "annotations"],
    },
    Kind {
        member: "prompts",
        method: "prompts/list",
        word: "prompt",
        name: "name",
        kept: &["title", "description", "arguments"],
    },
    Kind {
        member: "resources",
        method: "resources/list",
        word: "resource",
        name: "uri",
        kept: &["name", "title", "description", "mimeType", "annotations"],
    },
    Kind {
        member: "resourceTemplates",
        method: "resources/templates/list",
        word: "resource template",
        name: "uriTemplate",
        kept: &["name", "title", "description", "mimeType", "annotations"],
    },
];

/// Asks a server for its surface. Everything has a fixed order, and paths are replaced by names.
pub(super) async fn read(setting: &Setting, folder: &TemporaryFolder) -> Result<Value, String> {
    let own = ServerFolder::new(folder.path(), 0).map_err(|error| error.to_string())?;
    let failed = |error: &mcp_bash_client::Error| with_last_words(error, &own);
    let (mut session, mut host) = TestServer::plain(setting, &own).await.map_err(|error| failed(&error))?;
    let places = Places::new(&own.dir, &setting.project);
    let mut surface = Map::new();
    let mut problem = None;
    for kind in &KINDS {
        match session.entries(kind.method, kind.member, &mut host, Some(LIMIT)).await {
            Ok(entries) => {
                surface.insert(kind.member.to_owned(), by_name(kind, &entries, &places));
            }
            // A server without such entries may not know the list.
            Err(mcp_bash_client::Error::Refused(refusal)) if refusal.code == -32601 => {
                surface.insert(kind.member.to_owned(), json!({}));
            }
            Err(error) => {
                problem = Some(failed(&error));
                break;
            }
        }
    }
    session.end().await;
    match problem {
        Some(problem) => Err(problem),
        None => Ok(Value::Object(surface)),
    }
}

fn by_name(kind: &Kind, entries: &[Value], places: &Places) -> Value {
    let mut named: Vec<(String, Value)> = entries
        .iter()
        .map(|entry| {
            let name = places.named(entry[kind.name].as_str().unwrap_or_default());
            let kept = kind
                .kept
                .iter()
                .filter_map(|member| Some(((*member).to_owned(), entry.get(*member)?.clone())));
            (name, sorted(&places.named_value(&Value::Object(kept.collect()))))
        })
        .collect();
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    Value::Object(named.into_iter().collect())
}
