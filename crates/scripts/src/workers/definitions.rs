//! What a worker says it serves, asked of a process that is started for nothing else.

use super::Which;
use super::fault::Why;
use super::frame::{self, Said};
use super::surrogates;
use crate::interpreters;
use crate::scripts::{Scripts, block_on};
use crate::start_failure::StartFailure;
use mcp_bash_project::{Paths, Worker, trust};
use mcp_bash_runner::WorkerEvent;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::time::timeout;

impl Scripts {
    /// The frame with which a worker of `script` says that it is ready, and what it has: `{"ready":{…}}`. Otherwise why
    /// there is none. For a thread that may block.
    pub fn definitions_of(&self, script: &Path, worker: &Worker, paths: &Paths) -> Result<String, String> {
        let which = Which { script, worker, variables: &[], paths };
        block_on(self.first_frame(which))
            .map_err(|error| format!("its worker could not be started: {error}"))?
    }

    async fn first_frame(&self, which: Which<'_>) -> Result<String, String> {
        let invocation = self.worker_invocation(which).await.map_err(|error| error.to_string())?;
        let mut process = self.runner().start_worker(invocation).map_err(|error| {
            format!("its worker could not be started: {}", StartFailure::explain(which.script, error))
        })?;
        let limit = self.settings().workers.start;
        let budget = || Arc::clone(self.budget());
        let first = async {
            loop {
                let mut frame = match process.next(&mut |_, _| {}, &budget).await {
                    WorkerEvent::Frame(frame) => frame.bytes,
                    WorkerEvent::NoMoreFrames(fault) => return Err(Why::Frames(fault).to_string()),
                    WorkerEvent::InputClosed => return Err(Why::Deaf.to_string()),
                    WorkerEvent::Exited => match process.frame_now(&budget) {
                        Some(frame) => frame.bytes,
                        None => return Err("ended before it was ready".to_owned()),
                    },
                };
                surrogates::mend(&mut frame);
                match frame::read(&frame)? {
                    Said::Ready { files } => {
                        let judged =
                            trust::judge_loaded(files.iter().map(PathBuf::as_path), &which.paths.root);
                        return Ok(match judged {
                            Ok(()) => Ok(String::from_utf8_lossy(&frame).into_owned()),
                            Err(distrust) => Err(distrust.to_string()),
                        });
                    }
                    Said::Failed { message, .. } => {
                        return Ok(Err(interpreters::explain(message, which.script, which.paths)));
                    }
                    _ => {}
                }
            }
        };
        let first = timeout(limit, first).await.unwrap_or_else(|_| Err(Why::NotReady(limit).to_string()));
        let errors = String::from_utf8_lossy(process.errors_now(&mut |_, _| {})).trim().to_owned();
        process.finish(&mut |_, _| {}).await;
        // What a worker says itself about why it cannot serve is all there is to say.
        first.unwrap_or_else(|why| {
            Err(match &*errors {
                "" => format!("its worker {why}"),
                errors => format!("its worker {why}. It wrote: {errors}"),
            })
        })
    }
}
