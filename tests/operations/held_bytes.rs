//! The memory that a client or a script can make the server hold: how much is read, started and answered for
//! a client that does not read, and when it is refused. `soak leaks` measures the actual memory.

use crate::harness::{
    Answer, Project, Reluctant, Server, code, lines, request, requests, stateless_meta, wait_until,
    wait_until_asleep,
};
use serde_json::{Value, json};
use std::collections::HashMap;

const MIB: usize = 1024 * 1024;

/// The private folder of a server that records its messages, so that a test can count answers that were not
/// read.
struct Record(Project);

impl Record {
    fn new() -> Self {
        Self(Project::new())
    }

    /// The settings of such a server.
    fn environment(&self) -> [(&str, &str); 2] {
        [("MCPBASH_DEBUG_PAYLOADS", "true"), ("TMPDIR", self.0.root().to_str().unwrap())]
    }

    /// The number of requests that the server has answered, without the handshake.
    fn answered(&self) -> usize {
        let folders = std::fs::read_dir(self.0.root()).unwrap().map(|entry| entry.unwrap().path());
        let [record] = &folders
            .map(|folder| folder.join("payloads.log"))
            .filter(|file| file.exists())
            .collect::<Vec<_>>()[..]
        else {
            panic!("no record of messages");
        };
        let text = std::fs::read_to_string(record).unwrap();
        let answers = text.lines().filter(|line| line.starts_with(r#"> {"jsonrpc":"2.0","id":"#));
        answers.filter(|line| !line.contains(r#""id":"init""#)).count()
    }
}

fn calls(count: usize, tool: &str) -> Vec<Value> {
    requests(count, "tools/call", &json!({ "name": tool, "arguments": {} }))
}

/// Every answer is a result or an error that names the setting. Returns the number of results.
fn results_among(answers: &[Answer], setting: &str) -> usize {
    let mut results = 0;
    for answer in answers {
        match answer {
            Answer::Result => results += 1,
            Answer::Error(error) => {
                assert_eq!(code(error), -32603);
                assert!(error["error"]["message"].as_str().unwrap().contains(setting), "{error}");
                assert!(error.to_string().len() < 1000, "{error}");
            }
        }
    }
    results
}

/// A project whose tool list has this many bytes.
fn with_long_list(bytes: usize) -> Project {
    let metadata = json!({ "name": "hi", "description": "d".repeat(bytes) });
    Project::with_hi().file("tools/hi/tool.meta.json", &metadata.to_string())
}

/// A project with a tool `large`, whose result has this many bytes and is passed on unchanged.
fn with_large_result(bytes: usize) -> Project {
    let project = Project::new();
    let file = project.path("result.json");
    let result = json!({ "content": [{ "type": "text", "text": "x".repeat(bytes) }] }).to_string();
    let settings = r#"{"settings": {"MCPBASH_MAX_RESULT_TEXT_BYTES": 0}}"#;
    project
        .file("result.json", &result)
        .file("server.d/server.meta.json", settings)
        .tool("large", &format!("#!/bin/sh\nexec cat {}\n", file.display()))
        .tool("hi", "#!/bin/sh\necho hi\n")
}

/// So few concurrent calls, and such a low limit of unread bytes, that excessive buffering shows.
const FEW: [(&str, &str); 2] =
    [("MCPBASH_MAX_UNREAD_BYTES", "4000000"), ("MCPBASH_MAX_CONCURRENT_REQUESTS", "4")];

const CONNECTION: &str = "MCPBASH_MAX_CONNECTION_BYTES";

#[test]
fn a_batch_of_many_lists_is_answered_within_its_share() {
    let project = with_long_list(500_000);
    let mut client = Reluctant::ready(&project, &[(CONNECTION, "100000000")], "2025-03-26", &json!({}));
    let count = 2000;
    let sender = client.send_aside(lines(&[Value::from(requests(count, "tools/list", &json!({})))]));
    let answers = client.answers(count);
    let results = results_among(&answers, CONNECTION);
    assert!((40..60).contains(&results), "{results} lists of half a megabyte in a quarter of 100 MB");
    client.take_back(sender);
}

#[test]
fn a_batch_of_very_many_messages_is_refused() {
    let project = Project::with_hi();
    let mut client = Reluctant::ready(&project, &[], "2025-03-26", &json!({}));
    let sender = client.send_aside(format!("[{}0]\n", "0,".repeat(8 * MIB)).into_bytes());
    let answer = client.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!(null)));
    client.take_back(sender);
}

#[test]
fn unread_lists_are_not_buffered_without_limit() {
    let project = with_long_list(300_000);
    let record = Record::new();
    let mut client = Reluctant::ready(&project, &record.environment(), "2025-11-25", &json!({}));
    // The server receives all of them in one read.
    let count = 200;
    let sender = client.send_aside(lines(&requests(count, "tools/list", &json!({}))));
    client.wait_until_stuck(&sender);
    let answered = record.answered();
    assert!((1..80).contains(&answered), "{answered} lists of 300 kB, where 16 MiB may wait");
    let answers = client.answers(count);
    assert_eq!(results_among(&answers, CONNECTION), count, "a client that reads late gets everything");
    client.take_back(sender);
}

#[test]
fn calls_do_not_start_while_too_many_results_are_unread() {
    let project = with_large_result(3_000_000);
    let started = project.path("started");
    let (script, file) = (started.display(), project.path("result.json"));
    let project =
        project.tool("large", &format!("#!/bin/sh\necho >>{script}\nexec cat {}\n", file.display()));
    let mut client = Reluctant::ready(&project, &FEW, "2025-11-25", &json!({}));
    let count = 60;
    let sender = client.send_aside(lines(&calls(count, "large")));
    client.wait_until_stuck(&sender);
    let started = std::fs::read(&started).unwrap().len();
    assert!((1..12).contains(&started), "{started} calls of 3 MB, where 4 MB may wait");
    let answers = client.answers(count);
    assert_eq!(results_among(&answers, CONNECTION), count, "a client that reads late gets everything");
    client.take_back(sender);
}

#[test]
fn calls_that_wait_for_a_reader_are_answered_after_the_end_of_input_too() {
    let project = with_large_result(1_000_000);
    let environment = [("MCPBASH_MAX_UNREAD_BYTES", "100000"), ("MCPBASH_MAX_CONCURRENT_REQUESTS", "2")];
    let mut client = Reluctant::ready(&project, &environment, "2025-11-25", &json!({}));
    client.send(&calls(20, "large"));
    wait_until_asleep(client.pid());
    client.close_input();
    assert_eq!(results_among(&client.answers(20), CONNECTION), 20);
    assert!(wait_until("the server to end", || client.child.try_wait().unwrap()).success());
}

#[test]
fn a_client_that_neither_sends_nor_reads_is_disconnected() {
    let project = with_large_result(1_000_000);
    let environment = [
        ("MCPBASH_IDLE_TIMEOUT", "1"),
        ("MCPBASH_MAX_UNREAD_BYTES", "100000"),
        ("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"),
    ];
    let mut client = Reluctant::ready(&project, &environment, "2025-11-25", &json!({}));
    // The pipe holds one or two of them; the rest wait for the client to read.
    client.send(&calls(6, "large"));
    assert!(wait_until("the server to end", || client.child.try_wait().unwrap()).success());
}

#[test]
fn answers_over_the_budget_become_errors_that_name_the_setting() {
    let project = with_large_result(3_000_000);
    for setting in [CONNECTION, "MCPBASH_MAX_PROCESS_BYTES"] {
        let mut client = Reluctant::ready(&project, &[(setting, "2000000")], "2025-11-25", &json!({}));
        let mut messages = calls(3, "large");
        messages.push(request(
            3,
            "tools/call",
            &json!({ "name": "hi", "arguments": { "x": "x".repeat(3_000_000) } }),
        ));
        client.send(&messages);
        let answers = client.answers(4);
        assert_eq!(results_among(&answers, setting), 0);
        client.send(&calls(1, "hi"));
        assert_eq!(results_among(&client.answers(1), setting), 1, "what is small goes on");
    }
}

#[test]
fn many_large_files_read_at_once_are_not_buffered_without_limit() {
    let project = Project::new().file("resources/large.txt", &"y".repeat(3_000_000));
    let record = Record::new();
    let environment = [FEW, record.environment()].concat();
    let mut client = Reluctant::ready(&project, &environment, "2025-11-25", &json!({}));
    let count = 20;
    let params = json!({ "uri": format!("file://{}", project.path("resources/large.txt").display()) });
    let sender = client.send_aside(lines(&requests(count, "resources/read", &params)));
    client.wait_until_stuck(&sender);
    let answered = record.answered();
    assert!((1..12).contains(&answered), "{answered} files of 3 MB, where 4 MB may wait");
    let answers = client.answers(count);
    assert_eq!(results_among(&answers, CONNECTION), count);
    client.take_back(sender);
}

#[test]
fn unread_questions_are_answered_by_the_server() {
    let project = Project::new().tool(
        "asker",
        r#"#!/bin/bash
cd "$(mktemp -d)" || exit
{ printf '{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"'
  head -c 2000000 /dev/zero | tr '\0' q
  printf '"}}]}'; } >question
for turn in 1 2 3 4; do
	"$MCPBASH_BIN" ask sampling/createMessage - --timeout 5 <question >>answers &
done
wait
grep -c -e MCPBASH_MAX_UNREAD_BYTES -e MCPBASH_MAX_CONNECTION_BYTES -e 'did not answer' answers
"#,
    );
    let environment = [(CONNECTION, "12000000"), ("MCPBASH_MAX_UNREAD_BYTES", "1000000")];
    let mut client = Reluctant::ready(&project, &environment, "2025-11-25", &json!({ "sampling": {} }));
    let count = 6;
    client.send(&calls(count, "asker"));
    wait_until_asleep(client.pid());
    // Each script has received an error for each of its questions.
    let mut open: Vec<usize> = (0..count).collect();
    while !open.is_empty() {
        let message = client.receive();
        if let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none()) {
            open.retain(|other| *other as u64 != id);
            assert_eq!(message["result"]["content"][0]["text"], "4", "{message}");
        }
    }
}

#[test]
fn a_long_id_is_refused_and_ids_count_as_unread_bytes() {
    let project = Project::new().waiting_tool("wait");
    let environment = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"), ("MCPBASH_MAX_WAITING_BYTES", "200000")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let call = |id: &str| request(id, "tools/call", &json!({ "name": "wait" })).to_string() + "\n";
    server.send_bytes(call(&"i".repeat(100_000)).as_bytes());
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!(null)));
    assert_eq!(answer["error"]["data"], "`id` is longer than 65536 bytes", "{answer}");
    server.send_bytes(call("first").as_bytes());
    project.wait_for_started(1);
    server.send_bytes(call(&"a".repeat(60_000)).as_bytes());
    server.send_bytes(call(&"b".repeat(60_000)).as_bytes());
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32603, &json!("b".repeat(60_000))));
    assert!(answer["error"]["message"].as_str().unwrap().contains("MCPBASH_MAX_WAITING_BYTES"), "{answer}");
    project.open_gate();
    for id in ["first".to_owned(), "a".repeat(60_000)] {
        assert_eq!(server.receive()["id"], json!(id));
    }
}

