//! Texts that were too long for an answer can be read at any server.

use super::Fleet;
use crate::harness::{Project, stateless_meta};
use serde_json::json;

#[test]
fn a_long_output_is_read_at_another_server() {
    let project = Project::new().tool("long", "#!/bin/sh\nseq 1 100000\n");
    let fleet = Fleet::start(&project, 2);
    let meta = stateless_meta();
    let answer = fleet.ask_with(0, "tools/call", &json!({ "name": "long", "arguments": {} }), &meta);
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let whole = &content[0]["_meta"]["mcpbash/wholeText"]["uri"];
    for server in [1, 0] {
        let read = fleet.ask_with(server, "resources/read", &json!({ "uri": whole }), &meta);
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        assert!(text.starts_with("1\n2\n") && text.trim_end().ends_with("\n100000"));
    }
}
