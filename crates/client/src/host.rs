//! Whoever uses a client: hears what a server tells, and answers what it asks.

use serde_json::{Value, json};

pub trait Host {
    /// What the server is told that this client can do: `{}`, or `elicitation`, `sampling`, `roots`.
    fn capabilities(&self) -> Value {
        json!({})
    }

    /// A notification of the server.
    fn notified(&mut self, _method: &str, _params: &Value) {}

    /// A request of the server: the result, or the words of a refusal.
    fn asked(&mut self, method: &str, _params: &Value) -> impl Future<Output = Result<Value, String>> {
        let refusal = format!("this client does not answer `{method}`");
        async { Err(refusal) }
    }
}

/// A host that listens to nothing and answers nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Host for Silent {}
