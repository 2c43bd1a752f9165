//! Host: the user of a client, which receives notifications of a server and answers its requests.

use serde_json::{Value, json};

/// The answer to a request of the server: the result, or the words of a refusal, which the server receives.
pub type HostAnswer = Result<Value, String>;

pub trait Host {
    /// The capabilities that this client declares: `{}`, or `elicitation`, `sampling`, `roots`.
    fn capabilities(&self) -> Value {
        json!({})
    }

    /// The lowest level of log messages that it wants, for servers that send none unless asked.
    fn log_level(&self) -> Option<&'static str> {
        None
    }

    /// A message, as it was sent to the server.
    fn sent(&mut self, _message: &[u8]) {}

    /// A message, as it came from the server.
    fn received(&mut self, _message: &[u8]) {}

    /// A notification of the server.
    fn notified(&mut self, _method: &str, _params: &Value) {}

    /// A request of the server.
    fn asked(&mut self, method: &str, _params: &Value) -> impl Future<Output = HostAnswer> {
        let refusal = format!("this client does not answer `{method}`");
        async { Err(refusal) }
    }
}

/// A host that ignores notifications and answers nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Host for Silent {}
