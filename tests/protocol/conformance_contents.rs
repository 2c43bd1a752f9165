//! What the scenarios of the official conformance suite get from its fixtures (`tests/conformance/project`), looked at
//! closely: the suite looks at shapes, these tests at contents, order and ids. It speaks HTTP only; they speak over
//! standard input and output as well, in both eras.

use crate::harness::http::{HttpServer, HttpSession, Incoming, stateless};
use crate::harness::{Project, Server, code};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What the suite's own client offers to the server.
fn everything() -> Value {
    json!({ "sampling": {}, "elicitation": {}, "roots": { "listChanged": true } })
}

/// The same for a session, where roots would be asked for at its begin.
fn user_and_model() -> Value {
    json!({ "sampling": {}, "elicitation": {} })
}

/// A client that talks to a server of the fixtures.
struct Client<'a> {
    project: &'a Project,
    way: Way<'a>,
    /// What it can do for the server, where each of its requests says so.
    offers: Option<Value>,
    last_id: i64,
}

/// How a client talks to its server.
enum Way<'a> {
    Pipes(Box<Server>),
    Session(HttpSession<'a>),
    /// Over HTTP, each request for itself.
    Posts(&'a HttpServer),
}

/// A request and what comes back for it.
struct Exchange {
    id: i64,
    /// Nothing where the answer comes with all others.
    incoming: Option<Incoming>,
}

fn fixtures() -> Project {
    Project::copy_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/project"))
}

/// Nothing but what is asked for is logged.
const QUIET: [(&str, &str); 1] = [("MCPBASH_LOG_LEVEL", "emergency")];

/// With a session of the newest revision that has some, over pipes and over HTTP.
fn with_sessions(offers: &Value, check: impl Fn(&mut Client<'_>)) {
    let project = &fixtures();
    let mut server = Server::start_with(project.root(), &QUIET);
    server.initialize_offering("2025-11-25", offers);
    check(&mut Client { project, way: Way::Pipes(Box::new(server)), offers: None, last_id: 100 });
    let project = &fixtures();
    let server = HttpServer::start_with(project.root(), &[], &QUIET);
    let session = server.session_offering("2025-11-25", offers);
    check(&mut Client { project, way: Way::Session(session), offers: None, last_id: 100 });
}

/// Without sessions, over pipes and over HTTP.
fn without_sessions(offers: &Value, check: impl Fn(&mut Client<'_>)) {
    let project = &fixtures();
    let server = Server::start_with(project.root(), &QUIET);
    let way = Way::Pipes(Box::new(server));
    check(&mut Client { project, way, offers: Some(offers.clone()), last_id: 100 });
    let project = &fixtures();
    let server = HttpServer::start_with(project.root(), &[], &QUIET);
    check(&mut Client { project, way: Way::Posts(&server), offers: Some(offers.clone()), last_id: 100 });
}

/// In both eras.
fn in_every_way(check: impl Fn(&mut Client<'_>)) {
    with_sessions(&user_and_model(), &check);
    without_sessions(&everything(), &check);
}

impl Client<'_> {
    fn has_session(&self) -> bool {
        self.offers.is_none()
    }

    /// Sends a request. One without a session says all about itself, beside what the params have in their `_meta`.
    fn send(&mut self, method: &str, mut params: Value) -> Exchange {
        self.last_id += 1;
        let id = self.last_id;
        if let Some(offers) = &self.offers {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = offers.clone();
        }
        let incoming = match &mut self.way {
            Way::Pipes(server) => {
                server.request(id, method, &params);
                None
            }
            Way::Session(session) => Some(session.request(id, method, &params).incoming()),
            Way::Posts(server) => {
                let mut http = server.connect();
                http.send(&stateless(id, method, &params));
                Some(http.incoming())
            }
        };
        Exchange { id, incoming }
    }

    /// The next message that comes back.
    fn next(&mut self, exchange: &mut Exchange) -> Value {
        match (&mut self.way, &mut exchange.incoming) {
            (Way::Pipes(server), _) => server.receive(),
            (_, incoming) => incoming.as_mut().and_then(Incoming::next).expect("a message"),
        }
    }

    /// What comes back before the answer, and the answer. Nothing follows it.
    fn finish(&mut self, mut exchange: Exchange) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.next(&mut exchange);
            if message["id"] == exchange.id && message.get("method").is_none() {
                if let Some(incoming) = &mut exchange.incoming {
                    assert_eq!(incoming.next(), None, "after the answer");
                }
                return (before, message);
            }
            before.push(message);
        }
    }

    fn exchange(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let exchange = self.send(method, params);
        self.finish(exchange)
    }

    /// The answer, before which nothing may come.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        let (before, answer) = self.exchange(method, params);
        assert!(before.is_empty(), "{method}: {before:?}");
        answer
    }

    /// The error that answers a request, and over HTTP its status.
    fn refusal(&mut self, method: &str, params: Value) -> (i64, Option<u16>) {
        let exchange = self.send(method, params);
        let status = exchange.incoming.as_ref().map(|incoming| incoming.status);
        (code(&self.finish(exchange).1), status)
    }

    /// The result, which must be a complete one.
    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        self.complete(&answer)
    }

    /// The result of an answer. It must be a complete one of the client's era.
    fn complete(&self, answer: &Value) -> Value {
        let result = &answer["result"];
        assert!(result.is_object(), "{answer}");
        let identity = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        if self.has_session() {
            assert!(result.get("resultType").is_none() && identity.is_null(), "{answer}");
        } else {
            assert_eq!(result["resultType"], "complete", "{answer}");
            assert_eq!((&identity["name"], &identity["version"]), (&json!("conformance"), &json!("1.0.0")));
        }
        result.clone()
    }

    /// The content of a tool that worked.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], false, "{result}");
        result["content"].clone()
    }

    /// Calls a tool with more members of the params than its name and arguments.
    fn call_with(&mut self, tool: &str, more: &Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": {} });
        for (name, value) in more.as_object().expect("members") {
            params[name] = value.clone();
        }
        self.answer("tools/call", params)
    }

    /// The next message, which must be a question of the server.
    fn question(&mut self, exchange: &mut Exchange, method: &str) -> Value {
        let question = self.next(exchange);
        assert_eq!(question["method"], method, "{question}");
        assert!(question["id"].is_string() || question["id"].is_i64(), "{question}");
        question
    }

    /// Answers a question of the server.
    fn reply(&mut self, question: &Value, result: &Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        match &mut self.way {
            Way::Pipes(server) => server.send(&answer),
            Way::Session(session) => assert_eq!(session.send(&answer).response().status, 202),
            Way::Posts(_) => panic!("without a session nothing is asked in this way: {question}"),
        }
    }
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn pixel(client: &Client<'_>) -> String {
    BASE64.encode(fs::read(client.project.path("resources/static-binary.png")).expect("a picture"))
}

