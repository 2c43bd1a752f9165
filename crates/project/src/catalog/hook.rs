//! Registration hook: runs `server.d/register.sh`, in projects that allow it.

use crate::catalog::registrations::{KINDS, Registered};
use crate::walk::run::{HOOK_TIMEOUT, Hook, HookError, Run};
use crate::{Paths, excerpt, trust};
use mcp_bash_wire::surrogates;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

/// The largest hook that is run, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The functions a hook registers with. Each entry becomes a line on descriptor 3, with its kind and its JSON. Descriptor 3
/// is our standard error, and nothing else is written there: anything that the hook prints itself, errors included, goes to
/// standard output. `begin` and `abort` become lines of their own, with the kind they are about.
const PRELUDE: &str = r#"
exec 3>&2 2>&1
_mcp_entry() { local payload=${2//$'\n'/ }; printf '%s\t%s\n' "$1" "${payload//$'\r'/ }" >&3; }
_mcp_kind() {
	eval "mcp_$1_manual_begin() { _mcp_entry begin $2; }
mcp_$1_manual_abort() { _mcp_entry abort $2; }
mcp_$1_manual_finalize() { return 0; }
mcp_$1_register_manual() { _mcp_entry $2 \"\$1\"; }"
}
_mcp_kind tools tools
_mcp_kind resources resources
_mcp_kind resources_templates resourceTemplates
_mcp_kind prompts prompts
_mcp_kind completion completions
mcp_register_tool() { _mcp_entry tools "$1"; }
mcp_register_resource() { _mcp_entry resources "$1"; }
mcp_register_prompt() { _mcp_entry prompts "$1"; }
. /dev/stdin
"#;

/// The result of a hook.
#[derive(Debug, Default)]
pub(crate) struct Hooked {
    pub(crate) registered: Registered,
    /// The problem with the hook's output, if that is not a registration and the hook registered nothing else.
    pub(crate) problem: Option<String>,
}

/// Runs the hook of a project. `None` if it has none.
pub(crate) fn run(paths: &Paths, limit: u64, runner: &dyn Run) -> Result<Option<Hooked>, HookError> {
    let Some(text) = trust::read(&paths.server.join("register.sh"), &paths.root, LONGEST)? else {
        return Ok(None);
    };
    let hook = Hook { prelude: PRELUDE, text: &text, timeout: HOOK_TIMEOUT, limit };
    let Output { status, stdout: printed, stderr: entries } = runner.run_hook(&hook)?;
    if status.success() {
        return registered(&entries, &printed).map(Some);
    }
    let said = String::from_utf8_lossy(&printed);
    Err(HookError::Failed(said.lines().last().map_or_else(|| status.to_string(), str::to_owned)))
}

/// The entries if there are any, otherwise the hook's output, if that is a registration as JSON.
fn registered(entries: &[u8], printed: &[u8]) -> Result<Hooked, HookError> {
    let registered = read_entries(&surrogates::repaired(&String::from_utf8_lossy(entries)))?;
    if !registered.is_empty() {
        return Ok(Hooked { registered, problem: None });
    }
    let printed = String::from_utf8_lossy(printed);
    let registered = read_printed(&surrogates::repaired(&printed))?;
    let is_rubbish = registered.is_empty() && entries.is_empty() && !printed.trim().is_empty();
    let problem = is_rubbish.then(|| {
        format!(
            "printed what is no registration, and the project is searched instead: {}; \
             print an object with `tools`, `resources` or `prompts`, or call `mcp_tools_register_manual` and its like",
            excerpt(&printed)
        )
    });
    Ok(Hooked { registered, problem })
}

/// Entries registered by functions. Entries after `abort` and before the next `begin` do not count.
fn read_entries(lines: &str) -> Result<Registered, HookError> {
    let (mut registered, mut aborted) = (Registered::new(), BTreeSet::new());
    for line in lines.lines() {
        match line.split_once('\t') {
            None => {}
            Some(("begin", kind)) => {
                aborted.remove(kind);
            }
            Some(("abort", kind)) => {
                registered.remove(kind);
                aborted.insert(kind);
            }
            Some((kind, _)) if aborted.contains(kind) => {}
            Some((kind, json)) => {
                let entry = serde_json::from_str(json).map_err(HookError::NotJson)?;
                registered.entry(kind.to_owned()).or_default().push(entry);
            }
        }
    }
    Ok(registered)
}

/// Entries printed as one JSON object, by kind.
fn read_printed(printed: &str) -> Result<Registered, HookError> {
    let mut registered = Registered::new();
    let is_object = printed.trim_start().starts_with('{');
    if is_object && let Ok(members) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(printed) {
        for (kind, entries) in members {
            if KINDS.contains(&&*kind) && entries.get().starts_with('[') {
                registered.insert(kind, serde_json::from_str(entries.get()).map_err(HookError::NotJson)?);
            }
        }
    }
    Ok(registered)
}
