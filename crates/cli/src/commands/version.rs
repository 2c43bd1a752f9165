//! `mcp-bash version`: what this copy of the program is: its version, how it was built, and what it supports.

use crate::base::error::Error;
use crate::terminal::print::print;
use mcp_bash_wire::Revision;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The target triple that this program was built for.
const TARGET: &str = env!("BUILD_TARGET");

/// The commit, if the build was told. It comes from the environment of the build, so that two builds of one commit are the same bytes.
const COMMIT: Option<&str> = option_env!("BUILD_COMMIT");

/// The ways of this build to confine scripts. `mcp-bash sandbox status` says which of them this machine enforces.
const SANDBOX: &[&str] = if cfg!(target_os = "linux") {
    &["landlock", "seccomp", "namespaces", "rlimits", "cgroups"]
} else if cfg!(target_os = "macos") {
    &["seatbelt", "rlimits"]
} else {
    &[]
};

/// The languages that have an SDK. Each SDK is part of this program, and has its version.
const SDKS: [&str; 3] = ["bash", "python", "node"];

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The same as JSON, for programs
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash version
  mcp-bash version --json | jq -r .target
  mcp-bash doctor --upgrade-check   asks whether there is a newer release";

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let text = if arguments.json { format!("{:#}\n", to_json()) } else { text() };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_json() -> Value {
    let sdks: serde_json::Map<String, Value> =
        SDKS.iter().map(|&language| (language.to_owned(), VERSION.into())).collect();
    json!({
        "name": "mcp-bash",
        "version": VERSION,
        "commit": commit(),
        "target": TARGET,
        "features": features(),
        "protocolRevisions": revisions(),
        "sandbox": SANDBOX,
        "sdks": sdks,
    })
}

fn text() -> String {
    let mut text = format!("mcp-bash {VERSION}\n");
    let features = features();
    let rows = [
        ("commit", commit().unwrap_or_default().to_owned()),
        ("target", TARGET.to_owned()),
        ("features", features.join(", ")),
        ("protocol", revisions().join(", ")),
        ("sandbox", SANDBOX.join(", ")),
        ("sdks", SDKS.join(", ")),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "  {name:9} {value}");
    }
    text
}

/// The commit, unless what the build was told is none.
fn commit() -> Option<&'static str> {
    COMMIT.filter(|commit| is_commit(commit))
}

fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// How this program was compiled, where builds differ.
fn features() -> Vec<&'static str> {
    let all = [(cfg!(target_feature = "crt-static"), "static"), (cfg!(debug_assertions), "debug-assertions")];
    all.into_iter().filter_map(|(is_on, name)| is_on.then_some(name)).collect()
}

fn revisions() -> Vec<&'static str> {
    Revision::ALL.into_iter().map(Revision::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_a_hash_and_nothing_else() {
        assert!(is_commit("d2ec1808") && is_commit(&"a".repeat(40)));
        for wrong in ["", "d2ec", "HEAD", "d2ec1808-dirty", "D2EC1808", "d2ec1808\n"] {
            assert!(!is_commit(wrong), "{wrong}");
        }
    }
}
