//! Records messages on their way to a client, for those who debug it.

use crate::payloads::Payloads;
use crate::reply::{Reply, Stream};
use std::sync::Arc;

/// A stream or a reply whose messages are recorded.
pub(crate) struct Recorded<S: ?Sized> {
    pub(crate) payloads: Arc<Payloads>,
    pub(crate) inner: Arc<S>,
}

impl<S: ?Sized> Recorded<S> {
    fn record(&self, message: &[u8]) {
        self.payloads.record('>', message);
    }
}

impl<S: Stream + ?Sized> Stream for Recorded<S> {
    fn notify(&self, message: Vec<u8>) {
        self.record(&message);
        self.inner.notify(message);
    }

    fn ask(&self, message: Vec<u8>) {
        self.record(&message);
        self.inner.ask(message);
    }

    fn flush(&self) {
        self.inner.flush();
    }

    fn is_clogged(&self) -> bool {
        self.inner.is_clogged()
    }
}

impl<R: Reply + ?Sized> Reply for Recorded<R> {
    fn answer(&self, message: Vec<u8>) {
        self.record(&message);
        self.inner.answer(message);
    }

    fn end(&self) {
        self.inner.end();
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }
}
