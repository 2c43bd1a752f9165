//! Arbitrary bytes as the output of a tool: its call is always answered once, with one line of JSON that is a
//! result or an error.
#![no_main]

#[path = "stage.rs"]
mod stage;

use libfuzzer_sys::fuzz_target;
use stage::Stage;
use std::fs;
use std::sync::OnceLock;

/// Prints the contents of the files, writes another one as its error, and exits with the code in the last
/// one.
const SCRIPT: &str = "#!/bin/sh\ncat out\ncat err >&2\n[ -s left ] && cat left >\"$MCP_TOOL_ERROR_FILE\"\nexit \"$(cat code)\"\n";

fuzz_target!(|bytes: &[u8]| {
    let [choice, code, bytes @ ..] = bytes else { return };
    let stage = stage();
    let (out, rest) = bytes.split_at(bytes.len() * usize::from(choice >> 2) / 64);
    let (err, left) = if choice & 2 == 0 { (rest, &[][..]) } else { (&[][..], rest) };
    for (name, text) in [("out", out), ("err", err), ("left", left)] {
        fs::write(stage.root.join(name), text).unwrap();
    }
    fs::write(stage.root.join("code"), (code % 4).to_string()).unwrap();
    let tool = if choice & 1 == 0 { "plain" } else { "promising" };
    let answer = stage.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#));
    match answer.get("error") {
        Some(error) => assert!(error["code"].is_i64() && error["message"].is_string(), "{answer}"),
        None => assert!(answer["result"]["content"].is_array(), "{answer}"),
    }
});

fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    let promising = r#"{"outputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}}"#;
    STAGE.get_or_init(|| Stage::new("output", &[("plain", "{}", SCRIPT), ("promising", promising, SCRIPT)], "{}"))
}