fn metadata(client: &Client<'_>, tool: &str) -> Value {
    let text = client.project.read(&format!("tools/{tool}/tool.meta.json"));
    serde_json::from_str(&text).expect("metadata")
}

#[test]
fn tools_answer_with_the_very_content() {
    in_every_way(|client| {
        let simple = client.result("tools/call", json!({ "name": "test_simple_text" }));
        assert_eq!(simple["content"], text("This is a simple text response for testing."));
        assert_eq!(simple["isError"], false);
        let image = json!({ "type": "image", "mimeType": "image/png", "data": pixel(client) });
        assert_eq!(client.call("test_image_content", &json!({})), json!([image]));
        let resource = json!({
            "uri": "test://embedded-resource", "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        });
        let embedded = json!([{ "type": "resource", "resource": resource }]);
        assert_eq!(client.call("test_embedded_resource", &json!({})), embedded);
        let mixed = client.call("test_multiple_content_types", &json!({}));
        assert_eq!((&mixed[0], &mixed[1]), (&text("Multiple content types test:")[0], &image));
        assert_eq!(mixed[2]["resource"]["uri"], "test://mixed-content-resource");
        let data: Value = serde_json::from_str(mixed[2]["resource"]["text"].as_str().unwrap()).unwrap();
        assert_eq!((data, mixed.as_array().unwrap().len()), (json!({ "test": "data", "value": 123 }), 3));
        let audio = client.call("test_audio_content", &json!({}));
        assert_eq!((&audio[0]["type"], &audio[0]["mimeType"]), (&json!("audio"), &json!("audio/wav")));
        let sound = BASE64.decode(audio[0]["data"].as_str().unwrap()).unwrap();
        assert_eq!((&sound[..4], &sound[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    });
}

#[test]
fn a_tool_that_fails_says_why_and_is_an_error() {
    in_every_way(|client| {
        let failed = client.result("tools/call", json!({ "name": "test_error_handling", "arguments": {} }));
        assert_eq!(failed["isError"], true);
        assert_eq!(failed["content"], text("This tool intentionally returns an error for testing"));
    });
}

#[test]
fn progress_comes_in_order_with_the_clients_token_and_before_the_answer() {
    in_every_way(|client| {
        let params = json!({
            "name": "test_tool_with_progress", "arguments": {}, "_meta": { "progressToken": "progress-test-1" },
        });
        let (before, answer) = client.exchange("tools/call", params);
        assert_eq!(client.complete(&answer)["content"], text("Tool with progress executed"));
        let told: Vec<_> = before.iter().map(|told| (&told["method"], &told["params"]["progress"])).collect();
        let method = &json!("notifications/progress");
        assert_eq!(told, [(method, &json!(0)), (method, &json!(50)), (method, &json!(100))]);
        for told in &before {
            assert_eq!(told["params"]["progressToken"], "progress-test-1");
            assert_eq!(told["params"]["total"], 100);
        }
        assert_eq!(client.call("test_tool_with_progress", &json!({})), text("Tool with progress executed"));
    });
}

/// What the fixture has logged. Whoever asks for everything also hears what the server itself does.
fn logged(messages: &[Value]) -> Vec<&str> {
    for message in messages {
        assert_eq!(message["method"], "notifications/message", "{message}");
    }
    let own = messages.iter().filter(|message| message["params"]["logger"] == "test");
    own.map(|message| {
        assert_eq!(message["params"]["level"], "info", "{message}");
        message["params"]["data"].as_str().expect("a text")
    })
    .collect()
}

#[test]
fn logs_are_told_in_order_to_those_who_ask_for_them_and_to_nobody_else() {
    let told = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    let call = || json!({ "name": "test_tool_with_logging", "arguments": {} });
    with_sessions(&user_and_model(), |client| {
        assert_eq!(client.answer("logging/setLevel", json!({ "level": "debug" }))["result"], json!({}));
        let (before, answer) = client.exchange("tools/call", call());
        assert_eq!(logged(&before), told);
        assert_eq!(client.complete(&answer)["content"], text("Tool with logging executed"));
        client.answer("logging/setLevel", json!({ "level": "error" }));
        client.answer("tools/call", call());
    });
    without_sessions(&everything(), |client| {
        client.answer("tools/call", call());
        assert_eq!(client.call("test_logging_tool", &json!({})), text("Logging tool executed"));
        let mut asking = call();
        asking["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "info" });
        let (before, answer) = client.exchange("tools/call", asking);
        assert_eq!(logged(&before), told);
        client.complete(&answer);
    });
}

#[test]
fn lists_hold_every_fixture_with_what_is_said_about_it() {
    in_every_way(|client| {
        let tools = client.result("tools/list", json!({}));
        let names = |result: &Value, kind: &str, member: &str| -> Vec<String> {
            let entries = result[kind].as_array().unwrap().iter();
            entries.map(|entry| entry[member].as_str().unwrap().to_owned()).collect()
        };
        let folders = fs::read_dir(client.project.path("tools")).unwrap();
        let folders = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
        let mut folders: Vec<_> = folders.filter(|name| !name.starts_with('.')).collect();
        folders.sort();
        assert_eq!(names(&tools, "tools", "name"), folders);
        for tool in tools["tools"].as_array().unwrap() {
            let mut metadata = metadata(client, tool["name"].as_str().unwrap());
            // Some clients want to see that there are none.
            metadata["inputSchema"].as_object_mut().unwrap().entry("properties").or_insert(json!({}));
            assert_eq!(tool["inputSchema"], metadata["inputSchema"], "as it was written: {tool}");
            assert_eq!(tool["description"], metadata["description"]);
        }
        let resources = client.result("resources/list", json!({}));
        let uris = ["test://static-binary", "test://static-text", "test://watched-resource"];
        assert_eq!(names(&resources, "resources", "uri"), uris);
        let templates = client.result("resources/templates/list", json!({}));
        assert_eq!(names(&templates, "resourceTemplates", "uriTemplate"), ["test://template/{id}/data"]);
        let prompts = client.result("prompts/list", json!({}));
        assert_eq!(names(&prompts, "prompts", "name").len(), 5);
        let read = client.result("resources/read", json!({ "uri": "test://static-text" }));
        for result in [tools, resources, templates, prompts, read] {
            if client.has_session() {
                assert!(result.get("ttlMs").is_none() && result.get("cacheScope").is_none(), "{result}");
            } else {
                assert!(result["ttlMs"].is_u64(), "{result}");
                assert!(["public", "private"].contains(&result["cacheScope"].as_str().unwrap()), "{result}");
            }
        }
    });
}

#[test]
fn a_schema_of_2020_12_is_listed_whole_and_held_to() {
    in_every_way(|client| {
        let tool = "json_schema_2020_12_tool";
        let said =
            client.call(tool, &json!({ "contactMethod": "phone", "phone": "1", "address": { "city": "x" } }));
        assert!(said[0]["text"].as_str().unwrap().contains(r#""phone":"1""#), "{said}");
        let wrong = [
            json!({}),
            json!({ "contactMethod": "phone", "email": "a@b" }),
            json!({ "email": "a@b", "address": { "city": [] } }),
            json!({ "email": "a@b", "more": 1 }),
        ];
        for arguments in wrong {
            let refused = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
            assert_eq!(refused["isError"], true, "{arguments}: {refused}");
        }
    });
}

#[test]
fn resources_are_what_they_hold_and_one_that_is_not_there_is_an_error_with_its_uri() {
    in_every_way(|client| {
        let mut read = |uri: &str| {
            let result = client.result("resources/read", json!({ "uri": uri }));
            assert_eq!(result["contents"].as_array().unwrap().len(), 1, "{result}");
            assert_eq!(result["contents"][0]["uri"], uri, "{result}");
            result["contents"][0].clone()
        };
        let plain = read("test://static-text");
        assert_eq!(plain["text"], "This is the content of the static text resource.\n");
        assert_eq!(plain["mimeType"], "text/plain");
        let binary = read("test://static-binary");
        let data = read("test://template/123/data");
        let known: Value = serde_json::from_str(data["text"].as_str().unwrap()).unwrap();
        assert_eq!(known, json!({ "id": "123", "templateTest": true, "data": "Data for ID: 123" }));
        assert_eq!((&binary["blob"], &binary["mimeType"]), (&json!(pixel(client)), &json!("image/png")));
        assert!(binary.get("text").is_none(), "{binary}");
        let nowhere = "test://nonexistent-resource-for-conformance-testing";
        let missing = client.answer("resources/read", json!({ "uri": nowhere }));
        assert_eq!(code(&missing), if client.has_session() { -32002 } else { -32602 });
        assert_eq!(missing["error"]["data"]["uri"], nowhere);
    });
}

#[test]
fn a_watched_resource_is_told_of_until_nobody_watches() {
    with_sessions(&user_and_model(), |client| {
        let uri = json!({ "uri": "test://watched-resource" });
        // What belongs to no request comes with all answers over pipes, and on a stream of its own over HTTP.
        let mut stream = match &client.way {
            Way::Session(session) => Some(session.get(None).incoming()),
            _ => None,
        };
        assert_eq!(client.answer("resources/subscribe", uri.clone())["result"], json!({}));
        client
            .project
            .write("resources/watched-resource.txt", "This resource has changed in the meantime.\n");
        let updated = match (&mut client.way, &mut stream) {
            (Way::Pipes(server), _) => server.receive(),
            (_, stream) => stream.as_mut().and_then(Incoming::next).expect("a message"),
        };
        assert_eq!(
            (&updated["method"], &updated["params"]),
            (&json!("notifications/resources/updated"), &uri)
        );
        assert_eq!(client.answer("resources/unsubscribe", uri)["result"], json!({}));
        client
            .project
            .write("resources/watched-resource.txt", "This resource has changed once more, for nobody.\n");
        assert_eq!(client.answer("ping", json!({}))["result"], json!({}));
    });
}

#[test]
fn prompts_are_filled_in_and_their_arguments_completed() {
    in_every_way(|client| {
        let user = |content: Value| json!({ "role": "user", "content": content });
        let words = |words: &str| json!({ "role": "user", "content": { "type": "text", "text": words } });
        let mut get = |params: Value| client.result("prompts/get", params)["messages"].clone();
        let simple = get(json!({ "name": "test_simple_prompt" }));
        assert_eq!(simple, json!([words("This is a simple prompt for testing.")]));
        let arguments = json!({ "arg1": "hello", "arg2": "world" });
        let filled = get(json!({ "name": "test_prompt_with_arguments", "arguments": arguments }));
        assert_eq!(filled, json!([words("Prompt with arguments: arg1='hello', arg2='world'")]));
        let arguments = json!({ "resourceUri": "test://example-resource" });
        let embedded = get(json!({ "name": "test_prompt_with_embedded_resource", "arguments": arguments }));
        let resource = json!({
            "uri": "test://example-resource", "mimeType": "text/plain",
            "text": "Embedded resource content for testing.",
        });
        let resource = user(json!({ "type": "resource", "resource": resource }));
        assert_eq!(embedded, json!([resource, words("Please process the embedded resource above.")]));
        let pictured = get(json!({ "name": "test_prompt_with_image" }));
        let image = user(json!({ "type": "image", "mimeType": "image/png", "data": pixel(client) }));
        assert_eq!(pictured, json!([image, words("Please analyze the image above.")]));
        let mut complete = |argument: Value| {
            let reference = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
            let params = json!({ "ref": reference, "argument": argument });
            client.result("completion/complete", params)["completion"]["values"].clone()
        };
        assert_eq!(complete(json!({ "name": "arg1", "value": "par" })), json!(["paris", "park", "party"]));
        assert_eq!(complete(json!({ "name": "arg2", "value": "par" })), json!([]));
    });
}

#[test]
fn a_session_is_asked_for_its_user_and_its_model() {
    with_sessions(&user_and_model(), |client| {
        let call = json!({ "name": "test_sampling", "arguments": { "prompt": "Say \"x\"" } });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "sampling/createMessage");
        let message = json!({ "role": "user", "content": { "type": "text", "text": "Say \"x\"" } });
        assert_eq!(question["params"]["messages"], json!([message]));
        assert_eq!(question["params"]["maxTokens"], 100);
        client.reply(&question, &sampled("x"));
        let (before, answer) = client.finish(exchange);
        assert_eq!((before.len(), &client.complete(&answer)["content"]), (0, &text("LLM response: x")));

        let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "elicitation/create");
        assert_eq!(question["params"]["message"], "Who?");
        let schema = &question["params"]["requestedSchema"];
        assert_eq!(schema["required"], json!(["username", "email"]));
        let email = json!({ "type": "string", "description": "User's email address" });
        assert_eq!(schema["properties"]["email"], email);
        client.reply(&question, &accept(&json!({ "username": "testuser", "email": "test@example.com" })));
        let (before, answer) = client.finish(exchange);
        let said =
            r#"User response: action: accept, content: {"username":"testuser","email":"test@example.com"}"#;
        assert_eq!((before.len(), &client.complete(&answer)["content"]), (0, &text(said)));
    });
}

#[test]
fn forms_reach_the_user_as_they_were_written() {
    with_sessions(&user_and_model(), |client| {
        let call = json!({ "name": "test_elicitation_sep1034_defaults", "arguments": {} });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "elicitation/create");
        let fields = &question["params"]["requestedSchema"]["properties"];
        let defaults = [
            ("name", "string", json!("John Doe")),
            ("age", "integer", json!(30)),
            ("score", "number", json!(95.5)),
            ("status", "string", json!("active")),
            ("verified", "boolean", json!(true)),
        ];
        for (field, kind, default) in defaults {
            assert_eq!(
                (&fields[field]["type"], &fields[field]["default"]),
                (&json!(kind), &default),
                "{field}"
            );
        }
        client.reply(&question, &accept(&json!({ "age": 25, "score": 88.5 })));
        let said = "Elicitation completed: action=accept, content={\"age\": 25, \"score\": 88.5}";
        assert_eq!(client.finish(exchange).1["result"]["content"], text(said));

        let call = json!({ "name": "test_elicitation_sep1330_enums", "arguments": {} });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "elicitation/create");
        let fields = &question["params"]["requestedSchema"]["properties"];
        let options = json!(["option1", "option2", "option3"]);
        assert_eq!(fields["untitledSingle"]["enum"], options);
        assert_eq!(fields["titledSingle"]["oneOf"][0], json!({ "const": "value1", "title": "First Option" }));
        assert_eq!(fields["legacyEnum"]["enumNames"], json!(["Option One", "Option Two", "Option Three"]));
        assert_eq!(fields["untitledMulti"]["items"], json!({ "type": "string", "enum": options }));
        let third = json!({ "const": "value3", "title": "Third Choice" });
        assert_eq!(fields["titledMulti"]["items"]["anyOf"][2], third);
        client.reply(&question, &json!({ "action": "decline" }));
        let said = client.finish(exchange).1;
        assert_eq!(
            said["result"]["content"],
            text("Elicitation completed: action=decline, content=undefined")
        );
    });
}

#[test]
fn changes_of_the_lists_are_told_to_those_who_listen_for_them() {
    without_sessions(&everything(), |client| {
        let subscription =
            |told: &Value| told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
        let mut listen = |kind: &str| {
            let mut exchange =
                client.send("subscriptions/listen", json!({ "notifications": { kind: true } }));
            let acknowledged = client.next(&mut exchange);
            assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
            assert_eq!(subscription(&acknowledged), exchange.id);
            exchange
        };
        let (mut tools, mut prompts) = (listen("toolsListChanged"), listen("promptsListChanged"));
        for said in ["added", "removed"] {
            for (kind, listener) in [("tool", &mut tools), ("prompt", &mut prompts)] {
                let trigger = format!("test_trigger_{kind}_change");
                let mut exchange = client.send("tools/call", json!({ "name": trigger, "arguments": {} }));
                // Over pipes they come together, and the change may be seen before the script has ended.
                let mut told = [client.next(listener), client.next(&mut exchange)];
                told.sort_by_key(|message| message.get("id").is_some());
                let method = json!(format!("notifications/{kind}s/list_changed"));
                assert_eq!(
                    (&told[0]["method"], subscription(&told[0])),
                    (&method, json!(listener.id)),
                    "{told:?}"
                );
                let content = &told[1]["result"]["content"][0]["text"];
                assert!(content.as_str().unwrap().ends_with(said), "{told:?}");
            }
        }
    });
}

// Shows: http-statuses
#[test]
fn what_the_stateless_era_refuses_has_its_code_its_status_and_the_id_of_its_request() {
    without_sessions(&json!({}), |client| {
        let status = |status: u16| matches!(client.way, Way::Posts(_)).then_some(status);
        let (not_found, in_band) = ((-32601, status(404)), (-32602, status(200)));
        let lacking = (-32021, status(400));
        for method in
            ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
        {
            assert_eq!(client.refusal(method, json!({})), not_found, "{method}");
        }
        assert_eq!(client.refusal("unknown/method", json!({})), not_found);
        assert_eq!(client.refusal("tools/call", json!({ "name": "no_such_tool" })), in_band);
        assert_eq!(client.refusal("prompts/get", json!({ "name": "no_such_prompt" })), in_band);
        assert_eq!(client.refusal("tools/call", json!({ "name": "test_missing_capability" })), lacking);
    });
}

#[test]
fn a_tool_that_needs_what_a_client_lacks_is_not_started() {
    without_sessions(&json!({}), |client| {
        let refused = client.call_with("test_missing_capability", &json!({}));
        assert_eq!(code(&refused), -32021);
        assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
    });
    without_sessions(&json!({ "sampling": {} }), |client| {
        let asked = client.call_with("test_missing_capability", &json!({}));
        assert_eq!(only_question(&asked).1["method"], "sampling/createMessage");
    });
}

/// The questions of an answer, by their names, and the state that goes with them.
fn asked(answer: &Value) -> (serde_json::Map<String, Value>, Value) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    assert!(result["requestState"].as_str().is_some_and(|state| !state.is_empty()), "{answer}");
    (result["inputRequests"].as_object().expect("questions").clone(), result["requestState"].clone())
}

/// The name of the only question, the question, and the state.
fn only_question(answer: &Value) -> (String, Value, Value) {
    let (questions, state) = asked(answer);
    assert_eq!(questions.len(), 1, "{answer}");
    let (name, question) = questions.into_iter().next().expect("a question");
    (name, question, state)
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn sampled(text: &str) -> Value {
    json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "test-model" })
}

/// What a retry has beside the call.
fn responses(name: &str, response: &Value, state: &Value) -> Value {
    json!({ "inputResponses": { name: response }, "requestState": state })
}

#[test]
fn a_question_is_asked_by_its_name_and_its_answer_completes_the_call() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_elicitation";
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!((&*name, &question["method"]), ("user_name", &json!("elicitation/create")));
        assert_eq!(question["params"]["message"], "What is your name?");
        assert_eq!(question["params"]["requestedSchema"]["required"], json!(["name"]));
        let done = client.call_with(tool, &responses(&name, &accept(&json!({ "name": "Alice" })), &state));
        assert_eq!(client.complete(&done)["content"], text("Hello, Alice!"));

        let tool = "test_input_required_result_sampling";
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!((&*name, &question["method"]), ("capital_question", &json!("sampling/createMessage")));
        assert_eq!(question["params"]["messages"][0]["content"]["text"], "What is the capital of France?");
        assert_eq!(question["params"]["maxTokens"], 100);
        let done = client.call_with(tool, &responses(&name, &sampled("Paris"), &state));
        assert_eq!(client.complete(&done)["content"], text("Paris"));

        let tool = "test_input_required_result_list_roots";
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!((&*name, &question["method"]), ("client_roots", &json!("roots/list")));
        let root = format!("file://{}", client.project.root().canonicalize().unwrap().display());
        let roots = json!({ "roots": [{ "uri": root, "name": "Test Root" }] });
        let done = client.call_with(tool, &responses(&name, &roots, &state));
        assert_eq!(client.complete(&done)["content"], text(&format!("Roots: {root}")));
    });
}

