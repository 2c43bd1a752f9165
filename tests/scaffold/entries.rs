//! `mcp-bash scaffold`: tools, functions, prompts, resources, completions, schemas.

use super::{ask, call, done, health, names, new_project, refused, run, tree};
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn everything_that_is_scaffolded_works_at_once() {
    let project = Project::new();
    let root = new_project(&project, &[]);
    for (language, ending) in [("bash", "sh"), ("python", "py"), ("node", "mjs")] {
        let (tool, provider, prompt) =
            (format!("tool-{language}"), format!("team_{language}"), format!("p-{language}"));
        let said = done(&root, &["scaffold", "tool", &tool, "--lang", language]);
        let place = if language == "bash" { tool.clone() } else { format!("tool_{language}.{ending}") };
        assert_eq!(said.lines().next().unwrap(), format!("Scaffolded tool at tools/{place}"));
        let script = format!("script-{language}");
        let said = done(&root, &["scaffold", "tool", &script, "--lang", language, "--script"]);
        assert_eq!(said.lines().next().unwrap(), format!("Scaffolded tool at tools/{script}"));
        assert!(root.join(format!("tools/{script}/tool.{ending}")).is_file());
        let said = done(&root, &["scaffold", "provider", &provider, "--lang", language]);
        assert_eq!(said.lines().next().unwrap(), format!("Scaffolded provider at tools/{provider}.{ending}"));
        done(&root, &["scaffold", "prompt", &prompt]);
        done(&root, &["scaffold", "completion", &prompt, "--lang", language]);
    }
    for resource in ["manual", "guide"] {
        done(&root, &["scaffold", "resource", resource]);
    }
    done(&root, &["scaffold", "tool", "words", "--from", "printf"]);
    done(&root, &["scaffold", "test"]);
    let report = health(&root);
    let counts = ["tools", "prompts", "resources"].map(|kind| report["counts"][kind].as_u64().unwrap());
    assert_eq!(
        (&report["status"], &report["problems"], counts),
        (&json!("ok"), &json!([]), [11, 3, 2]),
        "{report}"
    );
    for (name, (mode, text)) in tree(&root) {
        let is_script = text.as_ref().is_none_or(|text| text.starts_with("#!"));
        assert_eq!(mode, if is_script { 0o755 } else { 0o644 }, "{name}");
        let text = text.unwrap_or_default();
        let is_place = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
        assert!(!text.split("__").any(is_place), "{name} has a place that was not filled");
    }

    let mut server = Server::ready(&root);
    let mut lists = String::new();
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        lists += &ask(&mut server, method, &json!({})).to_string();
    }
    assert!(!lists.contains("$schema") && !lists.contains("README"), "{lists}");
    for language in ["bash", "python", "node"] {
        let mut call = |name: &str, arguments: Value| call(&mut server, name, &arguments);
        let provider = format!("team_{language}");
        for tool in [format!("tool-{language}"), format!("script-{language}")] {
            let result = call(&tool, json!({ "name": "Ada" }));
            assert_ne!(result["isError"], true, "{result}");
            assert!(result["structuredContent"].to_string().contains("Hello, Ada!"), "{result}");
            let result = call(&tool, json!({}));
            assert!(result["structuredContent"].to_string().contains("Hello, World!"), "{result}");
            let result = call(&tool, json!({ "name": "A\nB" }));
            assert!(
                result["isError"] == true && result.to_string().contains("more than one line"),
                "{result}"
            );
        }
        assert_eq!(call(&provider, json!({ "name": "Ada" }))["content"][0]["text"], "Hello, Ada!");
        assert_eq!(call(&provider, json!({}))["content"][0]["text"], "Hello, World!");

        let prompt = format!("prompt.p-{language}");
        let params = json!({ "name": prompt, "arguments": { "subject": "tests" } });
        let got = ask(&mut server, "prompts/get", &params);
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("Subject: tests\nDetails: none\n"), "{text}");
        let mut complete = |argument: &str, value: &str| {
            let params = json!({
                "ref": { "type": "ref/prompt", "name": prompt }, "argument": { "name": argument, "value": value },
            });
            ask(&mut server, "completion/complete", &params)["completion"]["values"].clone()
        };
        assert_eq!(complete("subject", "be"), json!(["beta"]), "{language}");
        assert_eq!(complete("subject", ""), json!(["alpha", "beta", "gamma"]), "{language}");
        assert_eq!(complete("details", ""), json!([]), "{language}");
    }
    let resources = ask(&mut server, "resources/list", &json!({}))["resources"].clone();
    let manual = resources.as_array().unwrap().iter().find(|one| one["name"] == "resource.manual").unwrap();
    let read = ask(&mut server, "resources/read", &json!({ "uri": manual["uri"] }));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("What clients read when they ask for manual"), "{read}");
}

