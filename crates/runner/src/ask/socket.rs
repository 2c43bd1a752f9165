//! Socket questions: they arrive through the socket of a call.

use super::MAX_QUESTION_BYTES;
use crate::question::{AskedThrough, Question};
use crate::{StateDir, random};
use mcp_bash_budget::{Charge, NoRoom, SMALL};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use tokio::sync::mpsc::Sender;

/// The longest socket path that every system allows.
const MAX_SOCKET_PATH: usize = 100;

/// How many waiting connections are closed after a call has ended. If there are more, processes that belong to no call
/// keep connecting.
const MAX_REFUSED: usize = 1024;

/// A listening socket. It belongs to the folder of a call.
#[derive(Debug)]
pub(crate) struct AskSocket {
    path: PathBuf,
    listener: UnixListener,
}

impl AskSocket {
    /// Binds a socket to `path`, or to a shorter path if the system does not allow that one.
    pub(crate) fn bind(path: &Path, state_dir: &StateDir) -> io::Result<Self> {
        let (path, listener) = if path.as_os_str().len() <= MAX_SOCKET_PATH {
            (path.to_owned(), UnixListener::bind(path)?)
        } else {
            state_dir.with_restored(|| {
                let path = state_dir.short_folder()?.join(random::hex::<8>()?);
                Ok((path.clone(), UnixListener::bind(&path)?))
            })?
        };
        listener.set_nonblocking(true)?;
        Ok(Self { path, listener })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The next connection. `None` if none is waiting.
    pub(crate) fn accept(&self) -> Option<UnixStream> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return Some(stream),
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(_) => return None,
            }
        }
    }

    /// Closes the waiting connections, so that none is taken for one of the next call. False when there are too many.
    pub(crate) fn refuse_waiting(&self) -> bool {
        (0..MAX_REFUSED).any(|_| self.accept().is_none())
    }
}

impl AsRawFd for AskSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.listener.as_raw_fd()
    }
}

impl Drop for AskSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Serves one connection: passes the question on, and writes its answer. When a step fails, the connection is
/// closed.
pub(super) async fn serve_asker(stream: UnixStream, key: Arc<str>, asked: Sender<Question>, held: Charge) {
    let _ = exchange(stream, &key, asked, held).await;
}

async fn exchange(stream: UnixStream, key: &str, asked: Sender<Question>, mut held: Charge) -> Option<()> {
    stream.set_nonblocking(true).ok()?;
    let mut stream = tokio::net::UnixStream::from_std(stream).ok()?;
    let (reading, mut writing) = stream.split();
    let mut lines = BufReader::new(reading).take(MAX_QUESTION_BYTES as u64 + 64);
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).await.ok()?;
    if line.trim_ascii_end() != key.as_bytes() {
        return None;
    }
    let text = read_line(&mut lines, &mut held).await?;
    let (question, awaited) = Question::new(text, AskedThrough::Socket, Some(held));
    let mut nothing = [0];
    let (answer, _held) = tokio::select! {
        answer = async {
            asked.send(question).await.ok()?;
            awaited.await.ok()
        } => answer?,
        // An asker writes nothing more. It may shut down its writing side, and wait for the answer on the other.
        () = async {
            if matches!(lines.read(&mut nothing).await, Ok(0)) {
                closed(lines.get_ref().get_ref().as_ref()).await;
            }
        } => return None,
    };
    writing.write_all(&answer).await.ok()?;
    writing.write_all(b"\n").await.ok()?;
    writing.shutdown().await.ok()
}

/// Completes when the peer has closed both directions. The readiness of `stream` itself is left alone: its answer is
/// still to be written.
async fn closed(stream: &tokio::net::UnixStream) {
    let watched = stream.as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(watched) = watched.and_then(tokio::net::UnixStream::from_std) else { return };
    while watched.ready(Interest::WRITABLE).await.is_ok_and(|ready| !ready.is_write_closed()) {
        // It is ready again at the next event.
        let _ = watched.try_io(Interest::WRITABLE, || Err::<(), _>(ErrorKind::WouldBlock.into()));
    }
}

/// The next line, without its newline, charged as it arrives. A line for which the budget has no room is read to its
/// end too: the asker reads the answer only after it has written the whole question.
async fn read_line(
    lines: &mut (impl AsyncBufRead + Unpin),
    held: &mut Charge,
) -> Option<Result<Vec<u8>, NoRoom>> {
    let mut text = Ok(Vec::new());
    loop {
        let piece = lines.fill_buf().await.ok().filter(|piece| !piece.is_empty())?;
        let newline = memchr::memchr(b'\n', piece);
        let piece = &piece[..newline.unwrap_or(piece.len())];
        if let Ok(line) = &mut text {
            line.extend_from_slice(piece);
            let size = line.len();
            if size > SMALL
                && let Err(why) = held.grow_to(size)
            {
                text = Err(why);
                held.set(0);
            }
        }
        let count = piece.len() + usize::from(newline.is_some());
        lines.consume(count);
        if newline.is_some() {
            return Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_budget::Budget;
    use std::io::{Read, Write};
    use std::net::Shutdown;
    use tokio::sync::mpsc::{Receiver, channel};

    /// An asker that has written its question, and the questions.
    fn ask() -> (UnixStream, Receiver<Question>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"key\nquestion\n").unwrap();
        let (asked, arriving) = channel(1);
        let held = Charge::nothing(&Budget::new(1 << 20, "SETTING"));
        tokio::spawn(serve_asker(ours, "key".into(), asked, held));
        (theirs, arriving)
    }

    async fn answered(mut asker: UnixStream, mut arriving: Receiver<Question>) -> String {
        arriving.recv().await.unwrap().answer(b"answer".to_vec());
        let read = tokio::task::spawn_blocking(move || {
            let mut answer = String::new();
            asker.read_to_string(&mut answer).map(|_| answer)
        });
        read.await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn an_asker_that_has_shut_down_its_writing_side_gets_its_answer() {
        let (asker, arriving) = ask();
        asker.shutdown(Shutdown::Write).unwrap();
        assert_eq!(answered(asker, arriving).await, "answer\n");
    }

    #[tokio::test]
    async fn an_asker_withdraws_its_question_when_it_closes_its_connection() {
        for shuts_down_first in [false, true] {
            let (asker, mut arriving) = ask();
            let mut question = arriving.recv().await.unwrap();
            if shuts_down_first {
                asker.shutdown(Shutdown::Write).unwrap();
                // The task sees this event alone.
                tokio::task::yield_now().await;
            }
            drop(asker);
            question.withdrawn().await;
        }
    }
}