#[test]
fn several_questions_are_asked_in_one_answer() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_multiple_inputs";
        let (questions, state) = asked(&client.call_with(tool, &json!({})));
        let methods: BTreeMap<_, _> =
            questions.iter().map(|(name, asked)| (&**name, asked["method"].as_str())).collect();
        let expected = [
            ("user_name", Some("elicitation/create")),
            ("greeting", Some("sampling/createMessage")),
            ("client_roots", Some("roots/list")),
        ];
        assert_eq!(methods, BTreeMap::from(expected));
        let answers = json!({
            "user_name": accept(&json!({ "name": "Alice" })),
            "greeting": sampled("Hello there!"),
            "client_roots": { "roots": [] },
        });
        let done = client.call_with(tool, &json!({ "inputResponses": answers, "requestState": state }));
        let said = client.complete(&done)["content"][0]["text"].clone();
        assert!(said.as_str().unwrap().starts_with("Hello there! Alice, of the roots ["), "{said}");
    });
}

#[test]
fn each_round_has_a_state_of_its_own_and_an_old_one_is_worth_nothing() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_multi_round";
        let (first, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!(
            (&*first, &question["params"]["message"]),
            ("step1", &json!("Step 1: What is your name?"))
        );
        let named = responses(&first, &accept(&json!({ "name": "Alice" })), &state);
        let (second, question, next_state) = only_question(&client.call_with(tool, &named));
        assert_eq!(
            (&*second, &question["params"]["requestedSchema"]["required"]),
            ("step2", &json!(["color"]))
        );
        assert_ne!(state, next_state);
        assert!(client.call_with(tool, &named)["error"].is_object(), "a state is good once");
        let colored = responses(&second, &accept(&json!({ "color": "blue" })), &next_state);
        let done = client.call_with(tool, &colored);
        assert_eq!(client.complete(&done)["content"], text("Alice likes blue"));
    });
}

