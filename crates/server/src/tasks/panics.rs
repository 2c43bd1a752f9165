//! Panic isolation: a handler that panics costs its request, not the server.

use mcp_bash_wire::RpcError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Runs `act`; a panic becomes an error.
pub(crate) fn caught<T>(act: impl FnOnce() -> Result<T, RpcError>) -> Result<T, RpcError> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(error()))
}

/// Awaits `future`; a panic becomes an error.
pub(crate) async fn caught_while_waiting<T>(
    future: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, RpcError> {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)))
            .unwrap_or_else(|_| Poll::Ready(Err(error())))
    })
    .await
}

fn error() -> RpcError {
    RpcError::internal("Internal error: the handler of this request failed; the server goes on")
}

/// Panics if a test sets the name of this method or loop. Disabled in release builds.
pub fn on_purpose(method: &str) {
    let wanted =
        cfg!(debug_assertions) && std::env::var("MCPBASH_TEST_PANIC").is_ok_and(|wanted| wanted == method);
    assert!(!wanted, "on purpose, in {method}");
}
