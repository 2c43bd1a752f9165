//! The examples of the bash SDK work: each bash block in its page runs as the body of a tool, in a real
//! server and for a client that can be asked. A text block right after it is the expected output; without
//! one, the call must only succeed.

use super::blocks::Block;
use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// The context that the examples assume: variables that the surrounding script would have set, and programs
/// that would need the network.
const AROUND: &str = r#"
id=7 name=Ada city=Rome title='5" nails' n=3 key=k state=s answer='{}' text=short rows='{"data":[1,2,3]}'
out=$PWD/out err='disk full' status=1 file=$PWD/report.csv url=https://www.example.org/x
curl() { :; }
wget() { echo '50%' >&2; }
convert_one() { :; }
"#;

/// Runs all examples of a page. Returns their number, and the errors.
pub(crate) fn run(page: &str) -> (usize, Vec<String>) {
    let blocks = Block::all(page);
    let examples: Vec<(&Block, Option<&str>)> = blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| block.language == "bash")
        .map(|(index, block)| (block, blocks.get(index + 1).and_then(|next| shown(page, block, next))))
        .collect();
    let mut project = Project::new().file("report.csv", "a,b\n").file("one.txt", "").file("two.txt", "");
    for (block, _) in &examples {
        project = project.tool(&name(block), &script(block));
    }
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    let capabilities = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
    server.initialize_offering("2025-11-25", &capabilities);
    let mut wrong = Vec::new();
    for (block, expected) in &examples {
        let (is_error, told) = call(&mut server, &project, block);
        let is_right = expected.map_or(!is_error, |expected| expected.trim_end() == told.trim_end());
        if !is_right {
            wrong.push(format!("line {}: {}\nwas answered with: {told}", block.line, block.text));
        }
    }
    (examples.len(), wrong)
}

/// The expected output of a block: the text in the next block, if nothing is between them.
fn shown<'a>(page: &str, block: &Block, next: &Block<'a>) -> Option<&'a str> {
    let end = block.line + block.text.lines().count() + 1;
    let between = page.lines().skip(end).take(next.line.saturating_sub(end + 1));
    let is_next = next.language == "text" && between.into_iter().all(str::is_empty);
    is_next.then_some(next.text)
}

fn name(block: &Block) -> String {
    format!("line-{}", block.line)
}

fn script(block: &Block) -> String {
    if block.text.starts_with("#!") {
        return block.text.to_owned();
    }
    format!("#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\n{AROUND}\n{}", block.text)
}

/// Calls the tool of an example and answers its questions. Returns whether the answer is an error, and its
/// text.
fn call(server: &mut Server, project: &Project, block: &Block) -> (bool, String) {
    let arguments = json!({ "id": 7, "name": "Ada", "verbose": true, "limit": 5 });
    let params = json!({ "name": name(block), "arguments": arguments, "_meta": { "progressToken": 1 } });
    server.request(1, "tools/call", &params);
    loop {
        let message = server.receive();
        match (message["method"].as_str(), message.get("id")) {
            (None, _) => return shown_answer(&message),
            (Some(method), Some(_)) => server.reply(&message, &reply(method, &message["params"], project)),
            // Progress and logs.
            (Some(_), None) => {}
        }
    }
}

fn shown_answer(message: &Value) -> (bool, String) {
    if let Some(error) = message.get("error") {
        return (true, format!("error {}: {}", error["code"], error["message"].as_str().unwrap_or_default()));
    }
    let result = &message["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (result["isError"] == true, text)
}

/// The answers of a user and of a model.
fn reply(method: &str, params: &Value, project: &Project) -> Value {
    match method {
        "roots/list" => json!({ "roots": [{ "uri": format!("file://{}", project.root().display()) }] }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "short" } })
        }
        _ => {
            let fields = params["requestedSchema"]["properties"].as_object();
            let content = fields.into_iter().flatten().map(|(name, field)| (name.clone(), filled_in(field)));
            json!({ "action": "accept", "content": content.collect::<serde_json::Map<_, _>>() })
        }
    }
}

fn filled_in(field: &Value) -> Value {
    match field["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(8080),
        Some("array") => json!([]),
        _ => [&field["enum"][0], &field["oneOf"][0]["const"]]
            .into_iter()
            .find(|value| value.is_string())
            .cloned()
            .unwrap_or_else(|| json!("Ada")),
    }
}