#[test]
fn the_state_leads_back_and_a_changed_one_is_refused() {
    without_sessions(&everything(), |client| {
        for tool in ["test_input_required_result_request_state", "test_input_required_result_tampered_state"]
        {
            let (name, _, state) = only_question(&client.call_with(tool, &json!({})));
            let changed = json!(format!("{}-TAMPERED", state.as_str().unwrap()));
            let refused =
                client.call_with(tool, &responses(&name, &accept(&json!({ "ok": true })), &changed));
            assert_eq!(code(&refused), -32602, "{tool}");
            let done = client.call_with(tool, &responses(&name, &accept(&json!({ "ok": true })), &state));
            let said = client.complete(&done)["content"][0]["text"].clone();
            assert!(
                ["state-ok: confirmed is true", "Confirmed: true"].contains(&said.as_str().unwrap()),
                "{said}"
            );
        }
    });
}

#[test]
fn answers_without_a_state_are_taken_by_their_names_and_looked_at() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_elicitation";
        let wrong = client
            .call_with(tool, &json!({ "inputResponses": { "wrong_key": accept(&json!({ "data": 1 })) } }));
        assert_eq!(only_question(&wrong).0, "user_name");
        let more = json!({
            "user_name": accept(&json!({ "name": "Alice" })),
            "unknown_extra_key": accept(&json!({ "foo": "bar" })),
            "another_unexpected": accept(&json!({ "baz": 123 })),
        });
        let done = client.call_with(tool, &json!({ "inputResponses": more }));
        assert_eq!(client.complete(&done)["content"], text("Hello, Alice!"));
        for broken in [json!({ "user_name": 12345 }), Value::Null] {
            let answer = client.call_with(tool, &json!({ "inputResponses": broken }));
            assert_ne!(answer["result"]["resultType"], "complete", "{broken}: {answer}");
        }
    });
}

