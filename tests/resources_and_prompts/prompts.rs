//! Prompts: discovered, listed, filled in, and announced when they change.

use crate::harness::{ONE_AT_A_TIME, Project, Server, code, stateless_meta, wait_until, wait_until_gone};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// The smallest valid image.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn greeting() -> Project {
    Project::new().file("prompts/greeting.txt", "Hello, ${name}! You are {{mood}}.\n\n").file(
        "prompts/greeting.meta.json",
        r#"{"name": "prompt.greeting", "title": "Greet", "description": "A greeting", "path": "greeting.txt",
            "arguments": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "title": "Name", "description": "Whom to greet"},
                "mood": {"type": "string", "default": "welcome"}}},
            "metadata": {"kind": "demo"}, "icons": [{"src": "https://example.com/i.png"}], "_meta": {"x.org/a": 1}}"#,
    )
}

fn get(server: &mut Server, name: &str, arguments: &Value) -> Value {
    server.ask("get", "prompts/get", &json!({ "name": name, "arguments": arguments }))
}

/// The text of a prompt's first message.
fn text(answer: &Value) -> &str {
    let text = answer["result"]["messages"][0]["content"]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer}"))
}

fn refusal(answer: &Value) -> (i64, &str) {
    (code(answer), answer["error"]["message"].as_str().unwrap())
}

fn names(server: &mut Server) -> Vec<String> {
    let listed = server.ask("names", "prompts/list", &json!({}))["result"]["prompts"].clone();
    listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
}

// Shows: prompts-list
#[test]
fn a_prompt_is_listed_with_its_arguments_as_each_revision_knows_them() {
    let project = greeting();
    for (revision, has_titles, has_icons) in [
        ("2024-11-05", false, false),
        ("2025-03-26", false, false),
        ("2025-06-18", true, false),
        ("2025-11-25", true, true),
    ] {
        let mut server = Server::start(project.root());
        let hello = server.initialize(revision);
        assert_eq!(hello["capabilities"]["prompts"], json!({ "listChanged": true }));
        let result = server.ask(1, "prompts/list", &json!({}))["result"].clone();
        assert_eq!(result["_meta"]["mcpbash/total"], 1);
        let prompt = &result["prompts"][0];
        assert_eq!(
            (&prompt["name"], &prompt["description"]),
            (&json!("prompt.greeting"), &json!("A greeting"))
        );
        let mut name = json!({ "name": "name", "description": "Whom to greet", "required": true });
        if has_titles {
            name["title"] = json!("Name");
        }
        assert_eq!(prompt["arguments"], json!([name, { "name": "mood", "required": false }]), "{revision}");
        assert_eq!(prompt.get("title").is_some(), has_titles, "{revision}");
        assert_eq!(prompt.get("_meta").is_some(), has_titles, "{revision}");
        assert_eq!(prompt.get("icons").is_some(), has_icons, "{revision}");
        let answer = get(&mut server, "prompt.greeting", &json!({ "name": "Ada" }));
        assert_eq!(text(&answer), "Hello, Ada! You are welcome.");
        assert_eq!(answer["result"]["description"], "A greeting");
        assert_eq!(answer["result"]["messages"][0]["role"], "user");
        assert_eq!(answer["result"]["_meta"]["mcpbash/metadata"], json!({ "kind": "demo" }));
    }
}

// Shows: caching
#[test]
fn stateless_clients_list_and_get_prompts_too() {
    let project = greeting();
    let mut server = Server::start(project.root());
    let list = server.ask(1, "prompts/list", &json!({ "_meta": stateless_meta() }))["result"].clone();
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    let params =
        json!({ "name": "prompt.greeting", "arguments": { "name": "Ada" }, "_meta": stateless_meta() });
    assert_eq!(text(&server.ask(2, "prompts/get", &params)), "Hello, Ada! You are welcome.");
    let capabilities = server.ask(3, "server/discover", &json!({ "_meta": stateless_meta() }));
    assert_eq!(capabilities["result"]["capabilities"]["prompts"], json!({ "listChanged": true }));
}

