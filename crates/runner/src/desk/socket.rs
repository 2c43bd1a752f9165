//! Questions that arrive through the socket.

use super::{Desk, LONGEST, Question, Way};
use std::io;
use std::sync::{Arc, Weak};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

/// How many may be at the desk at once. Others wait in the queue of the socket.
const MOST: usize = 256;

pub(super) fn listen(desk: &Arc<Desk>) -> io::Result<()> {
    let listener = UnixListener::bind(&desk.socket)?;
    let desk = Arc::downgrade(desk);
    tokio::spawn(async move {
        let room = Arc::new(Semaphore::new(MOST));
        while let (Ok(place), Ok((stream, _))) =
            (Arc::clone(&room).acquire_owned().await, listener.accept().await)
        {
            let desk = Weak::clone(&desk);
            tokio::spawn(async move {
                // Whatever goes wrong on the way, the asker sees that the line is dead.
                let _ = attend(&desk, stream).await;
                drop(place);
            });
        }
    });
    Ok(())
}

async fn attend(desk: &Weak<Desk>, mut stream: UnixStream) -> Option<()> {
    let (reading, mut writing) = stream.split();
    let mut lines = BufReader::new(reading).take(LONGEST as u64 + 64);
    let mut key = String::new();
    lines.read_line(&mut key).await.ok()?;
    let mut text = Vec::new();
    lines.read_until(b'\n', &mut text).await.ok()?;
    if text.pop() != Some(b'\n') {
        return None;
    }
    let asking = desk.upgrade()?.find(key.trim_end())?;
    let (question, awaited) = Question::new(text, Way::Socket);
    asking.questions.send(question).ok()?;
    drop(asking);
    let mut nothing = [0];
    let answer = tokio::select! {
        answer = awaited => answer.ok()?,
        // Nothing more is to come from an asker but its end.
        _ = lines.read(&mut nothing) => return None,
    };
    writing.write_all(&answer).await.ok()?;
    writing.write_all(b"\n").await.ok()?;
    writing.shutdown().await.ok()
}