#[test]
fn a_function_is_a_file_and_its_test() {
    let project = Project::new();
    done(project.root(), &["new", "demo", "--lang", "python"]);
    let root = project.path("demo");
    for (name, language) in [("disk-usage", "node"), ("import", "python"), ("test_all", "python")] {
        done(&root, &["scaffold", "tool", name, "--lang", language]);
    }
    // Files that were read to check for name conflicts are cached for the next command.
    assert!(fs::read_to_string(root.join(".registry/functions.json")).unwrap().contains("import.py"));
    let tools = root.join("tools");
    let expected = [
        "disk_usage.mjs",
        "hello.py",
        "import.py",
        "tests",
        "tests/disk-usage.yaml",
        "tests/hello.yaml",
        "tests/import.yaml",
        "tests/test_all.yaml",
        // Files whose names begin with `test_` are not served.
        "tool_test_all.py",
    ];
    assert_eq!(names(&tools), expected);
    let text = fs::read_to_string(tools.join("import.py")).unwrap();
    assert!(text.contains("@tool(name=\"import\", ") && text.contains("\ndef import_("), "{text}");
    let text = fs::read_to_string(tools.join("hello.py")).unwrap();
    assert!(text.contains("@tool(read_only=True") && text.contains("\ndef hello("), "{text}");

    let mut server = Server::ready(&root);
    for name in ["hello", "disk-usage", "import", "test_all"] {
        let result = call(&mut server, name, &json!({ "name": "Ada" }));
        assert_eq!(result["content"][0]["text"], "Hello, Ada!", "{name}: {result}");
    }
    let before = tree(&tools);
    let said = refused(&root, &["scaffold", "tool", "disk_usage", "--lang", "node"]);
    assert!(said.contains("tools/disk_usage.mjs already exists"), "{said}");
    let said = refused(&root, &["scaffold", "tool", "import", "--lang", "node"]);
    assert!(said.starts_with("there is already a tool called import, in "), "{said}");
    let said = refused(&root, &["scaffold", "tool", "x", "--from", "ls", "--script"]);
    assert_eq!(said, "a tool that is made --from a program has no script; leave out --script");
    assert_eq!(run(project.root(), &["new", "x", "--no-hello", "--lang", "node"]).code, Some(2));
    assert_eq!(tree(&tools), before);

    fs::write(root.join("server.d/register.json"), r#"{"version": 1, "tools": []}"#).unwrap();
    let said = done(&root, &["scaffold", "tool", "later", "--lang", "python"]);
    assert!(said.contains("functions are not found: take the tools out of it, or use --script"), "{said}");
}

#[test]
fn annotations_follow_the_flags_or_the_name() {
    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    let reads = json!({ "readOnlyHint": true, "openWorldHint": false });
    let adds = json!({ "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false });
    let destroys = json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": false });
    for (name, flags, expected) in [
        ("backup", &[][..], &destroys),
        ("charge_card", &[], &destroys),
        ("disk-report", &["--read-only"], &reads),
        ("list_users", &[], &reads),
        ("delete-user", &[], &destroys),
        ("updateUser", &[], &destroys),
        ("create_user", &[], &adds),
        ("get-and-remove", &[], &destroys),
        ("delete-draft", &["--read-only"], &reads),
        ("show", &["--destructive"], &destroys),
        ("add-note", &["--lang", "python"], &adds),
        ("drop-note", &["--lang", "python"], &destroys),
        ("drop-page", &["--lang", "node"], &destroys),
        ("read-page", &["--lang", "node"], &reads),
        ("wipe", &["--lang", "node", "--script"], &destroys),
    ] {
        done(&root, &[&["scaffold", "tool", name], flags].concat());
        let mut server = Server::ready(&root);
        let list = server.ask(1, "tools/list", &json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}: {list}"));
        assert_eq!(&tool["annotations"], expected, "{name}");
    }
    for (name, flags, expected) in [
        ("run-it", &[][..], json!({ "readOnlyHint": false, "destructiveHint": true })),
        ("search", &[], json!({ "readOnlyHint": true })),
        ("run-again", &["--read-only"], json!({ "readOnlyHint": true })),
    ] {
        done(&root, &[&["scaffold", "tool", name, "--from", "echo"], flags].concat());
        let metadata = fs::read_to_string(root.join("tools").join(name).join("tool.meta.json")).unwrap();
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        assert_eq!(metadata["annotations"], expected, "{name}");
    }
    let both = run(&root, &["scaffold", "tool", "both", "--read-only", "--destructive"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
    assert!(!root.join("tools/both").exists());
}

#[test]
fn a_program_becomes_a_tool_without_a_script() {
    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    let said = done(&root, &["scaffold", "tool", "say", "--from", "echo"]);
    assert_eq!(
        said,
        "Scaffolded tool at tools/say\n\n\
         Note: its annotations say that it may change or remove data, so clients ask before each call; with `--read-only` they \
         say that it changes nothing\n\nNext steps:\n  \
           mcp-bash import echo   # or: an argument for each option of its --help\n  \
           mcp-bash call say      # call it\n  \
           mcp-bash test say      # run its test\n  \
           mcp-bash install       # add the server to your clients\n"
    );
    fs::write(root.join("own"), "#!/bin/sh\necho \"own $*\"\n").unwrap();
    assert_eq!(
        refused(&root, &["scaffold", "tool", "mine", "--from", "./own"]),
        format!("{} cannot be run; run `chmod +x` on it", root.canonicalize().unwrap().join("own").display())
    );
    fs::set_permissions(root.join("own"), fs::Permissions::from_mode(0o755)).unwrap();
    done(&root.join("tools"), &["scaffold", "tool", "mine", "--from", "../own"]);
    let metadata = fs::read_to_string(root.join("tools/mine/tool.meta.json")).unwrap();
    assert!(metadata.contains(r#""command": ["./own", "{words...}"]"#), "{metadata}");
    for (arguments, problem) in [
        (
            &["--from", "no-such-program"][..],
            "there is no program `no-such-program` on PATH; install it, or give its path",
        ),
        (&["--from", ""], "there is no program `` on PATH; install it, or give its path"),
        (&["--from", "/no/such"], "there is no program `/no/such` on PATH; install it, or give its path"),
        (
            &["--from", "echo", "--lang", "node"],
            "a tool that is made --from a program has no script; leave out --lang",
        ),
    ] {
        assert_eq!(refused(&root, &[&["scaffold", "tool", "x"], arguments].concat()), problem);
    }
    assert_eq!(health(&root)["problems"], json!([]));
    let mut server = Server::ready(&root);
    let mut call = |name: &str, words: Value| call(&mut server, name, &json!({ "words": words }));
    assert_eq!(call("say", json!(["a b", "$HOME"]))["content"][0]["text"], "a b $HOME");
    assert_eq!(call("mine", json!(["x"]))["content"][0]["text"], "own x");
    let refused = call("say", json!(["--help"]));
    assert!(refused["isError"] == true && refused.to_string().contains("words"), "{refused}");
}

#[test]
fn a_running_server_finds_scaffolded_entries() {
    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    let mut server = Server::ready(&root);
    assert_eq!(server.ask(1, "tools/list", &json!({}))["result"]["tools"], json!([]));
    done(&root, &["scaffold", "tool", "later"]);
    wait_until("the tool to be listed", || {
        server.request("list", "tools/list", &json!({}));
        let list = std::iter::from_fn(|| Some(server.receive())).find(|message| message["id"] == "list");
        (list.unwrap()["result"]["tools"][0]["name"] == "later").then_some(())
    });
}

#[test]
fn a_completion_is_added_to_an_existing_registration() {
    let project = Project::new();
    let root = new_project(&project, &[]);
    let registration = root.join("server.d/register.json");
    let written = "{\"version\": 1,\n  \"resources\": [], \"_meta\": {\"n\": 1.10}}\n";
    fs::write(&registration, written).unwrap();
    done(&root, &["scaffold", "prompt", "review"]);
    let said = done(&root, &["scaffold", "completion", "review"]);
    assert_eq!(
        said,
        "Scaffolded completion at completions/review\n\nNext steps:\n  \
         mcp-bash complete prompt prompt.review subject a   # see what it suggests\n"
    );
    assert_eq!(
        fs::read_to_string(&registration).unwrap(),
        "{\"version\": 1,\n  \"resources\": [], \"_meta\": {\"n\": 1.10},\n  \"completions\": [\n    \
         {\"name\":\"prompt.review\",\"path\":\"completions/review/completion.sh\",\"timeoutSecs\":5}\n  ]\n}\n"
    );
    assert_eq!(health(&root)["problems"], json!([]));
    // The tool is still found by discovery.
    assert_eq!(health(&root)["counts"]["tools"], 1);

    let said = done(&root, &["scaffold", "resource", "unlisted"]);
    let note = "Note: server.d/register.json lists the resources, so that others are not found: \
                add one with the path unlisted/unlisted.txt\n";
    assert!(said.contains(note), "{said}");

    fs::write(&registration, "{ broken").unwrap();
    let before = tree(&root);
    let said = refused(&root, &["scaffold", "completion", "other"]);
    assert!(said.contains("register.json cannot be added to: it is not valid JSON"), "{said}");
    assert_eq!(tree(&root), before);

    fs::remove_file(&registration).unwrap();
    fs::write(root.join("server.d/register.sh"), "#!/bin/sh\n").unwrap();
    let said = done(&root, &["scaffold", "completion", "other"]);
    assert!(
        said.contains(
            "Note: server.d/register.sh registers what this project has: add the line mcp_completion_register_manual \
             '{\"name\":\"other\",\"path\":\"completions/other/completion.sh\",\"timeoutSecs\":5}'\n"
        ) && said.contains("Note: there is no prompt or resource called other yet"),
        "{said}"
    );
    assert!(!registration.exists());
}

#[test]
fn schemas_are_printed_and_updated() {
    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    let list = done(project.root(), &["schema"]);
    assert_eq!(
        list,
        "policy    Policy of a project\nprompt    Metadata of a prompt\nregister  Registration by hand\n\
         resource  Metadata of a resource or a template\nroles     Roles of callers\nserver    Metadata of a server\n\
         test      Test cases\ntool      Metadata of a tool\n"
    );
    let tool = done(project.root(), &["schema", "tool"]);
    assert_eq!(tool, fs::read_to_string(root.join(".schemas/tool.schema.json")).unwrap());
    assert_eq!(run(project.root(), &["schema", "tol"]).code, Some(2));
    assert_eq!(done(&root, &["schema", "--write"]), ".schemas is up to date\n");
    fs::write(root.join(".schemas/tool.schema.json"), "old").unwrap();
    fs::remove_file(root.join(".schemas/test.schema.json")).unwrap();
    let said = done(&root, &["schema", "--write"]);
    assert_eq!(said, "  Created .schemas/test.schema.json\n  Updated .schemas/tool.schema.json\n");
    assert_eq!(fs::read_to_string(root.join(".schemas/tool.schema.json")).unwrap(), tool);
}
