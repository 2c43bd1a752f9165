//! A collector of a few lines: it takes what is posted to it, and answers as the test wants.

use crate::harness::TIMEOUT;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

pub(super) struct Collector {
    pub(super) url: String,
    received: Receiver<Export>,
}

#[derive(Debug)]
pub(super) struct Export {
    pub(super) path: String,
    /// By their names in lower case.
    pub(super) headers: HashMap<String, String>,
    pub(super) body: Value,
}

pub(super) const OK: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

impl Collector {
    pub(super) fn start() -> Self {
        Self::answering(|_| OK.into())
    }

    /// Answers each export with the bytes that `answer` returns for its number.
    pub(super) fn answering(answer: impl Fn(usize) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, received) = channel();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                let Some(export) = read(&stream) else { continue };
                // Taken before it is answered, so that a test finds it whatever the answer does.
                if sender.send(export).is_err() {
                    return;
                }
                let _ = (&stream).write_all(&answer(number));
            }
        });
        Self { url, received }
    }

    /// The next export.
    pub(super) fn next(&self) -> Export {
        self.received.recv_timeout(TIMEOUT).expect("an export")
    }

    /// The next spans, as soon as there are so many. Other exports are skipped.
    pub(super) fn spans(&self, count: usize) -> Vec<Value> {
        let mut spans = Vec::new();
        while spans.len() < count {
            spans.extend(spans_of(&self.next().body));
        }
        spans
    }

    /// Every export that is left, from a server that has ended.
    pub(super) fn rest(&self) -> Vec<Export> {
        self.received.try_iter().collect()
    }
}

pub(super) fn spans_of(body: &Value) -> Vec<Value> {
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array();
    spans.cloned().unwrap_or_default()
}

fn read(stream: &TcpStream) -> Option<Export> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).expect("an export is JSON");
    Some(Export { path, headers, body })
}
