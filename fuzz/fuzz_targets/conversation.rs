//! Arbitrary bytes as a client: each request gets one answer, each line out is JSON, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/server/tests/oracle/mod.rs"]
mod oracle;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let before = match choice % 4 {
        0 => oracle::Before::Nothing,
        1 => oracle::Before::Batches,
        2 => oracle::Before::Session,
        _ => oracle::Before::Shutdown,
    };
    oracle::judge(before, bytes);
});
