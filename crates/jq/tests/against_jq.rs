//! Comparison with the installed jq, or the one that the variable `JQ` names.

mod corpus;
mod differences;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::{Case, NEWER, SAME};
use differences::DIFFERENCES;

/// The visible outcome of a run. The details of messages differ between versions of jq.
#[derive(Debug, PartialEq)]
struct Seen {
    stdout: String,
    code: i32,
    complained: bool,
}

fn real_jq() -> String {
    std::env::var("JQ").unwrap_or_else(|_| "jq".into())
}

fn real((arguments, input): &Case) -> Seen {
    let mut child = Command::new(real_jq())
        .args(*arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("jq has to be installed for this comparison");
    // A jq that reads no input may have exited before it is written.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("jq ends");
    Seen {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        code: output.status.code().unwrap_or(-1),
        complained: !output.stderr.is_empty(),
    }
}

fn ours((arguments, input): &Case) -> Seen {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let arguments = arguments.iter().map(Into::into);
    let code = mcp_bash_jq::run(arguments, input.as_bytes(), &mut stdout, &mut stderr);
    Seen {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        code: code.into(),
        complained: !stderr.is_empty(),
    }
}

/// The cases for which `wrong` reports something, checked by a few threads at once.
fn complaints<'c, T: Sync>(cases: &'c [T], wrong: impl Fn(&'c T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(wrong(case));
        }
        found
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no case panics")).collect()
    })
}

fn must_agree(case: &Case) -> Option<String> {
    let (ours, real) = (ours(case), real(case));
    (ours != real).then(|| format!("{case:?}\n  ours {ours:?}\n  real {real:?}"))
}

fn must_differ(case: &Case) -> Option<String> {
    let (ours, real) = (ours(case), real(case));
    (ours == real).then(|| format!("{case:?} is no difference: {ours:?}"))
}

fn report(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} cases:\n{}", complaints.len(), complaints.join("\n"));
}

/// The minor version of the installed jq; the major version is always 1.
fn minor_version() -> u32 {
    let output = Command::new(real_jq()).arg("--version").output().expect("jq has to be installed");
    let text = String::from_utf8_lossy(&output.stdout);
    let minor = text.trim().strip_prefix("jq-1.").and_then(|rest| rest.split(['.', '-']).next());
    minor.and_then(|minor| minor.parse().ok()).unwrap_or_else(|| panic!("an unknown version: {text}"))
}

#[test]
fn does_what_jq_does() {
    report(&complaints(SAME, must_agree));
}

#[test]
fn follows_the_newer_jq_where_versions_differ() {
    match minor_version() {
        ..=6 => report(&complaints(NEWER, must_differ)),
        // Some of the changes came with 1.7, the others with 1.8.
        7 => {}
        8.. => report(&complaints(NEWER, must_agree)),
    }
}

#[test]
fn differs_only_where_it_says_so() {
    report(&complaints(DIFFERENCES, |(why, case)| {
        must_differ(case).map(|complaint| format!("{why}: {complaint}"))
    }));
}
