//! This program: its version, and whether it is the one that people and clients find.

use super::diagnosis::Diagnosis;
use super::version;
use crate::open::own_entry::own_runner;
use crate::report::Group;
use crate::report::finding::Finding;
use mcp_bash_harmless::shell_path;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn look(report: &mut Diagnosis, least: Option<&str>) {
    let version = env!("CARGO_PKG_VERSION");
    let own = std::env::current_exe().unwrap_or_default();
    let found = on_path();
    let mut checks =
        vec![Finding::good("framework.version", format!("{} is version {version}", own.display()))];
    checks.extend(least.map(at_least));
    let is_first = found.first().is_some_and(|first| is_same(first, &own));
    let runner = own_runner();
    checks.extend(runner.map(|runner| {
        let words = [&[runner.command()], runner.words()].concat().join(" ");
        Finding::good("path.package_runner", format!("it is in a cache; `{words}` starts it"))
    }));
    // The folder of a cache does not belong on PATH.
    checks.extend(runner.is_none().then(|| {
        match found.first() {
            Some(_) if is_first => Finding::good("path.configured", "`mcp-bash` on PATH is this one"),
            Some(first) => Finding::warning(
                "path.not_configured",
                format!("`mcp-bash` on PATH is another one: {}", first.display()),
            )
            .remedy("remove it, or put the folder of this one before it")
            .command(put_first(&own)),
            None => Finding::warning("path.not_configured", "there is no `mcp-bash` on PATH")
                .remedy("people type it, and clients may be told to start it by that name")
                .command(put_first(&own)),
        }
    }));
    if found.len() > 1 {
        let all: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
        checks.push(Finding::note("path.several", format!("there are several on PATH: {}", all.join(", "))));
    }
    report.add(Group::new("This program", checks));
    report.fact(
        "framework",
        json!({ "path": own.to_string_lossy(), "exists": true, "version": version, "pathConfigured": is_first }),
    );
    report.fact(
        "install",
        json!({
            "managedRoot": "",
            "markerPath": "",
            "markerPresent": false,
            "managed": false,
            "reason": "one file is the whole installation; it is replaced in the way it was installed",
        }),
    );
    let status = if is_first {
        "ok"
    } else if found.is_empty() {
        "missing"
    } else {
        "wrong_target"
    };
    let first = found.first().cloned().unwrap_or_default();
    report.fact("shim", json!({ "path": first.to_string_lossy(), "target": own.to_string_lossy(), "status": status, "detail": "" }));
    report.fact(
        "macOS",
        json!({
            "detected": cfg!(target_os = "macos"),
            "quarantineCheckSupported": false,
            "frameworkQuarantined": null,
            "projectQuarantined": null,
        }),
    );
    report.fact("windows", json!({ "msysDetected": false, "hint": "" }));
}

/// Whether this program is new enough.
pub(super) fn at_least(wanted: &str) -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    match version::numbers(wanted) {
        None => Finding::error("doctor.min_version_invalid", format!("`{wanted}` is no version"))
            .remedy("write numbers, such as 1.2.0"),
        Some(numbers) if version::is_enough(numbers) => Finding::good(
            "framework.version_enough",
            format!("version {wanted} or newer is wanted, and this is"),
        ),
        Some(_) => Finding::error(
            "framework.version_too_old",
            format!(
                "version {wanted} or newer is wanted: this is {version}, which replaces {} of the framework",
                version::STANDS_IN_FOR
            ),
        )
        .remedy("install a newer mcp-bash in the way this one was installed"),
    }
}

/// The programs of our name that a shell finds, in order, each file once.
fn on_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for candidate in std::env::split_paths(&path).map(|folder| folder.join("mcp-bash")) {
        let is_program = rustix::fs::access(&candidate, rustix::fs::Access::EXEC_OK).is_ok();
        if is_program && candidate.is_file() && !found.iter().any(|known| is_same(known, &candidate)) {
            found.push(candidate);
        }
    }
    found
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn put_first(own: &Path) -> String {
    format!("export PATH={}:\"$PATH\"", shell_path(own.parent().unwrap_or(own)))
}