#[test]
fn files_of_one_result_are_bounded_together() {
    let project = Project::new().file("large.txt", &"f".repeat(9_000_000)).tool(
        "embed",
        "#!/bin/sh\nfor turn in $(seq 60); do echo large.txt; done >\"$MCP_TOOL_RESOURCES_FILE\"\necho done\n",
    );
    let mut server = Server::ready(project.root());
    server.call(1, "embed");
    let answer = loop {
        let message = server.receive();
        if message.get("id").is_some() {
            break message;
        }
        let logged = message["params"]["data"]["message"].as_str().unwrap();
        assert!(logged.contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"), "{message}");
    };
    let content = answer["result"]["content"].as_array().unwrap();
    assert_eq!(content.len(), 3, "the text, the one file that fits, and what is left out");
    let left_out: Vec<&str> = content[2]["text"].as_str().unwrap().lines().collect();
    assert_eq!((left_out.len(), left_out[10]), (11, "49 more are left out"));
}

#[test]
fn a_prompt_has_a_size_limit() {
    let many = "{{word}} ".repeat(1000);
    let files =
        json!({ "messages": vec![json!({ "role": "user", "content": { "path": "large.bin" } }); 60] });
    let project = Project::new()
        .file("prompts/many.txt", &many)
        .file("prompts/files.json", &files.to_string())
        .file("prompts/files.meta.json", r#"{"name":"files"}"#)
        .file("prompts/large.bin", &"\u{1}".repeat(9_000_000));
    let mut server = Server::ready(project.root());
    let arguments = json!({ "word": "w".repeat(1_000_000) });
    for name in ["many", "files"] {
        let answer = server.ask(name, "prompts/get", &json!({ "name": name, "arguments": arguments }));
        assert_eq!(code(&answer), -32603);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("MCPBASH_MAX_PROMPT_BYTES sets the limit"), "{message}");
    }
    let answer = server.ask("few", "prompts/get", &json!({ "name": "many", "arguments": { "word": "w" } }));
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], many.replace("{{word}}", "w"));
}

