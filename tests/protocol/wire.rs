//! JSON-RPC in detail: which messages are answered, with which code, and with which id.

use crate::harness::{Project, Server, code};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;

fn server() -> (Project, Server) {
    let project = Project::with_hi();
    let server = Server::ready(project.root());
    (project, server)
}

#[test]
fn blanks_byte_order_marks_and_carriage_returns_are_tolerated() {
    let (_project, mut server) = server();
    server.send_bytes(b"\n\r\n   \t\n\xEF\xBB\xBF\n");
    server.send_bytes(b"\xEF\xBB\xBF  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} \t\r\n");
    assert_eq!(server.receive(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    server.expect_silence();
}

// Shows: parse-error
#[test]
fn invalid_json_is_a_parse_error_without_an_id() {
    let (_project, mut server) = server();
    let lines: [&[u8]; 8] =
        [b"{", b"hello", b"{\"id\":1,}", b"[1,2", b"\xff\xfe\x00", b"{\"a\":\"\x01\"}", b"{} {}", b"'x'"];
    for line in lines {
        server.send_bytes(line);
        server.send_bytes(b"\n");
        let answer = server.receive();
        assert_eq!((code(&answer), &answer["id"]), (-32700, &json!(null)), "{line:?}: {answer}");
    }
    server.expect_silence();
}

// Shows: id-types, invalid-request
#[test]
fn an_invalid_request_keeps_its_readable_id() {
    let (_project, mut server) = server();
    let cases = [
        ("5", json!(null)),
        ("\"ping\"", json!(null)),
        ("null", json!(null)),
        ("{}", json!(null)),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":["ping"]}"#, json!(7)),
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
        (r#"{"id":"x","method":"ping"}"#, json!("x")),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"p"}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, json!(null)),
    ];
    for (line, id) in cases {
        server.send_line(line);
        let answer = server.receive();
        assert_eq!((code(&answer), &answer["id"]), (-32600, &id), "{line}: {answer}");
    }
    server.expect_silence();
}

// Shows: id-echoed
#[test]
fn ids_come_back_as_they_were_written() {
    let (_project, mut server) = server();
    for id in [
        "0",
        "-7",
        "9007199254740993",
        "123456789012345678901234567890",
        r#""""#,
        r#""7""#,
        r#""\u0041\n""#,
        r#""é""#,
    ] {
        server.send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
        assert_eq!(server.receive_line(), format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"));
    }
}

// Shows: unknown-method, tools-unknown
#[test]
fn unknown_methods_and_bad_params_have_their_codes() {
    let (_project, mut server) = server();
    assert_eq!(code(&server.ask(1, "no/such", &json!({}))), -32601);
    assert_eq!(code(&server.ask(2, "PING", &json!({}))), -32601);
    server.send_line(r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}"#);
    assert_eq!(code(&server.receive()), -32602);
    server.send_line(r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":5}}"#);
    assert_eq!(code(&server.receive()), -32602);
    for params in
        [json!({}), json!({ "name": 5 }), json!({ "name": "hi", "arguments": [] }), json!({ "name": "nope" })]
    {
        assert_eq!(code(&server.ask(5, "tools/call", &params)), -32602, "{params}");
    }
    server.send_line(r#"{"jsonrpc":"2.0","id":6,"method":"tools/call"}"#);
    assert_eq!(code(&server.receive()), -32602);
    let timeouts = [json!(0), json!(-1), json!("5"), json!(1.5)];
    for timeout in timeouts {
        let answer = server.ask(7, "tools/call", &json!({ "name": "hi", "timeoutSecs": timeout }));
        assert_eq!(code(&answer), -32602, "{timeout}");
    }
    assert_eq!(code(&server.ask(8, "tools/list", &json!({ "cursor": "made-up" }))), -32602);
}

#[test]
fn requests_without_params_and_with_null_params_are_served() {
    let (_project, mut server) = server();
    server.send_line(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(server.receive()["result"]["tools"][0]["name"], "hi");
    server.send_line(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":null}"#);
    assert_eq!(server.receive()["result"]["tools"][0]["name"], "hi");
}

// Shows: notifications-unanswered
#[test]
fn notifications_and_unasked_answers_are_never_answered() {
    let (_project, mut server) = server();
    for line in [
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}"#,
        r#"{"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"?"}}"#,
        r#"{"id":{"odd":1},"result":5}"#,
    ] {
        server.send_line(line);
    }
    server.expect_silence();
}

#[test]
fn a_tool_gets_its_arguments_byte_for_byte() {
    let project = Project::new().tool("echo", "#!/bin/sh\ncat\n");
    let mut server = Server::ready(project.root());
    let arguments = r#"{"z": 1.10, "a":123456789012345678901234567890, "s":"\u00e9 \"$(id)\" `id`"}"#;
    server.send_bytes(
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#)
            .as_bytes(),
    );
    server.send_bytes(b"\n");
    assert_eq!(server.receive()["result"]["content"][0]["text"], arguments);
}

#[test]
fn a_last_line_without_its_newline_is_answered() {
    let (_project, mut server) = server();
    server.send_bytes(br#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#);
    server.close_input();
    assert_eq!(server.rest(), [json!({ "jsonrpc": "2.0", "id": "last", "result": {} })]);
    assert!(server.wait().success());
}

#[test]
fn a_message_may_arrive_in_pieces_and_many_at_once() {
    let (_project, mut server) = server();
    for byte in b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n" {
        server.send_bytes(&[*byte]);
    }
    assert_eq!(server.receive()["id"], 1);
    let mut burst = String::new();
    for id in 0..5000 {
        writeln!(burst, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}").unwrap();
    }
    // Sent from another thread: the answers may fill the pipe before the last request is written.
    let mut input = server.take_input();
    let sender = std::thread::spawn(move || {
        input.write_all(burst.as_bytes()).expect("the server reads");
        input
    });
    for id in 0..5000 {
        assert_eq!(server.receive_line(), format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"));
    }
    drop(sender.join());
    assert!(server.wait().success());
}

#[test]
fn a_refusal_has_the_short_message_that_clients_compare_and_its_reason_beside_it() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    let refused = |server: &mut Server, line: &str| {
        server.send_line(line);
        let answer = server.receive();
        let text = |member: &str| answer["error"][member].as_str().unwrap_or_default().to_owned();
        (code(&answer), text("message"), text("data"))
    };

    let (code, message, reason) = refused(&mut server, "not-json");
    assert_eq!((code, &*message), (-32700, "Parse error"));
    assert!(!reason.is_empty(), "{reason}");
    let (code, message, reason) = refused(&mut server, r#"{"jsonrpc":"2.0","id":1,"params":{}}"#);
    assert_eq!((code, &*message, &*reason), (-32600, "Invalid Request", "Missing method"));
    let (code, message, reason) = refused(&mut server, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!((code, &*message), (-32000, "Server not initialized"));
    assert_eq!(reason, "send `initialize` first");

    server.initialize("2025-11-25");
    server.notify("notifications/initialized", &json!({}));
    let again = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let (code, message, _) = refused(&mut server, again);
    assert_eq!((code, &*message), (-32600, "Server already initialized"));
    let (code, message, reason) = refused(&mut server, r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
    assert_eq!((code, &*message), (-32600, "Invalid Request"));
    assert!(reason.contains("Batch arrays") && reason.contains("MCPBASH_COMPAT_BATCHES"), "{reason}");
    let loud = r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"LOUD"}}"#;
    let (code, message, reason) = refused(&mut server, loud);
    assert_eq!((code, &*message), (-32602, "Invalid log level"));
    assert!(reason.contains("LOUD") && reason.contains("warning"), "{reason}");
    let (code, message, reason) = refused(&mut server, r#"{"jsonrpc":"2.0","id":1,"method":"exit"}"#);
    assert_eq!((code, &*message), (-32005, "Shutdown not requested"));
    assert!(reason.contains("`shutdown`"), "{reason}");
}

#[test]
fn a_reason_quotes_a_very_long_value_in_part_only() {
    let (_project, mut server) = server();
    let level = "x".repeat(300_000);
    let answer = server.ask(1, "logging/setLevel", &json!({ "level": level }));
    assert_eq!((code(&answer), &answer["error"]["message"]), (-32602, &json!("Invalid log level")));
    assert!(answer["error"]["data"].as_str().unwrap().len() < 70_000, "the reason is cut");
}
