//! Stream limit: counts the open streams of each caller.

use mcp_bash_server::Caller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

pub(in crate::http) struct Streams {
    /// Limit for each caller.
    most: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_caller: HashMap<Box<str>, usize>,
}

impl Streams {
    pub(in crate::http) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Opens a stream, counted until the returned value is dropped. `None` if the caller has too many.
    pub(in crate::http) fn open(self: &Arc<Self>, caller: &Arc<Caller>) -> Option<OpenStream> {
        let stream = self.enter(caller);
        // Counted before the check; dropping `stream` takes it back.
        let open = self.open.lock().by_caller.get(caller.name()).copied();
        open.is_some_and(|open| open <= self.most).then_some(stream)
    }

    /// Opens a stream regardless of the limit.
    pub(in crate::http) fn enter(self: &Arc<Self>, caller: &Arc<Caller>) -> OpenStream {
        let mut open = self.open.lock();
        open.all += 1;
        *open.by_caller.entry(caller.name().into()).or_default() += 1;
        drop(open);
        OpenStream { streams: Arc::clone(self), caller: Arc::clone(caller) }
    }

    pub(in crate::http) fn count(&self) -> usize {
        self.open.lock().all
    }
}

pub(in crate::http) struct OpenStream {
    streams: Arc<Streams>,
    caller: Arc<Caller>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock();
        open.all -= 1;
        if let Some(of_caller) = open.by_caller.get_mut(self.caller.name()) {
            *of_caller -= 1;
            if *of_caller == 0 {
                open.by_caller.remove(self.caller.name());
            }
        }
    }
}
