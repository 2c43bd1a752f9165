//! Completion script: its input, and the parsing of its output.

use super::Suggestions;
use super::cursor::Cursor;
use super::params::Params;
use super::referent::{Completer, Referent};
use crate::handling::Work;
use crate::replies::script_errors::told;
use mcp_bash_budget::tree_bytes;
use mcp_bash_project::{Paths, excerpt};
use mcp_bash_scripts::{CompletionCall, Outcome};
use mcp_bash_wire::{RpcError, surrogates};
use serde_json::Value;

/// Runs the script and parses its output.
pub(super) async fn ask(
    work: &Work,
    paths: &Paths,
    params: &Params,
    referent: &Referent<'_>,
    completer: &Completer,
    start: &Cursor,
) -> Result<Suggestions, RpcError> {
    let arguments = params.json();
    let roots = work.roots().await;
    let call = CompletionCall {
        caller: work.identity().for_scripts(),
        roots: &roots,
        opened_roots: work.opened_roots(&roots),
        name: referent.name,
        script: &completer.program,
        beside: referent.prompt.filter(|_| completer.beside_prompt),
        paths,
        arguments: &arguments,
        hash: &params.hash(),
        limit: params.limit,
        offset: start.offset,
        cursor: start.foreign.as_deref().unwrap_or_default(),
        asked: params.timeout,
        author: completer.timeout,
        sandbox: completer.sandbox.as_ref(),
        secrets: &completer.secrets,
        budget: work.budget(),
    };
    let outcome = work.server().scripts().complete(call, work.cancelled()).await;
    let printed = outcome.map(Outcome::into_text).map_err(told)?;
    let what = format!("The completion of '{}'", referent.name);
    let held = work.budget().charge(printed.len() + tree_bytes(&printed));
    let _held = held.map_err(|why| RpcError::internal(format!("{what} printed too much: {why}")))?;
    read(&printed, start.offset, params.limit).ok_or_else(|| {
        let printed = excerpt(&printed);
        RpcError::internal(format!("{what} must print strings as its suggestions, and printed: {printed}"))
    })
}

/// Parses a JSON array of strings, an object with such an array and paging members, or one value per line.
fn read(printed: &str, offset: usize, limit: usize) -> Option<Suggestions> {
    let whole: Value = serde_json::from_str(&surrogates::repaired(printed.trim())).unwrap_or_default();
    let (values, described) = match &whole {
        Value::Array(values) => (strings(values)?, &Value::Null),
        Value::Object(members) => {
            let described = members.get("completion").filter(|inner| inner.is_object()).unwrap_or(&whole);
            let values = ["suggestions", "values"].iter().find_map(|name| described.get(*name));
            match values {
                None | Some(Value::Null) => (Vec::new(), described),
                Some(Value::Array(values)) => (strings(values)?, described),
                Some(_) => return None,
            }
        }
        _ => {
            let lines = printed.lines().map(str::trim_end).filter(|line| !line.is_empty());
            (lines.map(str::to_owned).collect(), &Value::Null)
        }
    };
    // A script that prints more values than requested, without paging members, has printed all of them.
    if described.is_null() && values.len() > limit {
        return Some(Suggestions::page(values, offset, limit));
    }
    let number = |name: &str| {
        let value = &described[name];
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number.and_then(|number| usize::try_from(number).ok())
    };
    let cursor = ["nextCursor", "cursor"].iter().find_map(|name| described[*name].as_str());
    let cursor = cursor.filter(|cursor| !cursor.is_empty()).map(str::to_owned);
    let has_more = described["hasMore"] == true || values.len() > limit || cursor.is_some();
    let is_all = described.is_null() && offset == 0;
    let total = number("total").or(is_all.then_some(values.len()));
    let values: Vec<String> = values.into_iter().take(limit).collect();
    Some(Suggestions { values, total, has_more, next: number("next"), cursor })
}

fn strings(values: &[Value]) -> Option<Vec<String>> {
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Suggestions, read};

    fn told(printed: &str, offset: usize, limit: usize) -> (Vec<String>, Option<usize>, bool, Option<usize>) {
        let Suggestions { values, total, has_more, next, .. } = read(printed, offset, limit).unwrap();
        (values, total, has_more, next)
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_form_of_an_answer_is_understood() {
        assert_eq!(told(r#"["a","b"]"#, 0, 5), (words("a b"), Some(2), false, None));
        assert_eq!(told(r#"["a","b","c"]"#, 0, 2), (words("a b"), Some(3), true, None));
        assert_eq!(told(r#"["a","b","c"]"#, 2, 2), (words("c"), Some(3), false, None));
        assert_eq!(told(r#"["c"]"#, 2, 2), (words("c"), None, false, None));
        assert_eq!(
            told(r#"{"suggestions":["a"],"hasMore":true,"next":7}"#, 0, 5),
            (words("a"), None, true, Some(7))
        );
        assert_eq!(
            told(r#"{"suggestions":["a"],"hasMore":false,"next":null}"#, 0, 5),
            (words("a"), None, false, None)
        );
        assert_eq!(
            told(r#"{"completion":{"values":["a"],"total":9,"hasMore":true}}"#, 0, 5),
            (words("a"), Some(9), true, None)
        );
        assert_eq!(told("a\n\nb \n", 0, 5), (words("a b"), Some(2), false, None));
        assert_eq!(told("", 0, 5), (Vec::new(), Some(0), false, None));
        for wrong in [r#"["a", 5]"#, r#"{"suggestions": "a"}"#, r#"{"suggestions": [null]}"#] {
            assert!(read(wrong, 0, 5).is_none(), "{wrong}");
        }
    }
}
