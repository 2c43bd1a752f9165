//! `mcp-bash task`: shows, cancels and retries the tasks of a project. It reads the store, and needs no server.

mod shown;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::startup;
use crate::terminal::print::{print, print_json};
use clap::{Args, Subcommand};
use mcp_bash_server::StorePlace;
use mcp_bash_tasks::operator::{self, Cancelling, Retrying};
use mcp_bash_tasks::{Filter, Status, StoreError, TaskId, TaskRecord, TaskStore};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// List the tasks of all callers, oldest first
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArguments),
    /// Show a task with its questions and its result
    #[command(after_help = SHOW_EXAMPLES)]
    Show(OneArguments),
    /// Stop a task, whichever server runs it
    #[command(after_help = CANCEL_EXAMPLES)]
    Cancel(OneArguments),
    /// Let a task that has ended run again
    #[command(after_help = RETRY_EXAMPLES)]
    Retry(OneArguments),
}

const LIST_EXAMPLES: &str = "\
Examples:
  mcp-bash task list
  mcp-bash task list --status working --caller alice
  mcp-bash task list --json | jq -r .[].taskId";

const SHOW_EXAMPLES: &str = "\
Examples:
  mcp-bash task show 0123456789abcdef0123456789abcdef
  mcp-bash task show 0123456789abcdef0123456789abcdef --json | jq .result";

const CANCEL_EXAMPLES: &str = "\
Examples:
  mcp-bash task cancel 0123456789abcdef0123456789abcdef";

const RETRY_EXAMPLES: &str = "\
Examples:
  mcp-bash task retry 0123456789abcdef0123456789abcdef

Only tasks of tools with `\"replay\": true` can be retried: the params of other calls are not kept.";

#[derive(Debug, Clone, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    place: Place,

    /// Only tasks with this status
    #[arg(long, value_name = "STATUS", value_parser = Status::ALL.map(Status::word))]
    status: Option<String>,

    /// Only tasks of this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct OneArguments {
    /// The id of the task
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    place: Place,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
#[group(skip)]
struct Place {
    /// The folder with the tasks, or the address of a database [default: `MCPBASH_STORE`, or a folder of the project]
    #[arg(long, value_name = "PLACE")]
    store: Option<PathBuf>,
}

/// Why there is nothing to show or to do.
#[derive(Debug, thiserror::Error)]
enum TaskError {
    #[error("where are the tasks? There is no home folder; give `--store DIR`, or set MCPBASH_STORE")]
    NoPlace,
    #[error("there is no task `{0}`; `mcp-bash task list` lists them")]
    Unknown(String),
    #[error("the task has ended: it is {}", .0.word())]
    HasEnded(Status),
    #[error("the task is running")]
    Runs,
    #[error(
        "the task cannot run again: its call was not kept, since its tool has no `\"replay\": true` in its metadata"
    )]
    NotKept,
}

impl TaskError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoPlace => Exit::Usage,
            Self::Unknown(_) => Exit::NotFound,
            Self::HasEnded(_) => Exit::Failed,
            Self::Runs | Self::NotKept => Exit::Refused,
        }
    }
}

impl From<TaskError> for Error {
    fn from(error: TaskError) -> Self {
        Self::of_command(error.exit(), error)
    }
}

