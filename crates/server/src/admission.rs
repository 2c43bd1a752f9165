//! How many requests are worked on side by side, and in which order the others get their turn.

use crate::call::Call;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use thiserror::Error;
use tokio::runtime::Handle;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// So little work at once is started where it arrives. One that has just been answered counts until it has let go.
const FEW: usize = 2;

/// Starts work while there are places, and keeps the rest in the order it came.
pub(crate) struct Admission {
    runtime: Handle,
    places: usize,
    most_waiting: usize,
    most_waiting_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
}

struct Waiting {
    call: Arc<Call>,
    bytes: usize,
    work: Work,
}

/// Work that was not taken, given back so that its request can be answered with the reason.
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    _work: Work,
}

/// Why no more can wait.
#[derive(Debug, Error)]
pub(crate) enum Reason {
    #[error("{0} requests are waiting already; MCPBASH_MAX_WAITING_REQUESTS sets the limit")]
    TooMany(usize),
    #[error("the waiting requests hold {0} bytes already; MCPBASH_MAX_WAITING_BYTES sets the limit")]
    TooLarge(usize),
}

impl Admission {
    pub(crate) fn new(
        runtime: Handle,
        places: usize,
        most_waiting: usize,
        most_waiting_bytes: usize,
    ) -> Self {
        Self { runtime, places, most_waiting, most_waiting_bytes, state: Mutex::default() }
    }

    /// Starts `work` now or in its turn. `bytes` is what it holds while it waits.
    pub(crate) fn admit(
        self: &Arc<Self>,
        call: &Arc<Call>,
        bytes: usize,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Refused> {
        let waiting = Waiting { call: Arc::clone(call), bytes, work: Box::pin(work) };
        let start = self.with(|state| {
            if state.running < self.places {
                state.running += 1;
                return Ok(Some((waiting.work, state.running <= FEW)));
            }
            let reason = if state.waiting.len() >= self.most_waiting {
                Some(Reason::TooMany(state.waiting.len()))
            } else if state.waiting_bytes + bytes > self.most_waiting_bytes {
                Some(Reason::TooLarge(state.waiting_bytes))
            } else {
                None
            };
            if let Some(reason) = reason {
                return Err(Refused { reason, _work: waiting.work });
            }
            state.waiting_bytes += bytes;
            state.waiting.push_back(waiting);
            Ok(None)
        })?;
        if let Some((work, is_one_of_few)) = start {
            if is_one_of_few {
                self.start_here(work);
            } else {
                self.start(work);
            }
        }
        Ok(())
    }

    /// Drops the work of a call that is still waiting.
    pub(crate) fn forget(&self, call: &Arc<Call>) {
        // Taken out under the lock and dropped outside of it, since what it holds may have a lot to say when dropped.
        let _forgotten = self.with(|state| {
            let place = state.waiting.iter().position(|waiting| Arc::ptr_eq(&waiting.call, call))?;
            let waiting = state.waiting.remove(place)?;
            state.waiting_bytes -= waiting.bytes;
            Some(waiting)
        });
    }

    fn start(self: &Arc<Self>, work: Work) {
        let place = Place(Arc::clone(self));
        self.runtime.spawn(async move {
            let _place = place;
            work.await;
        });
    }

    /// Takes the first step of the work at once, on the thread that brought it, and leaves the rest to the runtime when
    /// there is something to go on with: its process is under way before another thread would have woken up, and none
    /// is woken before it has ended. With more than a little work, the thread that reads has better things to do.
    fn start_here(self: &Arc<Self>, mut work: Work) {
        let _inside = self.runtime.enter();
        let resting = Arc::new(Resting { admission: Arc::clone(self), state: Mutex::new(Rest::Awake) });
        let waker = Waker::from(Arc::clone(&resting));
        let first_step =
            catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut Context::from_waker(&waker))));
        match first_step {
            Ok(Poll::Pending) => resting.lay_down(work),
            Ok(Poll::Ready(())) | Err(_) => drop(Place(Arc::clone(self))),
        }
    }

    fn next(&self) -> Option<Work> {
        self.with(|state| {
            let Some(waiting) = state.waiting.pop_front() else {
                state.running -= 1;
                return None;
            };
            state.waiting_bytes -= waiting.bytes;
            Some(waiting.work)
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place that passes to whoever waits next, even when the work that held it panicked.
struct Place(Arc<Admission>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(work) = self.0.next() {
            self.0.start(work);
        }
    }
}

/// Work that has taken its first step, until there is something to go on with.
struct Resting {
    admission: Arc<Admission>,
    state: Mutex<Rest>,
}

enum Rest {
    /// It is taking its first step.
    Awake,
    /// There was something to go on with before it could lie down.
    Called,
    Asleep(Work),
    Gone,
}

impl Resting {
    fn lay_down(&self, work: Work) {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, Rest::Gone) {
            Rest::Awake => *state = Rest::Asleep(work),
            Rest::Called | Rest::Asleep(_) | Rest::Gone => {
                drop(state);
                self.admission.start(work);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rest> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Resting {
    fn wake(self: Arc<Self>) {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, Rest::Gone) {
            Rest::Awake | Rest::Called => *state = Rest::Called,
            Rest::Asleep(work) => {
                drop(state);
                self.admission.start(work);
            }
            Rest::Gone => {}
        }
    }
}
