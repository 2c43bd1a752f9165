//! Stream limit: how many streams each caller has open.

use mcp_bash_server::Caller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

pub(in crate::http) struct Streams {
    /// How many one caller may have.
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

    /// One more stream of that caller, for as long as the value lives. None where it has too many.
    pub(in crate::http) fn open(self: &Arc<Self>, caller: &Arc<Caller>) -> Option<OpenStream> {
        let stream = self.enter(caller);
        // Counted before it is looked at, so that it is taken back in any case.
        let open = self.open.lock().by_caller.get(caller.name()).copied();
        open.is_some_and(|open| open <= self.most).then_some(stream)
    }

    /// One more stream of that caller, whether it has too many or not.
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
