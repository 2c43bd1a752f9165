//! Fake process: what supervision sees of it.

use super::connections::Connections;
use super::deeds::perform;
use super::{Deed, FakeChild};
use crate::ProcessEnding;
use crate::child::Process;
use rustix::process::Signal;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

pub(crate) struct FakeProcess {
    child: Arc<FakeChild>,
    /// Performs its deeds. `None` once it has ended.
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

    /// Waiting gains nothing, since there is no system call to save.
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
