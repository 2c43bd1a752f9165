//! Questions of a tool elsewhere: each is put to the server on the socket of the call.

use super::streams::ToRemote;
use std::path::PathBuf;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::UnboundedSender;

/// Where questions are put, and the key of the call. `None` if this call may not ask.
#[derive(Clone)]
pub(super) struct Asking {
    socket: PathBuf,
    key: String,
}

impl Asking {
    pub(super) fn from_environment() -> Option<Self> {
        let socket = std::env::var_os("MCP_ASK_SOCKET")?.into();
        Some(Self { socket, key: std::env::var("MCP_ASK_KEY").ok()? })
    }

    /// Puts a question, and sends its answer to the asker.
    pub(super) async fn put(
        asking: Option<Self>,
        number: u64,
        question: Vec<u8>,
        remote: UnboundedSender<ToRemote>,
    ) {
        let answer = match asking {
            Some(asking) => asking.ask(&question).await,
            None => Err(std::io::Error::other("the client of this call cannot be asked")),
        };
        let answer = answer.unwrap_or_else(|error| {
            let message = error.to_string();
            serde_json::json!({ "error": { "code": -32603, "message": message } }).to_string()
        });
        let line = format!("A {number} {}\n", answer.trim_end());
        // It fails when the call has ended meanwhile.
        let _ = remote.send(ToRemote::Bytes(line.into_bytes()));
    }

    async fn ask(&self, question: &[u8]) -> std::io::Result<String> {
        let mut stream = UnixStream::connect(&self.socket).await?;
        stream.write_all(&[self.key.as_bytes(), b"\n", question, b"\n"].concat()).await?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await?;
        if answer.is_empty() { Err(std::io::Error::other("the server has hung up")) } else { Ok(answer) }
    }
}
