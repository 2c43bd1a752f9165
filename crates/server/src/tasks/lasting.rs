//! Lasting loops: background loops that the server needs as long as it runs. A loop that panics is restarted, because nothing
//! else would detect it. The panic hook of the process logs the panic.

use super::panics;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The delay before a loop is restarted after a panic.
const AFTER_PANIC: Duration = Duration::from_millis(500);

/// Runs the future that `make` returns to completion; after a panic and a delay, a new one is made. State that has to outlive a
/// panic belongs into `make`. Tests let it panic once by its `name`.
pub fn spawn_lasting<F: Future<Output = ()> + Send + 'static>(
    runtime: &Handle,
    name: &'static str,
    mut make: impl FnMut() -> F + Send + 'static,
) -> JoinHandle<()> {
    runtime.spawn(async move {
        let mut is_first = true;
        loop {
            let is_first = std::mem::take(&mut is_first);
            let future = make();
            let run = async move {
                if is_first {
                    panics::on_purpose(name);
                }
                future.await;
            };
            if ends_without_panic(run).await {
                return;
            }
            sleep(AFTER_PANIC).await;
        }
    })
}

async fn ends_without_panic(future: impl Future<Output = ()>) -> bool {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(state) => state.map(|()| true),
            Err(_) => Poll::Ready(false),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_panics_is_started_again_and_one_that_ends_is_not() {
        let begun = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&begun);
        let task = spawn_lasting(&Handle::current(), "loop", move || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            async move {
                sleep(Duration::from_secs(1)).await;
                assert!(number >= 3, "on purpose");
            }
        });
        task.await.expect("it outlasts its panics");
        assert_eq!(begun.load(Ordering::Relaxed), 4);
    }
}
