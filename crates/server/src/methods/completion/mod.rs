//! `completion/complete`: suggestions for what the user is typing.
//!
//! A script registered for the prompt or resource has precedence, then a script beside the prompt. Without either, or if it
//! suggests nothing, the values come from the author's schema of the argument.

mod cursor;
mod params;
mod referent;
mod schema;
mod script;

use crate::handling::Work;
use crate::offered::{Policed, Snapshot};
use crate::replies::{Answer, Members};
use cursor::Cursor;
use mcp_bash_audit::Reason;
use mcp_bash_wire::{Raw, RpcError, write};
use params::{Params, Reference};
use referent::{By, Referent};

/// The most values of one response, according to the specification.
const MOST: usize = 100;

/// A page of matching values, and the known facts about the rest.
#[derive(Debug, Default, PartialEq, Eq)]
struct Suggestions {
    values: Vec<String>,
    total: Option<usize>,
    has_more: bool,
    /// The offset of the next values, if not right after these.
    next: Option<usize>,
    /// A script's own cursor for the next values.
    cursor: Option<String>,
}

impl Suggestions {
    fn is_nothing(&self) -> bool {
        self.values.is_empty() && !self.has_more
    }

    /// A page, when all values are known.
    fn page(mut values: Vec<String>, offset: usize, limit: usize) -> Self {
        let total = values.len();
        let end = total.min(offset.saturating_add(limit));
        let values = values.drain(offset.min(end)..end).collect();
        Self { values, total: Some(total), has_more: end < total, ..Self::default() }
    }
}

pub(crate) async fn complete(work: &Work, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let params = Params::read(params)?;
    let rights = work.principal().rights.as_deref();
    let is_known = |snapshot: &Snapshot| Referent::find(&snapshot.catalog, &params, rights).is_ok();
    let snapshot = work.snapshot_with(|snapshot, _| is_known(snapshot)).await;
    let catalog = &snapshot.catalog;
    snapshot.check_served()?;
    let referent = Referent::find(catalog, &params, rights).inspect_err(|_| {
        if Referent::find(catalog, &params, None).is_ok() {
            work.measure(|measured| measured.refused(Reason::Rights));
        }
    })?;
    let policed = match &params.reference {
        Reference::Prompt(name) => Policed::Prompt { name, arguments: params.known_arguments() },
        Reference::Resource(uri) => Policed::Resource { uri },
    };
    let redactions = work.police(&snapshot, &policed)?;
    let (mut by, start) = begin(&referent, &params)?;
    let listed = |schema: &str| {
        let values = schema::values(schema, &params.value, &catalog.paths.root);
        Suggestions::page(values, start.offset, params.limit)
    };
    let mut suggestions = match &by {
        By::Script(completer) => {
            script::ask(work, &catalog.paths, &params, &referent, completer, &start).await?
        }
        By::Schema(schema) => listed(schema),
    };
    if suggestions.is_nothing()
        && start.is_first()
        && let Some(schema) = referent.schema(&params)
    {
        suggestions = listed(&schema);
        by = By::Schema(schema);
    }
    if !redactions.is_empty() {
        for value in &mut suggestions.values {
            *value = redactions.patterns(value).into_owned();
        }
    }
    Ok(answer(suggestions, &referent, &by, &params, start.offset))
}

/// The completer, and the position of the first value. A completion that fell back to a schema continues with that schema.
fn begin(referent: &Referent<'_>, params: &Params) -> Result<(By, Cursor), RpcError> {
    let word = params.cursor.as_deref();
    if let (Some(_), Some(schema)) = (word, referent.schema(params).map(By::Schema))
        && let Ok(start) = Cursor::read(word, referent, &schema)
    {
        return Ok((schema, start));
    }
    let by = referent.by(params)?;
    let start = Cursor::read(word, referent, &by)?;
    Ok((by, start))
}

fn answer(
    suggestions: Suggestions,
    referent: &Referent<'_>,
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
        let cursor = suggestions.cursor.unwrap_or_else(|| Cursor::write(referent, by, &params.hash(), next));
        completion.string("nextCursor", Some(&cursor));
    }
    let mut result = Members::default();
    result.raw("completion", &completion.object());
    Answer::members(result.into_text())
}
