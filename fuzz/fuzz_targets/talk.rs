//! Arbitrary bytes on the progress stream and on the ask socket of a running call: messages are complete JSON
//! with the token of the call, an asking script gets one line of JSON or a closed connection, and the next
//! one still works.
#![no_main]

#[path = "stage.rs"]
mod stage;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stage::{TIMEOUT, Stage};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Prints how to reach it, and keeps running.
const SCRIPT: &str = "#!/bin/sh\nprintf '%s\\n' \"$MCP_PROGRESS_STREAM\" \"$MCP_ASK_SOCKET\" \"$MCP_ASK_KEY\" >where.draft\nmv where.draft where\nwhile :; do sleep 1000; done\n";

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let call = call();
    match choice % 3 {
        0 => call.tell(bytes),
        1 => call.ask(format!("{}\n", call.key).as_bytes(), bytes),
        _ => call.ask(&[], bytes),
    }
});

/// A call that runs as long as this program.
struct Call {
    stage: Stage,
    channel: String,
    socket: String,
    key: String,
}

impl Call {
    /// Writes to the progress stream, and reads all resulting messages.
    fn tell(&self, bytes: &[u8]) {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let mark = format!("mark {}", LAST.fetch_add(1, Ordering::Relaxed));
        let mut channel = OpenOptions::new().append(true).open(&self.channel).unwrap();
        channel.write_all(bytes).unwrap();
        let line = format!("\n{{\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":\"{mark}\"}}}}\n");
        channel.write_all(line.as_bytes()).unwrap();
        loop {
            let message = self.stage.next_within(TIMEOUT).expect("what was written last is told");
            match message["method"].as_str() {
                Some("notifications/message") if message["params"]["data"] == *mark => return,
                Some("notifications/message") => {}
                Some("notifications/progress") => assert_eq!(message["params"]["progressToken"], "own", "{message}"),
                // The question of a script that has disconnected.
                Some("elicitation/create" | "sampling/createMessage" | "notifications/cancelled") => {}
                _ => panic!("unexpected: {message}"),
            }
        }
    }

    /// Asks, and answers the client's questions, until the script has its answer or the connection is closed.
    fn ask(&self, key: &[u8], bytes: &[u8]) {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.write_all(key).unwrap();
        // A request that is refused early is not read to its end.
        let _ = stream.write_all(bytes).and_then(|()| stream.write_all(b"\n"));
        stream.set_nonblocking(true).unwrap();
        let (start, mut answer) = (Instant::now(), Vec::new());
        loop {
            assert!(start.elapsed() < TIMEOUT, "nobody answers");
            let mut piece = [0; 4096];
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            if let Some(message) = self.stage.next_within(Duration::from_millis(1))
                && let (Some(id), Some(_)) = (message.get("id"), message.get("method"))
            {
                self.stage.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#));
            }
        }
        if !answer.is_empty() {
            assert_eq!(answer.pop(), Some(b'\n'));
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        }
    }
}

fn call() -> &'static Call {
    static CALL: OnceLock<Call> = OnceLock::new();
    CALL.get_or_init(|| {
        let tools = [("stays", r#"{"timeoutSecs": 86400}"#, SCRIPT)];
        let stage = Stage::new("talk", &tools, r#"{"elicitation":{"form":{},"url":{}},"sampling":{}}"#);
        stage.send(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stays","_meta":{"progressToken":"own"}}}"#,
        );
        let place = stage.root.join("where");
        let start = Instant::now();
        while !place.exists() {
            assert!(start.elapsed() < TIMEOUT, "the call does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let text = std::fs::read_to_string(place).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        let [channel, socket, key] = std::array::from_fn(|_| lines.next().unwrap());
        Call { stage, channel, socket, key }
    })
}