#[test]
fn prompts_are_found_in_folders_and_named_as_they_or_their_metadata_say() {
    let project = Project::new()
        .file("prompts/plain.md", "# mcp: {\"description\": \"Inline\"}\n# Heading\nPlain\n")
        .file("prompts/a/b/deep.txt", "Deep")
        .file("prompts/a/b/c/d/deeper.txt", "x")
        .file("prompts/node_modules/x/other.txt", "x")
        .file("prompts/review/prompt.txt", "Review")
        .file("prompts/yaml.txt", "{{x}}")
        .file("prompts/yaml.meta.yaml", "name: from-yaml\narguments:\n  - name: x\n    required: true\n")
        .file("prompts/page.html", "<p>{{x}}</p>")
        .file("prompts/page.meta.json", r#"{"arguments": [{"name": "x"}]}"#)
        .file("prompts/page.png", "x")
        .file("prompts/yaml.html", "not the one that is meant")
        .file("prompts/forgotten.sh", "#!/bin/sh\necho ran\n")
        .file("prompts/forgotten.meta.json", "{}")
        .file("prompts/.hidden.txt", "x")
        .file("prompts/README.md", "About these prompts")
        .file("prompts/picture.png", "x")
        .file("prompts/data.json", "{}")
        .file("prompts/broken.txt", "Broken")
        .file("prompts/broken.meta.json", "{ not json")
        .file("prompts/lonely.meta.json", "{}")
        .script("prompts/program", "#!/bin/sh\n")
        .script("prompts/plain.completion.sh", "#!/bin/sh\n");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "warning")], "2025-11-25");
    assert_eq!(names(&mut server), ["deep", "deeper", "forgotten", "from-yaml", "page", "plain", "review"]);
    assert_eq!(text(&get(&mut server, "plain", &json!({}))), "# Heading\nPlain");
    assert_eq!(text(&get(&mut server, "forgotten", &json!({}))), "ran");
    assert_eq!(text(&get(&mut server, "from-yaml", &json!({ "x": "y" }))), "y");
    let told = server.finish();
    for (file, problem) in [
        ("broken.meta.json", "fix the JSON"),
        ("lonely.meta.json", "no template of that name"),
        ("program", "add metadata"),
    ] {
        assert!(told.lines().any(|line| line.contains(file) && line.contains(problem)), "{file} in {told}");
    }
}

// Shows: prompts-injection
#[test]
fn values_are_never_expanded_and_other_placeholders_stay() {
    let template = "{{a}}|${a}|{{b}}|${b}|{{undeclared}}|${undeclared}|${HOME}|$(id)|{{optional}}|{{ a }}";
    let project = Project::new().file("prompts/p.txt", template).file(
        "prompts/p.meta.json",
        r#"{"arguments": [{"name": "a"}, {"name": "b"}, {"name": "optional"}]}"#,
    );
    let mut server = Server::ready(project.root());
    let arguments = json!({ "a": "{{b}}${b}\n\\1&", "b": "B", "undeclared": "U" });
    assert_eq!(
        text(&get(&mut server, "p", &arguments)),
        "{{b}}${b}\n\\1&|{{b}}${b}\n\\1&|B|B|U|${undeclared}|${HOME}|$(id)|{{optional}}|{{ a }}"
    );
}

// Shows: prompts-arguments
#[test]
fn invalid_prompt_arguments_are_refused_with_all_errors() {
    let project = Project::new().file("prompts/p.txt", "x").file(
        "prompts/p.meta.json",
        r#"{"arguments": [{"name": "one", "required": true}, {"name": "two"}, {"name": "three", "required": true}]}"#,
    );
    let mut server = Server::ready(project.root());
    let answer = get(&mut server, "p", &json!({ "two": "2" }));
    let (number, message) = refusal(&answer);
    assert_eq!(number, -32602);
    assert!(message.contains("`one`, `three`") && !message.contains("`two`"), "{message}");
    let answer = get(&mut server, "p", &json!({ "one": 1, "two": null, "three": "3" }));
    let (number, message) = refusal(&answer);
    assert_eq!(number, -32602);
    assert!(message.contains("`one` is a number, `two` is null"), "{message}");
    assert_eq!(refusal(&get(&mut server, "gone", &json!({}))), (-32602, "Unknown prompt: gone"));
    for params in [json!({}), json!({ "name": 5 }), json!({ "name": "p", "arguments": [] })] {
        assert_eq!(code(&server.ask(1, "prompts/get", &params)), -32602, "{params}");
    }
}

