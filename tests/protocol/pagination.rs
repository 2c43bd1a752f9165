//! Lists in pages.

use crate::harness::{Project, Server, code, wait_until};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

fn many(count: usize) -> Project {
    (0..count).fold(Project::new(), |project, number| {
        let name = format!("t{number:04}");
        project.script(&format!("tools/{name}/tool.sh"), "#!/bin/sh\n")
    })
}

fn page(server: &mut Server, params: &Value) -> (Vec<String>, Option<String>, Value) {
    let answer = server.ask("page", "tools/list", params);
    let result = &answer["result"];
    let tools = result["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let next = result["nextCursor"].as_str().map(str::to_owned);
    (names, next, result["_meta"]["mcpbash/total"].clone())
}

// Shows: pages
#[test]
fn pages_hold_every_tool_once_and_in_order() {
    let project = many(25);
    let mut server = Server::ready(project.root());
    let (mut all, mut params, mut pages) = (Vec::new(), json!({ "limit": 10 }), 0);
    loop {
        let (names, next, total) = page(&mut server, &params);
        assert_eq!(total, 25);
        all.extend(names);
        pages += 1;
        let Some(cursor) = next else { break };
        params = json!({ "limit": 10, "cursor": cursor });
    }
    assert_eq!(pages, 3);
    let expected: Vec<_> = (0..25).map(|number| format!("t{number:04}")).collect();
    assert_eq!(all, expected);
}

#[test]
fn long_lists_are_cut_by_default_and_warned_about() {
    let project = many(501);
    let mut server = Server::ready(project.root());
    let (names, next, total) = page(&mut server, &json!({}));
    assert_eq!((names.len(), total), (500, json!(501)));
    let (names, next, _) = page(&mut server, &json!({ "cursor": next.unwrap(), "limit": 100_000 }));
    assert_eq!((names.len(), next), (1, None));
    assert!(server.finish().contains("register.json"));
}

// Shows: cursors
#[test]
fn valid_cursors_continue_and_others_are_refused() {
    let project = many(3);
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    let (_, next, _) = page(&mut server, &json!({ "limit": 1 }));
    let cursor = next.unwrap();
    let payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(&cursor).unwrap()).unwrap();
    assert_eq!(
        (&payload["ver"], &payload["collection"], &payload["offset"]),
        (&json!(1), &json!("tools"), &json!(1))
    );
    assert!(payload["hash"].as_str().unwrap().len() == 64 && payload["timestamp"].is_string());

    let changed = |key: &str, value: Value| {
        let mut forged = payload.clone();
        forged[key] = value;
        URL_SAFE_NO_PAD.encode(forged.to_string())
    };
    let wrong = [
        String::new(),
        "nonsense".to_owned(),
        changed("ver", json!(2)),
        changed("collection", json!("prompts")),
        changed("offset", json!(3)),
        changed("offset", json!(-1)),
        changed("hash", json!("0")),
        changed("extra", json!(1)),
    ];
    for cursor in &wrong {
        assert_eq!(code(&server.ask(1, "tools/list", &json!({ "cursor": cursor }))), -32602, "{cursor}");
    }
    for params in
        [json!({ "cursor": 5 }), json!({ "limit": 0 }), json!({ "limit": "x" }), json!({ "limit": -1 })]
    {
        assert_eq!(code(&server.ask(2, "tools/list", &params)), -32602, "{params}");
    }
    assert_eq!(page(&mut server, &json!({ "cursor": cursor })).0, ["t0001", "t0002"]);
    let _project = project.tool("zz", "#!/bin/sh\n");
    wait_until("the cursor to be stale", || {
        server.request(3, "tools/list", &json!({ "cursor": cursor }));
        let mut answer = server.receive();
        while answer.get("id").is_none() {
            answer = server.receive();
        }
        answer.get("error").map(|error| assert_eq!(error["code"], -32602))
    });
}
