//! Fake deeds: performs the deeds of a fake process, through its ends of pipes, side channel and questions.

use super::connections::Connections;
use super::{Deed, FakeChild};
use crate::{AskedThrough, ProcessEnding, Question};
use mcp_bash_budget::{Budget, Charge, SMALL};
use rustix::process::Signal;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc::UnboundedSender;

/// Does all deeds, unless one of them or a signal ends the process before.
pub(super) async fn perform(
    deeds: Vec<Deed>,
    child: Arc<FakeChild>,
    mut connections: Connections,
) -> ProcessEnding {
    for deed in deeds {
        let ending = tokio::select! {
            biased;
            ending = child.killed() => Some(ending),
            ending = perform_one(deed, &child, &mut connections) => ending,
        };
        if let Some(ending) = ending {
            return ending;
        }
    }
    ProcessEnding::Exited(0)
}

/// Does one deed. `Some` if it ends the process.
async fn perform_one(deed: Deed, child: &FakeChild, connections: &mut Connections) -> Option<ProcessEnding> {
    match deed {
        Deed::Print(bytes) => return print(&mut connections.stdout, &bytes).await,
        Deed::PrintError(bytes) => return print(&mut connections.stderr, &bytes).await,
        Deed::WriteLine(line) => {
            let lines = connections.lines.as_ref().expect("the invocation has a side channel");
            // There is no reader when the call is being terminated.
            let _ = lines.send(line);
        }
        Deed::Ask(text) => {
            let questions = connections.questions.as_ref().expect("the process may ask questions");
            let answer = ask(text, questions, &connections.budget).await;
            child.record().answers.push(answer);
        }
        Deed::Wait(time) => tokio::time::sleep(time).await,
        Deed::WaitFor(signal) => signal.notified().await,
        Deed::IgnoreTermination => child.ignore_termination(true),
        Deed::HonourTermination => child.ignore_termination(false),
        Deed::Exit(code) => return Some(ProcessEnding::Exited(code)),
        Deed::DieBy(signal) => return Some(ProcessEnding::Signalled(signal)),
    }
    None
}

/// Writes to a pipe, as fast as it is read. A process without a reader dies of it.
async fn print(pipe: &mut DuplexStream, bytes: &[u8]) -> Option<ProcessEnding> {
    let written = pipe.write_all(bytes).await;
    written.is_err().then(|| ProcessEnding::Signalled(Signal::PIPE.as_raw()))
}

/// The answer to a question, or `None` when there is none.
async fn ask(text: Vec<u8>, questions: &UnboundedSender<Question>, budget: &Arc<Budget>) -> Option<Vec<u8>> {
    let mut held = Charge::nothing(budget);
    let charged = if text.len() > SMALL { held.grow_to(text.len()) } else { Ok(()) };
    let (question, awaited) = Question::new(charged.map(|()| text), AskedThrough::Socket, Some(held));
    questions.send(question).ok()?;
    awaited.await.ok().map(|(answer, _held)| answer)
}