#[test]
fn client_input_is_quoted_in_part() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    let long = "x".repeat(1_000_000);
    for (method, params) in [
        ("tools/call", json!({ "name": long })),
        ("prompts/get", json!({ "name": long })),
        ("resources/read", json!({ "uri": long })),
        ("logging/setLevel", json!({ "level": long })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": long }, "argument": { "name": long, "value": "" } }),
        ),
    ] {
        let answer = server.ask(1, method, &params);
        assert!(answer.get("error").is_some() && answer.to_string().len() < 100_000, "{method}");
    }
}

#[test]
fn listeners_that_do_not_read_are_notified_once_when_they_do() {
    let project = Project::with_hi();
    let mut client = Reluctant::start(&project, &[("MCPBASH_MAX_UNREAD_BYTES", "1000000")]);
    let ids: Vec<String> = (0..200).map(|number| format!("{number}-{}", "i".repeat(20_000))).collect();
    let wanted = json!({ "_meta": stateless_meta(), "notifications": { "toolsListChanged": true } });
    let listens: Vec<Value> =
        ids.iter().map(|id| request(id.clone(), "subscriptions/listen", &wanted)).collect();
    let sender = client.send_aside(lines(&listens));
    for _ in &ids {
        assert_eq!(client.receive()["method"], "notifications/subscriptions/acknowledged");
    }
    client.take_back(sender);
    // Each change causes four megabytes of notifications.
    for turn in 0..12 {
        let script = project.path(&format!("tools/more{turn}/tool.sh"));
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::copy(project.path("tools/hi/tool.sh"), &script).unwrap();
        let registry = project.path(".registry/tools.json");
        wait_until("the change to be noticed", || {
            std::fs::read_to_string(&registry).ok()?.contains(&format!("more{turn}")).then_some(())
        });
    }
    wait_until_asleep(client.pid());
    // After the notifications from before the pipe was full, each stream is notified once more. The answer to
    // this request comes after everything that waited to be read.
    client.send(&[request("last", "tools/list", &json!({ "_meta": stateless_meta() }))]);
    let (mut told, mut is_answered): (HashMap<String, usize>, bool) = (HashMap::new(), false);
    while !is_answered || told.len() < ids.len() {
        let message = client.receive();
        if message["id"] == "last" {
            is_answered = true;
            continue;
        }
        assert_eq!(message["method"], "notifications/tools/list_changed", "{message}");
        let id = message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_str().unwrap();
        *told.entry(id.to_owned()).or_default() += 1;
    }
    assert!(
        told.values().all(|count| *count <= 3),
        "nobody is told of every change: {:?}",
        told.values().max()
    );
}