#[test]
fn a_client_is_asked_only_what_it_offers() {
    let tool = "test_input_required_result_capabilities";
    without_sessions(&json!({ "sampling": {} }), |client| {
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!(question["method"], "sampling/createMessage");
        let done = client.call_with(tool, &responses(&name, &sampled("Bob"), &state));
        assert_eq!(client.complete(&done)["content"], text("The model says Bob"));
    });
    without_sessions(&json!({ "elicitation": {} }), |client| {
        let (_, question, _) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!(question["method"], "elicitation/create");
    });
}

#[test]
fn a_prompt_asks_as_a_tool_does() {
    without_sessions(&everything(), |client| {
        let prompt = json!({ "name": "test_input_required_result_prompt" });
        let (name, question, state) = only_question(&client.answer("prompts/get", prompt.clone()));
        assert_eq!(
            (&*name, &question["params"]["message"]),
            ("user_context", &json!("What context should the prompt use?"))
        );
        let mut retry = prompt;
        retry["inputResponses"] = json!({ name: accept(&json!({ "context": "test context" })) });
        retry["requestState"] = state;
        let done = client.result("prompts/get", retry);
        let content = json!({ "type": "text", "text": "Use this context: test context" });
        assert_eq!(done["messages"], json!([{ "role": "user", "content": content }]));
    });
}

#[test]
fn lists_ask_nothing_and_a_tool_that_asks_sends_no_request() {
    without_sessions(&everything(), |client| {
        for method in ["tools/list", "prompts/list"] {
            client.result(method, json!({}));
        }
        let (before, answer) = client.exchange(
            "tools/call",
            json!({ "name": "test_streaming_elicitation", "arguments": {}, "_meta": { "progressToken": 7 } }),
        );
        assert_eq!(before.len(), 1, "{before:?}");
        assert_eq!(before[0]["method"], "notifications/progress");
        let (name, _, state) = only_question(&answer);
        let retry = responses(&name, &accept(&json!({ "confirmed": true })), &state);
        let done = client.call_with("test_streaming_elicitation", &retry);
        assert_eq!(client.complete(&done)["content"], text("Confirmed: true"));
    });
}
