//! Arbitrary bytes as lines: the decoder accepts the same JSON as another parser, however the bytes arrive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_wire::{Limits, Line, Lines, Scanner, decode, refuse_oversized};

fuzz_target!(|bytes: &[u8]| {
    let mut lines = Lines::new(1000);
    for piece in bytes.chunks(7) {
        lines.room()[..piece.len()].copy_from_slice(piece);
        lines.filled(piece.len());
        while let Some(line) = lines.next_line() {
            match line {
                Line::Whole(line) => check(line),
                Line::TooLong { start } => drop(refuse_oversized(start, Limits::default())),
            }
        }
    }
    if let Some(Line::Whole(line)) = lines.last_line() {
        check(line);
    }
});

fn check(line: &[u8]) {
    let _ = decode(line, Limits::default());
    if let Ok(text) = std::str::from_utf8(line) {
        let ours = Scanner::new(text, Limits::NONE).whole_value().is_ok();
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        assert_eq!(ours, theirs, "{text:?}");
    }
}
