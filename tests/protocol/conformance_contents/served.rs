//! Tools, logs, progress, lists, resources and prompts of the fixtures.

use super::{
    Way, everything, in_every_way, metadata, pixel, text, user_and_model, with_sessions, without_sessions,
};
use crate::harness::code;
use crate::harness::http::Incoming;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::fs;

#[test]
fn tools_answer_with_the_exact_content() {
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
fn a_tool_that_fails_is_an_error_with_the_reason() {
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

/// The fixture's log. A client that asks for everything also receives the server's own messages.
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
fn logs_are_sent_in_order_and_only_to_clients_that_ask() {
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
fn lists_contain_every_fixture_with_its_metadata() {
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
            // Some clients expect an explicit empty list.
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
fn a_2020_12_schema_is_listed_completely_and_enforced() {
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
fn resources_have_their_contents_and_a_missing_one_is_an_error_with_its_uri() {
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
fn a_resource_is_announced_while_it_is_subscribed() {
    with_sessions(&user_and_model(), |client| {
        let uri = json!({ "uri": "test://watched-resource" });
        // Messages that belong to no request share the output over pipes, and have their own stream over
        // HTTP.
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
fn list_changes_are_sent_to_listeners() {
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
                // Over pipes they arrive together, and the change may arrive before the script has exited.
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
fn stateless_refusals_have_the_code_the_status_and_the_request_id() {
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
