//! Malformed lines, which are not messages, and their expected answers.

use crate::random::Random;
use serde_json::{Value, json};

pub(super) enum Owed {
    Nothing,
    /// An error without an id.
    Refusal,
    /// An error with the id of the line.
    Answer,
}

/// A line, in some cases with `id`. `most` is the size limit of a message.
pub(super) fn line(random: &mut Random, id: &Value, most: usize) -> (Vec<u8>, Owed) {
    let text = |text: String| text.into_bytes();
    match random.below(22) {
        0 => (b"{".to_vec(), Owed::Refusal),
        1 => (b"nonsense".to_vec(), Owed::Refusal),
        2 => (b"{\"jsonrpc\":\"2.0\",\"id\":1,}".to_vec(), Owed::Refusal),
        3 => (b"\xff\xfe\x00".to_vec(), Owed::Refusal),
        4 => (b"5".to_vec(), Owed::Refusal),
        5 => (b"\"ping\"".to_vec(), Owed::Refusal),
        6 => (b"[]".to_vec(), Owed::Refusal),
        7 => (b"[1, 2".to_vec(), Owed::Refusal),
        8 => (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}".to_vec(), Owed::Refusal),
        9 => (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}".to_vec(), Owed::Refusal),
        10 => (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"id\":8,\"method\":\"ping\"}".to_vec(), Owed::Refusal),
        11 => (Vec::new(), Owed::Nothing),
        12 => (b"  \t\r".to_vec(), Owed::Nothing),
        13 => (b"{\"jsonrpc\":\"2.0\",\"method\":\"no/such/notification\"}".to_vec(), Owed::Nothing),
        14 => (b"{\"jsonrpc\":\"1.0\",\"method\":\"ping\"}".to_vec(), Owed::Nothing),
        15 => (b"{\"jsonrpc\":\"2.0\",\"id\":987654321,\"result\":{}}".to_vec(), Owed::Nothing),
        16 => (text(json!({ "jsonrpc": "1.0", "id": id, "method": "ping" }).to_string()), Owed::Answer),
        17 => (text(json!({ "jsonrpc": "2.0", "id": id }).to_string()), Owed::Answer),
        18 => (text(json!({ "jsonrpc": "2.0", "id": id, "method": 5 }).to_string()), Owed::Answer),
        19 => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": [1] });
            (text(message.to_string()), Owed::Answer)
        }
        20 => {
            let (open, close) = ("[".repeat(2000), "]".repeat(2000));
            let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"");
            (text(format!("{start},\"params\":{{\"a\":{open}{close}}}}}")), Owed::Answer)
        }
        _ => {
            let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"");
            let padding = "x".repeat(most + usize::try_from(random.below(1_000_000)).unwrap_or(0));
            (text(format!("{start},\"params\":{{\"a\":\"{padding}\"}}}}")), Owed::Answer)
        }
    }
}
