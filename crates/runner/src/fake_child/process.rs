//! The outer side of a pretended process: what the supervision sees of it.

use super::deeds::{Connections, perform};
use super::{Deed, FakeChild};
use crate::capture::ByteSource;
use crate::supervise::{Lines, Process, Questions};
use crate::{ProcessEnding, Question};
use rustix::process::Signal;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

pub(crate) struct FakeProcess {
    child: Arc<FakeChild>,
    /// Does its deeds. `None` once it has ended.
    running: Option<Pin<Box<dyn Future<Output = ProcessEnding> + Send>>>,
}

impl FakeProcess {
    pub(super) fn start(child: Arc<FakeChild>, deeds: Vec<Deed>, connections: Connections) -> Self {
        let running = Box::pin(perform(deeds, Arc::clone(&child), connections));
        Self { child, running: Some(running) }
    }

    fn end(&mut self, ending: ProcessEnding) {
        if self.running.take().is_some() {
            self.child.record().ending = Some(ending);
        }
    }

    fn kill(&mut self) {
        self.end(ProcessEnding::Signalled(Signal::KILL.as_raw()));
    }
}

impl Process for FakeProcess {
    async fn exited(&mut self) {
        if let Some(running) = &mut self.running {
            let ending = running.await;
            self.end(ending);
        }
    }

    async fn terminate(&mut self, grace: Duration) {
        self.child.signal(Signal::TERM);
        if timeout(grace, self.exited()).await.is_err() {
            self.kill();
        }
    }

    async fn finish(mut self) -> ProcessEnding {
        self.exited().await;
        self.child.record().ending.expect("a process that has ended")
    }

    /// Nothing is gained by waiting, since there is no system call to be saved.
    fn first_read_delay(&self) -> Duration {
        Duration::ZERO
    }

    fn upkeep(&self) -> bool {
        false
    }
}

impl Drop for FakeProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) struct FakePipe(pub(super) DuplexStream);

impl ByteSource for FakePipe {
    async fn read(&mut self, bytes: &mut Vec<u8>) -> usize {
        self.0.read_buf(bytes).await.unwrap_or(0)
    }

    fn enlarge(&mut self) -> bool {
        false
    }
}

pub(crate) struct FakeLines(pub(super) UnboundedReceiver<Vec<u8>>);

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

pub(crate) struct FakeQuestions(pub(super) UnboundedReceiver<Question>);

impl Questions for FakeQuestions {
    async fn next(&mut self) -> Question {
        match self.0.recv().await {
            Some(question) => question,
            None => std::future::pending().await,
        }
    }
}