impl Place {
    fn open(&self, common: &Common) -> Result<Arc<dyn TaskStore>, Error> {
        let named = self.store.clone().or_else(|| startup::settings().0.tasks.store);
        let place = if let Some(named) = named {
            StorePlace::named(&named)
        } else {
            let (paths, settings) = startup::project(common)?;
            match StorePlace::of(&settings.tasks, &paths.root) {
                Ok(None) => return Err(TaskError::NoPlace.into()),
                Ok(Some(place)) => Ok(place),
                Err(error) => Err(error),
            }
        };
        let named_by = if self.store.is_some() { "--store" } else { "MCPBASH_STORE" };
        place.and_then(StorePlace::tasks).map_err(|error| Error::Setting(format!("{named_by}: {error}")))
    }
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::List(arguments) => list(common, arguments)?,
        Arguments::Show(arguments) => show(common, arguments)?,
        Arguments::Cancel(arguments) => cancel(common, arguments)?,
        Arguments::Retry(arguments) => retry(common, arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(common: &Common, arguments: &ListArguments) -> Result<(), Error> {
    let store = arguments.place.open(common)?;
    let status = arguments.status.as_deref().and_then(Status::parse);
    let mut tasks = store.list(Filter { status, ..Filter::default() }, usize::MAX).map_err(failed)?;
    let now = now_ms();
    let is_wanted = |name: &str| arguments.caller.as_ref().is_none_or(|wanted| wanted == name);
    tasks.retain(|task| is_wanted(&task.owner.name) && !task.is_expired(now));
    tasks.sort_by_key(|task| task.created_ms);
    if arguments.json {
        let all: Value = tasks.iter().map(shown::facts).collect();
        return print_json(&format!("{all:#}"));
    }
    if tasks.is_empty() {
        return print("There are no tasks\n");
    }
    print(&tasks.iter().map(|task| shown::line(task, now)).collect::<String>())
}

fn show(common: &Common, arguments: &OneArguments) -> Result<(), Error> {
    let store = arguments.place.open(common)?;
    let (_, task) = find(&*store, arguments)?;
    let result = store.result(&task).map_err(failed)?.map(|members| format!("{{{members}}}"));
    if arguments.json {
        let mut facts = shown::facts(&task);
        if let Some(result) = result {
            facts["result"] = serde_json::from_str(&result).unwrap_or(Value::Null);
        }
        return print_json(&format!("{facts:#}"));
    }
    print(&shown::page(&task, result.as_deref(), now_ms()))
}

fn cancel(common: &Common, arguments: &OneArguments) -> Result<(), Error> {
    let store = arguments.place.open(common)?;
    let (id, _) = find(&*store, arguments)?;
    let words = match operator::cancel(&*store, &id, now_ms()).map_err(failed)? {
        Cancelling::Done => "The task is cancelled",
        Cancelling::Asked => "The server that runs the task stops it within a second or two",
        Cancelling::HadEnded(status) => return Err(TaskError::HasEnded(status).into()),
        Cancelling::Unknown => return Err(TaskError::Unknown(arguments.id.clone()).into()),
    };
    report(arguments, &*store, &id, words)
}

fn retry(common: &Common, arguments: &OneArguments) -> Result<(), Error> {
    let store = arguments.place.open(common)?;
    let (id, _) = find(&*store, arguments)?;
    let words = match operator::retry(&*store, &id, now_ms()).map_err(failed)? {
        Retrying::Waiting => {
            "The task waits for a server: one that is running takes it within a minute, or with the next request for it"
        }
        Retrying::Running => return Err(TaskError::Runs.into()),
        Retrying::NotKept => return Err(TaskError::NotKept.into()),
        Retrying::Unknown => return Err(TaskError::Unknown(arguments.id.clone()).into()),
    };
    report(arguments, &*store, &id, words)
}

/// The task that is named, unless it has expired.
fn find(store: &dyn TaskStore, arguments: &OneArguments) -> Result<(TaskId, TaskRecord), Error> {
    let unknown = || TaskError::Unknown(arguments.id.clone());
    let id = TaskId::parse(&arguments.id).ok_or_else(unknown)?;
    let task = store.get(&id).map_err(failed)?.filter(|task| !task.is_expired(now_ms()));
    Ok((id, task.ok_or_else(unknown)?))
}

fn report(arguments: &OneArguments, store: &dyn TaskStore, id: &TaskId, words: &str) -> Result<(), Error> {
    if !arguments.json {
        return print(&format!("{words}\n"));
    }
    let task = store.get(id).map_err(failed)?;
    let report = json!({ "task": task.as_ref().map(shown::facts), "outcome": words });
    print_json(&format!("{report:#}"))
}

fn failed(error: StoreError) -> Error {
    Error::of_command(Exit::Failed, error)
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