#[test]
fn a_changed_resource_is_announced_when_its_client_reads_again() {
    let mut project = with_long_list(300_000).file("resources/a.txt", "one");
    let uri = "file://./resources/a.txt";
    // Nothing is polled: the server must send the notification that it could not send before by itself.
    let environment = [("MCPBASH_MAX_UNREAD_BYTES", "100000"), ("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "0")];
    let mut client = Reluctant::ready(&project, &environment, "2025-11-25", &json!({}));
    client.send(&[request(0, "resources/subscribe", &json!({ "uri": uri }))]);
    assert_eq!(client.answers(1).len(), 1);
    let sender = client.send_aside(lines(&requests(20, "tools/list", &json!({}))));
    client.wait_until_stuck(&sender);
    for text in ["two", "three", "four"] {
        project = project.file("resources/a.txt", text);
        wait_until_asleep(client.pid());
    }
    let (mut answered, mut told) = (0, 0);
    while answered < 20 || told == 0 {
        let message = client.receive();
        answered += usize::from(message.get("result").is_some());
        told += usize::from(message["method"] == "notifications/resources/updated");
    }
    client.take_back(sender);
    client.send(&[request("last", "ping", &json!({}))]);
    assert_eq!(client.receive()["id"], "last", "nothing more is told");
    assert_eq!(told, 1, "three changes while nobody read are told as one");
}