#[test]
fn messages_come_from_metadata_or_a_json_file_with_files_of_the_project_in_them() {
    let project = Project::new()
        .file(
            "prompts/chat.meta.json",
            r#"{"arguments": [{"name": "topic"}, {"name": "uri"}], "messages": [
                {"role": "user", "content": "About {{topic}}"},
                {"role": "assistant", "content": {"type": "text", "text": "${topic}?", "annotations": {"priority": 0.5}}},
                {"content": {"path": "picture"}},
                {"content": {"type": "audio", "path": "sound.wav"}},
                {"content": {"type": "resource", "path": "../docs/guide.md"}},
                {"content": {"type": "resource", "resource": {"uri": "{{uri}}", "mimeType": "text/plain", "text": "T {{topic}}"}}},
                {"content": {"type": "resource", "resource": {"uri": "doc://guide", "path": "../docs/guide.md"}}},
                {"content": {"type": "text", "path": "part.txt"}},
                {"content": {"type": "resource_link", "uri": "doc://x", "name": "x"}}]}"#,
        )
        .file("prompts/sound.wav", "RIFF\u{1}\0\0\0WAVEfmt ")
        .file("prompts/part.txt", "Part {{topic}}\n")
        .file("docs/guide.md", "# Guide {{topic}}\n")
        .file("prompts/list.json", r#"[{"role": "user", "content": "\"{{q}}\""}, {"role": "assistant", "content": "ok"}]"#)
        .file("prompts/list.meta.json", r#"{"arguments": [{"name": "q"}]}"#);
    std::fs::write(project.path("prompts/picture"), PNG).unwrap();
    std::fs::write(project.path("prompts/sound.wav"), b"RIFF\x01\x80\xff\0WAVEfmt ").unwrap();
    let mut server = Server::ready(project.root());
    let answer = get(&mut server, "chat", &json!({ "topic": "bees", "uri": "test://bees" }));
    let messages = answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let contents: Vec<&Value> = messages.iter().map(|message| &message["content"]).collect();
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!((&contents[0]["text"], &contents[1]["text"]), (&json!("About bees"), &json!("bees?")));
    assert_eq!(contents[1]["annotations"]["priority"], 0.5);
    let picture = json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUg==" });
    assert_eq!(*contents[2], picture);
    assert_eq!((&contents[3]["type"], &contents[3]["mimeType"]), (&json!("audio"), &json!("audio/wav")));
    assert_eq!(contents[4]["resource"]["text"], "# Guide {{topic}}\n");
    assert_eq!(contents[4]["resource"]["mimeType"], "text/markdown");
    assert!(contents[4]["resource"]["uri"].as_str().unwrap().starts_with("file:///"));
    let resource = json!({ "uri": "test://bees", "mimeType": "text/plain", "text": "T bees" });
    assert_eq!(contents[5]["resource"], resource);
    assert_eq!(contents[6]["resource"]["uri"], "doc://guide");
    assert_eq!((&contents[7]["text"], &contents[8]["name"]), (&json!("Part bees"), &json!("x")));

    let answer = get(&mut server, "list", &json!({ "q": "\"}, {{q}}" }));
    assert_eq!(text(&answer), "\"\"}, {{q}}\"");
    assert_eq!(answer["result"]["messages"].as_array().unwrap().len(), 2);

    // Content that an older revision does not support is described in words.
    let mut older = Server::ready_with(project.root(), &[], "2024-11-05");
    let answer = get(&mut older, "chat", &json!({ "topic": "bees", "uri": "test://bees" }));
    assert_eq!(answer["result"]["messages"][3]["content"]["text"], "[audio, audio/wav]");
    assert_eq!(answer["result"]["messages"][8]["content"]["text"], "x <doc://x>");
}

#[test]
fn files_outside_the_project_or_too_large_are_refused_by_name() {
    let outside = Project::new().file("secret.txt", "secret");
    let path = outside.path("secret.txt").display().to_string();
    let prompt = |path: &str| json!({ "messages": [{ "content": { "path": path } }] }).to_string();
    let project = Project::new()
        .file("prompts/absolute.meta.json", &prompt(&path))
        .file("prompts/climbing.meta.json", &prompt("../../secret.txt"))
        .file("prompts/link.meta.json", &prompt("link.txt"))
        .file("prompts/gone.meta.json", &prompt("gone.txt"))
        .file("prompts/large.meta.json", &prompt("../large.txt"))
        .file(
            "prompts/wrong.meta.json",
            r#"{"messages": [{"content": "a"}, {"content": {"type": "video"}}]}"#,
        )
        .file("prompts/role.meta.json", r#"{"messages": [{"role": "system", "content": "a"}]}"#)
        .file("large.txt", &"x".repeat(101));
    std::os::unix::fs::symlink(&path, project.path("prompts/link.txt")).unwrap();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_MAX_PROMPT_BYTES", "100")], "2025-11-25");
    for (name, problem) in [
        ("absolute", "outside the project"),
        ("climbing", "outside the project"),
        ("link", "outside the project"),
        ("gone", "gone.txt"),
        ("large", "MCPBASH_MAX_PROMPT_BYTES"),
        ("wrong", "`messages[1]`"),
        ("role", "\"assistant\""),
    ] {
        let answer = get(&mut server, name, &json!({}));
        let (number, message) = refusal(&answer);
        assert_eq!(number, -32603, "{name}: {message}");
        assert!(message.contains(problem) && !message.contains("secret\""), "{name}: {message}");
    }
}

#[test]
fn a_script_prints_text_messages_or_a_whole_result() {
    let script = |body: &str| {
        format!(
            "#!/bin/sh\n# mcp: {{\"arguments\": [{{\"name\": \"q\"}}], \"role\": \"assistant\"}}\n{body}\n"
        )
    };
    let project = Project::new()
        .script("prompts/stdin.sh", &script("cat"))
        .script("prompts/variables.sh", &script("printf '%s %s %s\\n\\n' \"$MCP_PROMPT_NAME\" \"$MCP_PROMPT_ARGS_JSON\" \"$PWD\""))
        .script("prompts/messages.sh", &script(r#"echo '[{"role": "user", "content": "{{q}}"}, {"content": "two"}]'"#))
        .script(
            "prompts/whole.sh",
            &script(r#"echo '{"description": "Of today", "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "_meta": {"x.org/a": 1}}'"#),
        );
    let mut server = Server::ready(project.root());
    assert_eq!(text(&get(&mut server, "stdin", &json!({ "q": "a\"b" }))), r#"{"q":"a\"b"}"#);
    let answer = get(&mut server, "variables", &json!({ "q": "$(id)" }));
    let root = project.root().canonicalize().unwrap();
    assert_eq!(text(&answer), format!("variables {{\"q\":\"$(id)\"}} {}", root.display()));
    assert_eq!(answer["result"]["messages"][0]["role"], "assistant");
    let answer = get(&mut server, "messages", &json!({ "q": "x" }));
    assert_eq!((text(&answer), &answer["result"]["messages"][1]["role"]), ("{{q}}", &json!("assistant")));
    let answer = get(&mut server, "whole", &json!({}));
    assert_eq!((text(&answer), &answer["result"]["description"]), ("hi", &json!("Of today")));
    assert_eq!(answer["result"]["_meta"]["x.org/a"], 1);
}

#[test]
fn a_failing_script_is_quoted_and_an_untrusted_one_does_not_run() {
    let project = Project::new()
        .script("prompts/fails", "#!/bin/sh\n# mcp: {}\necho oh no >&2\nexit 3\n")
        .script("prompts/slow", "#!/bin/sh\n# mcp: {\"timeoutSecs\": 3}\necho began\nsleep 1000\n")
        .script("prompts/open", "#!/bin/sh\n# mcp: {}\ntouch \"$MCPBASH_PROJECT_ROOT/ran\"\n");
    std::fs::set_permissions(project.path("prompts/open"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut server = Server::ready(project.root());
    for (name, number, problem) in [
        ("fails", -32603, "Prompt 'fails' failed (exit 3) and printed: oh no"),
        (
            "slow",
            -32603,
            "timed out after 3 s (`timeoutSecs` in the request or in its metadata, or MCPBASH_DEFAULT_TOOL_TIMEOUT, sets the limit) and printed: began",
        ),
        ("open", -32602, "run `chmod go-w` on it"),
    ] {
        let answer = get(&mut server, name, &json!({}));
        let (found, message) = refusal(&answer);
        assert_eq!(found, number, "{message}");
        assert!(message.contains(problem), "{problem} in {message}");
    }
    assert!(!project.path("ran").exists());
}

#[test]
fn a_client_can_set_the_timeout() {
    let project = Project::new().script("prompts/slow", "#!/bin/sh\n# mcp: {}\nsleep 1000\n");
    let mut server = Server::ready(project.root());
    let answer = server.ask(1, "prompts/get", &json!({ "name": "slow", "timeoutSecs": 1 }));
    let (number, message) = refusal(&answer);
    assert!(number == -32603 && message.contains("timed out after 1 s"), "{message}");
    let answer = server.ask(2, "prompts/get", &json!({ "name": "slow", "timeoutSecs": 0 }));
    assert_eq!(code(&answer), -32602);
}

#[test]
fn a_prompt_that_is_cancelled_is_not_answered_and_its_script_ends() {
    let project = Project::new().script(
        "prompts/slow",
        "#!/bin/sh\n# mcp: {}\necho $$ >>\"$MCPBASH_PROJECT_ROOT/started\"\nsleep 1000\n",
    );
    let mut server = Server::ready_with(project.root(), &ONE_AT_A_TIME, "2025-11-25");
    server.request(1, "prompts/get", &json!({ "name": "slow" }));
    let pid = project.wait_for_started(1)[0];
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_gone(pid);
    server.expect_silence_of_calls();
}

#[test]
fn prompts_come_in_pages() {
    let project = (0..25)
        .fold(Project::new(), |project, number| project.file(&format!("prompts/p{number:02}.txt"), "x"));
    let mut server = Server::ready(project.root());
    let (mut all, mut params) = (Vec::new(), json!({ "limit": 10 }));
    loop {
        let result = server.ask("page", "prompts/list", &params)["result"].clone();
        assert_eq!(result["_meta"]["mcpbash/total"], 25);
        let prompts = result["prompts"].as_array().unwrap().clone();
        all.extend(prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = result["nextCursor"].as_str() else { break };
        params = json!({ "limit": 10, "cursor": cursor });
    }
    assert_eq!(all, (0..25).map(|number| format!("p{number:02}")).collect::<Vec<_>>());
    assert_eq!(code(&server.ask(1, "prompts/list", &json!({ "cursor": "nonsense" }))), -32602);
}

// Shows: prompts-changed
#[test]
fn a_change_is_announced_once_and_only_for_its_own_kind() {
    let announcement = |kind: &str| json!({ "jsonrpc": "2.0", "method": format!("notifications/{kind}/list_changed"), "params": {} });
    let project = greeting().tool("hi", "#!/bin/sh\necho hi\n");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    assert_eq!(names(&mut server), ["prompt.greeting"]);
    let project = project.file("prompts/new.txt", "New");
    assert_eq!(server.receive(), announcement("prompts"));
    assert_eq!(names(&mut server), ["new", "prompt.greeting"]);
    // The text of a template is not in the list, so nothing is announced.
    let project = project.file("prompts/new.txt", "Newer");
    wait_until("the new text", || (text(&get(&mut server, "new", &json!({}))) == "Newer").then_some(()));
    let project = project.tool("other", "#!/bin/sh\n");
    assert_eq!(server.receive(), announcement("tools"));
    std::fs::remove_file(project.path("prompts/new.txt")).unwrap();
    assert_eq!(server.receive(), announcement("prompts"));
    assert_eq!(names(&mut server), ["prompt.greeting"]);
}

#[test]
fn prompts_are_kept_in_a_registry_and_taken_from_it() {
    let project = greeting();
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["prompt.greeting"]);
    let registry: Value =
        wait_until("the registry", || serde_json::from_str(&project.read(".registry/prompts.json")).ok());
    server.finish();
    assert_eq!((&registry["version"], &registry["total"]), (&json!(1), &json!(1)));
    let item = &registry["items"][0];
    assert_eq!((&item["path"], &item["role"]), (&json!("greeting.txt"), &json!("user")));
    assert_eq!(item["arguments"]["required"], json!(["name"]));
    let environment = [("MCPBASH_STATIC_REGISTRY", "true")];
    let project = project.file("prompts/unseen.txt", "x");
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    assert_eq!(names(&mut server), ["prompt.greeting"]);
    let answer = get(&mut server, "prompt.greeting", &json!({ "name": "Ada" }));
    assert_eq!(text(&answer), "Hello, Ada! You are welcome.");
}

#[test]
fn registered_prompts_replace_discovery() {
    let project = greeting().file(
        "server.d/register.json",
        r#"{"version": 1, "prompts": [
            {"name": "by-hand", "path": "greeting.txt", "arguments": [{"name": "name"}]},
            {"name": "inline", "messages": [{"content": "Hi"}]}]}"#,
    );
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["by-hand", "inline"]);
    assert_eq!(
        text(&get(&mut server, "by-hand", &json!({ "name": "Ada", "mood": "in" }))),
        "Hello, Ada! You are in."
    );
    assert_eq!(text(&get(&mut server, "inline", &json!({}))), "Hi");
    for (entry, problem) in [
        (r#"{"path": "greeting.txt"}"#, "`name` is missing"),
        (r#"{"name": "x"}"#, "`path` is missing"),
        (r#"{"name": "x", "path": "../server.d/register.json"}"#, "below the prompts folder"),
        (r#"{"name": "x", "path": "greeting.txt", "arguments": 5}"#, "`arguments`"),
    ] {
        let register = format!(r#"{{"version": 1, "prompts": [{entry}]}}"#);
        let project = greeting().file("server.d/register.json", &register);
        let mut server = Server::ready(project.root());
        let answer = server.ask(1, "prompts/list", &json!({}));
        let (number, message) = refusal(&answer);
        assert_eq!(number, -32603);
        assert!(message.contains("prompts[0]") && message.contains(problem), "{problem} in {message}");
    }
}

#[test]
fn a_hook_registers_prompts() {
    let project = greeting().script(
        "server.d/register.sh",
        "mcp_prompts_manual_begin\nmcp_prompts_register_manual '{\"name\": \"hooked\", \"path\": \"greeting.txt\"}'\n\
         mcp_prompts_manual_finalize\n",
    );
    let environment = [("MCPBASH_ALLOW_PROJECT_HOOKS", "true")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    assert_eq!(names(&mut server), ["hooked"]);
}

#[test]
fn arguments_of_the_wrong_type_are_left_out_and_reported() {
    let project = Project::new()
        .file("prompts/number.txt", "Say {{word}}")
        .file("prompts/number.meta.json", r#"{"description": "Has a number", "arguments": 5}"#)
        .file("prompts/words.txt", "Words")
        .file("prompts/words.meta.json", r#"{"arguments": ["one", "two"]}"#)
        .file("prompts/none.txt", "None")
        .file("prompts/none.meta.json", r#"{"arguments": null}"#);
    let mut server = Server::ready(project.root());
    let prompts = server.ask(1, "prompts/list", &json!({}))["result"]["prompts"].clone();
    assert_eq!(names(&mut server), ["none", "number", "words"]);
    assert_eq!(prompts[1]["description"], "Has a number");
    assert!(prompts[1].get("arguments").is_none_or(|arguments| *arguments == json!([])), "{prompts}");
    assert_eq!(text(&get(&mut server, "number", &json!({ "word": "hello" }))), "Say hello");
    let told = server.finish();
    for file in ["number.meta.json", "words.meta.json"] {
        let is_told = |line: &str| line.contains(file) && line.contains("is served without arguments");
        assert!(told.lines().any(is_told), "{file} in {told}");
    }
    assert!(!told.contains("none.meta.json"), "{told}");
}

/// With a session, prompts and completions know the folders of the client, and have them in their sandbox.
#[test]
fn scripts_of_prompts_and_completions_have_the_folders_of_the_client() {
    let theirs = tempfile::tempdir().unwrap();
    let folder = theirs.path().canonicalize().unwrap();
    std::fs::write(folder.join("notes"), "one").unwrap();
    let prompt = "#!/bin/sh\n# mcp: {\"name\": \"notes\", \"arguments\": {\"type\": \"object\", \"properties\": {\"file\": {\"type\": \"string\"}}}}\n\
                  echo \"$MCP_ROOTS_COUNT $(cat \"$MCP_ROOTS_PATHS/notes\")\"\n";
    let project = Project::new()
        .file("server.d/server.meta.json", r#"{"name": "p", "sandbox": "on"}"#)
        .script("prompts/notes.sh", prompt)
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "notes", "path": "completions/notes.sh"}]}"#,
        )
        .script("completions/notes.sh", "#!/bin/sh\nprintf '[\"%s\"]' \"$(ls \"$MCP_ROOTS_PATHS\")\"\n");
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
    let asked = server.receive();
    server.reply(&asked, &json!({ "roots": [{ "uri": format!("file://{}", folder.display()) }] }));
    assert_eq!(text(&get(&mut server, "notes", &json!({}))), "1 one");
    let reference = json!({ "type": "ref/prompt", "name": "notes" });
    let argument = json!({ "name": "file", "value": "" });
    let params = json!({ "ref": reference, "argument": argument });
    let completed = server.ask("complete", "completion/complete", &params);
    assert_eq!(completed["result"]["completion"]["values"], json!(["notes"]), "{completed}");
}
