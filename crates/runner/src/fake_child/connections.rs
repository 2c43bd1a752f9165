//! Fake connections: pipes, side channel and questions between a fake process and its runner, all in memory.

use super::StartedWith;
use crate::Question;
use crate::capture::USUAL_PIPE;
use crate::child::{ByteSource, Lines, Questions};
use mcp_bash_budget::Budget;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The process's ends of its connections with the runner. They are closed when it ends.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) stdout: DuplexStream,
    pub(super) stderr: DuplexStream,
    pub(super) lines: Option<UnboundedSender<Vec<u8>>>,
    pub(super) questions: Option<UnboundedSender<Question>>,
    /// Questions and answers are charged to it.
    pub(super) budget: Arc<Budget>,
}

/// The runner's ends: standard output, standard error, side channel and questions.
pub(super) type RunnerEnds = (FakePipe, FakePipe, Option<FakeLines>, Option<FakeQuestions>);

impl Connections {
    pub(super) fn new(started_with: &StartedWith, budget: Arc<Budget>) -> (Self, RunnerEnds) {
        let (output, stdout) = duplex(USUAL_PIPE);
        let (errors, stderr) = duplex(USUAL_PIPE);
        let (lines, lines_end) = started_with.has_side_channel.then(unbounded_channel).unzip();
        let (questions, questions_end) = started_with.may_ask.then(unbounded_channel).unzip();
        let ends =
            (FakePipe(output), FakePipe(errors), lines_end.map(FakeLines), questions_end.map(FakeQuestions));
        (Self { stdout, stderr, lines, questions, budget }, ends)
    }
}

pub(crate) struct FakePipe(DuplexStream);

impl ByteSource for FakePipe {
    async fn read(&mut self, bytes: &mut Vec<u8>) -> usize {
        self.0.read_buf(bytes).await.unwrap_or(0)
    }

    fn enlarge(&mut self) -> bool {
        false
    }
}

pub(crate) struct FakeLines(UnboundedReceiver<Vec<u8>>);

impl Lines for FakeLines {
    async fn read(&mut self, on_line: &mut impl FnMut(&[u8])) -> io::Result<()> {
        let line = self.0.recv().await.ok_or(io::ErrorKind::UnexpectedEof)?;
        on_line(&line);
        Ok(())
    }

    fn drain(mut self, on_line: &mut impl FnMut(&[u8])) {
        while let Ok(line) = self.0.try_recv() {
            on_line(&line);
        }
    }
}

pub(crate) struct FakeQuestions(UnboundedReceiver<Question>);

impl Questions for FakeQuestions {
    async fn next(&mut self) -> Question {
        match self.0.recv().await {
            Some(question) => question,
            None => std::future::pending().await,
        }
    }
}
