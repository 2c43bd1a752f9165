//! Git limits, tested with fake processes in place of git.

use super::server::{PUBLIC, TestNetwork};
use crate::{FetchError, Git, GitPolicy, HostList, HostRules};
use mcp_bash_budget::Budget;
use mcp_bash_runner::fake_child::{Deed, FakeChildren, StartedWith};
use mcp_bash_runner::{ProcessEnding, Runner, StateDir};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;

const URI: &str = "git+https://h.example/a#main:file";

/// The task of a git process.
fn task(started_with: &StartedWith) -> &str {
    let tasks = ["version", "init", "fetch", "cat-file"];
    let arguments = started_with.arguments.iter().filter_map(|argument| argument.to_str());
    arguments.into_iter().find(|argument| tasks.contains(argument)).unwrap()
}

/// A git that has the right version and fetches successfully, but performs `deeds` for one of its tasks.
fn git_that(
    at: &'static str,
    deeds: impl Fn(&StartedWith) -> Vec<Deed> + Send + Sync + 'static,
) -> FakeChildren {
    FakeChildren::new(move |started_with| match task(started_with) {
        task if task == at => deeds(started_with),
        "version" => vec![Deed::Print("git version 2.50.0\n".into())],
        _ => Vec::new(),
    })
}

/// The answer of `git cat-file` for a file of that size.
fn file_of(size: usize) -> Vec<Deed> {
    let head = format!("0123456789abcdef blob {size}\n").into_bytes();
    vec![Deed::Print([head, vec![b'x'; size], b"\n".to_vec()].concat())]
}

async fn read(
    children: &FakeChildren,
    policy: GitPolicy,
    budget: &Arc<Budget>,
) -> Result<Vec<u8>, FetchError> {
    let folder = TempDir::new().unwrap();
    let hosts = HostRules { allow: HostList::parse("h.example").unwrap(), ..HostRules::default() };
    let policy = GitPolicy { enabled: true, hosts, scratch: folder.path().to_owned(), ..policy };
    let state_dir = Arc::new(StateDir::new(folder.path().to_owned(), false));
    let runner = Arc::new(Runner::pretending(state_dir, children));
    Git::with(policy, runner, TestNetwork::new(vec![vec![PUBLIC]], None)).read(URI, budget).await
}

fn large_budget() -> Arc<Budget> {
    Budget::new(1 << 30, "NOTHING")
}

#[tokio::test(start_paused = true)]
async fn a_file_is_as_large_as_git_says() {
    let children = git_that("cat-file", |_| file_of(100_000));
    let policy = GitPolicy { max_bytes: 100_000, ..GitPolicy::default() };
    assert_eq!(read(&children, policy, &large_budget()).await.unwrap(), vec![b'x'; 100_000]);
    let asked = children.records().pop().unwrap();
    assert_eq!(asked.started_with.input, b"FETCH_HEAD:file\n");

    let children = git_that("cat-file", |_| vec![Deed::Print("0123456789abcdef blob 7\nshort".into())]);
    let error = read(&children, GitPolicy::default(), &large_budget()).await.unwrap_err();
    assert!(error.to_string().ends_with("git ended before its end"), "{error}");
}

/// However much more git would print.
#[tokio::test(start_paused = true)]
async fn a_file_that_is_too_large_is_not_read_to_its_end() {
    let children = git_that("cat-file", |_| {
        let endless = vec![Deed::Print(vec![b'x'; 1 << 20]); 10];
        [vec![Deed::Print("0123456789abcdef blob 10485760\n".into())], endless].concat()
    });
    let policy = GitPolicy { max_bytes: 50_000, ..GitPolicy::default() };
    let error = read(&children, policy, &large_budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 50_000, .. }), "{error}");
    let ending = children.records().pop().unwrap().ending;
    assert!(matches!(ending, Some(ProcessEnding::Signalled(_))), "{ending:?}");
}

#[tokio::test(start_paused = true)]
async fn a_file_is_charged_to_the_callers_budget() {
    let children = git_that("cat-file", |_| file_of(100_000));
    let budget = Budget::new(90_000, "NOTHING");
    let error = read(&children, GitPolicy::default(), &budget).await.unwrap_err();
    assert!(matches!(error, FetchError::NoRoom(_)), "{error}");
    assert_eq!(budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn git_is_killed_once_its_repository_is_too_large() {
    let children = git_that("fetch", |started_with| {
        fs::write(started_with.directory.join("pack"), vec![0; 20 * 1024]).unwrap();
        vec![Deed::IgnoreTermination, Deed::Wait(Duration::from_secs(20))]
    });
    let start = Instant::now();
    let error = read(&children, GitPolicy { max_kb: 10, ..GitPolicy::default() }, &large_budget()).await;
    let error = error.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { setting: "MCPBASH_GIT_MAX_KB", .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(1), "it is not waited for");
    assert_eq!(children.records().pop().unwrap().ending, Some(ProcessEnding::Signalled(9)));
}

#[tokio::test(start_paused = true)]
async fn git_is_killed_when_its_time_is_over() {
    let children =
        git_that("fetch", |_| vec![Deed::IgnoreTermination, Deed::Wait(Duration::from_secs(3600))]);
    let start = Instant::now();
    let policy = GitPolicy { timeout: Duration::from_secs(7), ..GitPolicy::default() };
    let error = read(&children, policy, &large_budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    assert_eq!(start.elapsed().as_secs(), 7);
    assert_eq!(children.records().pop().unwrap().ending, Some(ProcessEnding::Signalled(9)));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_gits_error_output_is_repeated() {
    let children = git_that("fetch", |_| {
        let complaint = format!("{}fatal: it is not there\n", "warning\n".repeat(10_000));
        vec![Deed::PrintError(complaint.into()), Deed::Exit(128)]
    });
    let error = read(&children, GitPolicy::default(), &large_budget()).await.unwrap_err().to_string();
    assert!(error.starts_with("git failed to fetch the repository: "), "{error}");
    assert!(error.ends_with("\nfatal: it is not there") && error.len() < 5000, "{}", error.len());
}
