//! `completion/complete`: what a person may go on typing.
//!
//! A script that is registered for the prompt or resource comes first, then one that stands beside the prompt. Without
//! either, the author's schema of the argument says which values there are.

mod cursor;
mod params;
mod schema;
mod script;
mod subject;

use super::tools::served;
use crate::shape::{Answer, Members};
use crate::work::Work;
use cursor::Cursor;
use mcp_bash_wire::{Raw, RpcError, write};
use params::Params;
use subject::{By, Subject};

/// The most values of one answer, as the specification has it.
const MOST: usize = 100;

/// Some of the values that fit, and what is known about the others.
#[derive(Debug, Default, PartialEq, Eq)]
struct Suggestions {
    values: Vec<String>,
    total: Option<usize>,
    has_more: bool,
    /// Where the next ones begin, if not right after these.
    next: Option<usize>,
    /// A script's own word for where the next ones begin.
    cursor: Option<String>,
}

impl Suggestions {
    /// A page of values that are all known.
    fn page(mut values: Vec<String>, offset: usize, limit: usize) -> Self {
        let total = values.len();
        let end = total.min(offset.saturating_add(limit));
        let values = values.drain(offset.min(end)..end).collect();
        Self { values, total: Some(total), has_more: end < total, ..Self::default() }
    }
}

pub(crate) async fn complete(work: &Work, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let params = Params::read(params)?;
    let snapshot = work.server().snapshot();
    let catalog = &snapshot.catalog;
    served(catalog)?;
    let subject = Subject::find(catalog, &params)?;
    let by = subject.by(&params)?;
    let start = Cursor::read(params.cursor.as_deref(), &subject, &by)?;
    let suggestions = match &by {
        By::Script(completer) => {
            script::ask(work, &catalog.paths, &params, &subject, completer, &start).await?
        }
        By::Schema(schema) => {
            let values = schema::values(schema, &params.value, &catalog.paths.root);
            Suggestions::page(values, start.offset, params.limit)
        }
    };
    Ok(answer(suggestions, &subject, &by, &params, start.offset))
}

fn answer(
    suggestions: Suggestions,
    subject: &Subject<'_>,
    by: &By,
    params: &Params,
    offset: usize,
) -> Answer {
    let values: Vec<String> = suggestions.values.iter().map(|value| write::string(value)).collect();
    let mut completion = Members::default();
    completion.raw("values", &format!("[{}]", values.join(",")));
    completion.optional_raw("total", suggestions.total.map(|total| total.to_string()).as_deref());
    completion.raw("hasMore", if suggestions.has_more { "true" } else { "false" });
    if suggestions.has_more {
        let next = suggestions.next.unwrap_or(offset + suggestions.values.len());
        let cursor = suggestions.cursor.unwrap_or_else(|| Cursor::write(subject, by, &params.hash(), next));
        completion.string("nextCursor", Some(&cursor));
    }
    let mut result = Members::default();
    result.raw("completion", &completion.object());
    Answer::members(result.into_text())
}
