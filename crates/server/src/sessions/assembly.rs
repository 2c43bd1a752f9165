//! Server assembly: builds the parts that read settings, and logs problems of the settings.

use crate::logging::{Log, Payloads};
use crate::replies::Redaction;
use mcp_bash_project::{Paths, roots};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::{ScriptRoots, Scripts};
use mcp_bash_settings::Settings;
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::sync::Arc;

/// The roots of the project. With an invalid setting, no path is allowed.
pub(super) fn own_roots(settings: &Settings, paths: &Paths, log: &Log) -> ScriptRoots {
    let mut diagnostics = Vec::new();
    let found = roots::of_project(paths, settings.roots.as_deref(), &mut diagnostics);
    for diagnostic in &diagnostics {
        log.event(LogLevel::Warning, "mcp.roots", &diagnostic.to_string(), &json!({}));
    }
    match found {
        Ok(roots) => ScriptRoots::new(&roots),
        Err(error) => {
            let why = error.to_string();
            log.event(LogLevel::Error, "mcp.roots", &why, &json!({}));
            ScriptRoots::refused(why)
        }
    }
}

/// Logs why scripts find no SDK, if none is available.
pub(super) fn report_missing_sdk(scripts: &Scripts, log: &Arc<Log>) {
    let log = Arc::clone(log);
    scripts.on_missing_sdk(move |error| {
        let details = json!({ "error": error.to_string() });
        log.event(LogLevel::Error, "mcp.tools", "scripts have no SDK", &details);
    });
}

/// Logs the sandbox restrictions that this machine does not enforce. If only the kernel is too old, it is not a warning: the
/// operator cannot do anything else, and `sandbox status` shows it.
pub(super) fn report_sandbox_shortfall(scripts: &Scripts, log: &Arc<Log>) {
    let log = Arc::clone(log);
    scripts.on_sandbox_shortfall(move |in_force| {
        let is_up_to_the_kernel = in_force.shortfalls().all(|(aspect, _)| aspect.is_up_to_the_kernel());
        let level = if is_up_to_the_kernel { LogLevel::Debug } else { LogLevel::Warning };
        let missing = in_force.shortfalls();
        let missing = missing.map(|(aspect, level)| (aspect.name().to_owned(), json!(level.why())));
        let message =
            "this machine does not enforce all of a sandbox; `mcp-bash sandbox status` shows what to do";
        let details = json!({ "notEnforced": Value::Object(missing.collect()) });
        log.project_event(level, "mcp.sandbox", message, &details);
    });
}

pub(super) fn record_payloads(settings: &Settings, state_dir: &StateDir, log: &Log) -> Option<Payloads> {
    if !settings.debug_payloads {
        return None;
    }
    let secret = settings.remote_token.as_ref().map(|token| token.secret.clone());
    match Payloads::create(state_dir, Redaction::new(secret)) {
        Ok(payloads) => {
            let details = json!({ "file": payloads.path() });
            log.event(LogLevel::Warning, "mcp.payloads", "every message is recorded", &details);
            Some(payloads)
        }
        Err(error) => {
            let details = json!({ "error": error.to_string() });
            log.event(LogLevel::Error, "mcp.payloads", "messages cannot be recorded", &details);
            None
        }
    }
}
