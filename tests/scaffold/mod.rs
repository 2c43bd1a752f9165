//! `new`, `init` and `scaffold`: what they write works at once, and nothing that is there is touched.

mod own_tests;

use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// What a command said, and how it ended.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the binary with a umask that lets the group write, as many people have it.
fn run(folder: &Path, arguments: &[&str]) -> Said {
    let binary = Server::command();
    let mut command = Server::command_of("sh");
    command.args(["-c", "umask 002; exec \"$0\" \"$@\""]).arg(binary.get_program()).args(arguments);
    let output = command.current_dir(folder).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs the binary, which must do what it is told.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, arguments);
    assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{arguments:?}: {}", said.stdout);
    said.stdout
}

/// Runs the binary, which must refuse. Returns what it says.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, arguments);
    assert_eq!((said.code, &*said.stdout), (Some(1), ""), "{arguments:?}: {}", said.stderr);
    said.stderr.strip_prefix("mcp-bash: ").expect("a message").trim_end().to_owned()
}

/// All files below a folder with their modes and texts; folders without a text.
fn tree(folder: &Path) -> BTreeMap<String, (u32, Option<String>)> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, (u32, Option<String>)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let seen = path.symlink_metadata().expect("a file");
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let text = seen.is_file().then(|| fs::read_to_string(&path).expect("text"));
            found.insert(name, (seen.permissions().mode() & 0o777, text));
            if seen.is_dir() {
                walk(&path, root, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().filter(|name| !name.starts_with(".schemas/")).collect()
}

fn health(root: &Path) -> Value {
    let output = Server::command().args(["--health", "--project-root"]).arg(root).output().unwrap();
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// The answer to a request, whatever scripts log meanwhile.
fn ask(server: &mut Server, method: &str, params: &Value) -> Value {
    server.request("asked", method, params);
    let mut messages = std::iter::from_fn(|| Some(server.receive()));
    messages.find(|message| message["id"] == "asked").expect("an answer")["result"].clone()
}

/// What a tool of a project answers.
fn call(server: &mut Server, name: &str, arguments: &Value) -> Value {
    ask(server, "tools/call", &json!({ "name": name, "arguments": arguments }))
}

/// A folder that `new` has made a project, in one with a space in its name.
fn new_project(project: &Project, flags: &[&str]) -> std::path::PathBuf {
    let here = project.path("my projects");
    fs::create_dir_all(&here).unwrap();
    done(&here, &[&["new", "demo"], flags].concat());
    here.join("demo")
}

#[test]
fn a_new_project_is_ready_and_its_tool_greets() {
    let project = Project::new();
    let said = done(project.root(), &["new", "demo"]);
    assert_eq!(
        said,
        "Created project at ./demo/\n\
         \n\
         Next steps:\n  \
           cd demo                        # the project\n  \
           mcp-bash call hello name=Ada   # call its tool\n  \
           mcp-bash scaffold tool NAME    # make one of your own\n  \
           mcp-bash install               # add the server to your clients\n"
    );
    let root = project.path("demo");
    let expected = [
        ".gitignore",
        ".schemas",
        "README.md",
        "server.d",
        "server.d/server.meta.json",
        "tools",
        "tools/hello",
        "tools/hello/tests",
        "tools/hello/tests/hello.yaml",
        "tools/hello/tool.meta.json",
        "tools/hello/tool.sh",
    ];
    assert_eq!(names(&root), expected);
    let metadata: Value = serde_json::from_str(&project.read("demo/server.d/server.meta.json")).unwrap();
    assert_eq!((&metadata["name"], &metadata["title"]), (&json!("demo"), &json!("Demo")));
    let report = health(&root);
    assert_eq!((&report["status"], &report["problems"]), (&json!("ok"), &json!([])), "{report}");

    let mut server = Server::ready(&root);
    let result = call(&mut server, "hello", &json!({ "name": "Ada" }));
    assert_eq!(
        result["structuredContent"],
        json!({ "success": true, "result": { "message": "Hello, Ada!" } })
    );
    assert_eq!(call(&mut server, "hello", &json!({ "name": "A\nB" }))["isError"], true);
    assert_eq!(call(&mut server, "hello", &json!({ "nmae": "Ada" }))["isError"], true);
}

#[test]
fn a_new_project_is_right_whatever_its_folder_is_called() {
    let project = Project::new();
    let strictly = |folder: &Path| {
        let mut command = Server::command();
        command.args(["validate", "--strict"]).current_dir(folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let metadata = fs::read_to_string(folder.join("server.d/server.meta.json")).unwrap();
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        (metadata["name"].as_str().unwrap().to_owned(), metadata["title"].as_str().unwrap().to_owned())
    };
    done(project.root(), &["new", "my_proj"]);
    assert_eq!(strictly(&project.path("my_proj")), ("my-proj".to_owned(), "My Proj".to_owned()));
    let long = "x".repeat(200);
    for (folder, name, title) in [
        ("a_b", "a-b", "A B"),
        ("My Dir.v2", "My-Dir-v2", "My Dir.v2"),
        ("\u{fc}n\u{ef}", "n", "\u{dc}n\u{ef}"),
        (".hid", "hid", ".hid"),
        (&long, &long[..40], &format!("X{}", &long[1..])),
    ] {
        fs::create_dir(project.path(folder)).unwrap();
        done(&project.path(folder), &["init"]);
        assert_eq!(strictly(&project.path(folder)), (name.to_owned(), title.to_owned()));
    }
}

#[test]
fn no_hello_is_a_project_without_tools() {
    let project = Project::new();
    let said = done(project.root(), &["new", "demo", "--no-hello"]);
    assert!(said.contains("mcp-bash scaffold tool NAME") && !said.contains("hello"), "{said}");
    let expected = [".gitignore", ".schemas", "README.md", "server.d", "server.d/server.meta.json", "tools"];
    assert_eq!(names(&project.path("demo")), expected);
    let report = health(&project.path("demo"));
    assert_eq!((&report["status"], &report["problems"]), (&json!("ok"), &json!([])), "{report}");
}

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
    // What was read to see which names are taken is not read again by the next.
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
fn annotations_are_what_flags_or_the_name_say() {
    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    let reads = json!({ "readOnlyHint": true, "openWorldHint": false });
    let adds = json!({ "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false });
    let destroys = json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": false });
    for (name, flags, expected) in [
        ("backup", &[][..], &reads),
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
        "Scaffolded tool at tools/say\n\nNext steps:\n  \
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
fn a_running_server_finds_what_is_scaffolded() {
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
fn names_that_cannot_be_are_refused_and_nothing_is_written() {
    let project = Project::new();
    let root = new_project(&project, &[]);
    let before = tree(&root);
    let letters = "use 1 to 64 letters, digits, `_` and `-`; some clients refuse others";
    for kind in ["tool", "prompt", "resource", "completion", "provider"] {
        for name in ["", "..", "a/b", "../up", "a b", "a.b", "ä", &"x".repeat(65)] {
            let said = refused(&root, &["scaffold", kind, name]);
            assert_eq!(said, format!("`{name}` cannot be the name of a {kind}: {letters}"));
        }
        let said = refused(&root, &["scaffold", kind, "node_modules"]);
        assert!(said.ends_with("folders of that name are never searched"), "{said}");
        if ["tool", "provider"].contains(&kind) {
            let said = refused(&root, &["scaffold", kind, "7zip"]);
            assert!(said.ends_with(
                "it begins with a digit, and Gemini refuses every request with such a tool in it"
            ));
        }
        let said = refused(&root, &["scaffold", kind, "--", "-x"]);
        assert!(said.ends_with("it begins with `-`, so that commands take it for an option"), "{said}");
    }
    let said = refused(&root, &["scaffold", "provider", "list"]);
    assert!(
        said.ends_with("executables that provide tools are run with that word to be asked which"),
        "{said}"
    );
    let said = refused(&root, &["scaffold", "prompt", "ui"]);
    assert!(said.ends_with("is where other servers describe the interface of a tool"), "{said}");
    let said = refused(root.parent().unwrap(), &["new", "a/b"]);
    assert_eq!(said, format!("`a/b` cannot be the name of a server: {letters}"));
    for ui in [&["scaffold", "ui", "x", "--tool", "hello"][..], &["scaffold", "tool", "x", "--ui"]] {
        let said = refused(&root, ui);
        assert_eq!(
            said,
            "pages for tools (MCP Apps) are not there yet; without --ui and `scaffold ui` everything else is"
        );
    }
    assert_eq!(run(&root, &["scaffold", "tool", "x", "--lang", "perl"]).code, Some(2));
    assert_eq!(run(&root, &["scaffold", "thing", "x"]).code, Some(2));
    assert_eq!(tree(&root), before);
}

#[test]
fn what_is_there_is_refused_and_stays_as_it_is() {
    let project = Project::new();
    let root = new_project(&project, &[]);
    for arguments in [
        &["tool", "a"][..],
        &["tool", "b", "--from", "ls"],
        &["provider", "c"],
        &["prompt", "d"],
        &["resource", "e"],
        &["completion", "d"],
        &["test"],
    ] {
        done(&root, &[&["scaffold"], arguments].concat());
    }
    // A name that another file has given to its tool.
    fs::write(root.join("tools/other.sh"), "#!/bin/sh\n# mcp: {\"name\": \"taken\"}\n").unwrap();
    symlink("nowhere", root.join("tools/link")).unwrap();
    symlink("nowhere", root.parent().unwrap().join("link")).unwrap();
    let before = tree(&root);
    let whole = root.canonicalize().unwrap();
    let exists = |path: &str| {
        format!("{} already exists; remove it or choose another name", whole.join(path).display())
    };
    let called = |kind: &str, name: &str, path: &str| {
        let file = whole.join(path);
        format!("there is already a {kind} called {name}, in {}; choose another name", file.display())
    };
    for (arguments, expected) in [
        (&["tool", "a"][..], exists("tools/a")),
        (&["tool", "a", "--from", "ls"], exists("tools/a")),
        (&["tool", "link"], exists("tools/link")),
        (&["tool", "c"], called("tool", "c", "tools/c.sh")),
        (&["tool", "taken"], called("tool", "taken", "tools/other.sh")),
        (&["provider", "a"], called("tool", "a", "tools/a/tool.sh")),
        (&["provider", "c"], exists("tools/c.sh")),
        (&["prompt", "d"], exists("prompts/d")),
        (&["resource", "e"], exists("resources/e")),
        (&["completion", "d"], exists("completions/d")),
        (&["test"], exists("test/run.sh")),
    ] {
        assert_eq!(refused(&root, &[&["scaffold"], arguments].concat()), expected);
    }
    let above = root.parent().unwrap();
    assert!(
        refused(above, &["new", "demo"]).ends_with("demo already exists; remove it or choose another name")
    );
    assert!(
        refused(above, &["new", "link"]).ends_with("link already exists; remove it or choose another name")
    );
    assert_eq!(tree(&root), before);
    fs::remove_file(root.join("test/run.sh")).unwrap();
    assert_eq!(refused(&root, &["scaffold", "test"]), exists("test/README.md"));
    assert!(!root.join("test/run.sh").exists());
}

#[test]
fn init_adds_what_is_missing_and_touches_nothing_else() {
    let project = Project::new()
        .file("it's \"mine\"/.gitignore", "# mine\nnode_modules/\n.registry/")
        .script("it's \"mine\"/tools/hi.sh", "#!/bin/sh\necho hi\n");
    let root = project.path("it's \"mine\"");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(root.join("tools"), fs::Permissions::from_mode(0o755)).unwrap();
    let steps = "\nNext steps:\n  \
        mcp-bash call hello name=Ada   # call its tool\n  \
        mcp-bash scaffold tool NAME    # make a tool of your own\n  \
        mcp-bash install               # add the server to your clients\n";
    let said = done(&root, &["init"]);
    let made = "  Created server.d/server.meta.json\n  Updated .gitignore\n  Created .schemas\n  Created tools/hello\n";
    assert_eq!(said, format!("Initialized an MCP server project\n\n{made}{steps}"));
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap();
    assert_eq!(ignored, "# mine\nnode_modules/\n.registry/\n\n# mcp-bash\n*.log\n.DS_Store\nThumbs.db\n");
    let metadata = fs::read_to_string(root.join("server.d/server.meta.json")).unwrap();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    assert_eq!((&metadata["name"], &metadata["title"]), (&json!("it-s-mine"), &json!("It's \"mine\"")));
    let report = health(&root);
    assert_eq!((&report["problems"], &report["counts"]["tools"]), (&json!([]), &json!(2)), "{report}");

    let before = tree(&root);
    let said = done(&root, &["init", "--name", "another"]);
    let kept = ["server.d/server.meta.json", ".gitignore", ".schemas", "tools/hello"];
    let kept = kept.map(|path| format!("  Skipped existing {path}\n")).concat();
    assert_eq!(said, format!("Initialized an MCP server project\n\n{kept}{steps}"));
    assert_eq!(tree(&root), before);
}

#[test]
fn init_makes_no_second_hello() {
    let project = Project::new().script("tools/hello.py", "#!/usr/bin/env python3\nprint('hi')\n");
    fs::set_permissions(project.path("tools"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = done(project.root(), &["init"]);
    assert!(said.contains("  Skipped existing tools/hello.py\n"), "{said}");
    assert!(!project.path("tools/hello").exists());
    assert_eq!(health(project.root())["problems"], json!([]));
}

#[test]
fn init_makes_hello_a_function_of_a_language() {
    let project = Project::new();
    let said = done(project.root(), &["init", "--lang", "python"]);
    assert!(said.contains("  Created tools/hello.py\n"), "{said}");
    assert_eq!(done(project.root(), &["call", "hello", "name=Ada"]), "Hello, Ada!\n");
    let before = tree(project.root());
    assert!(
        done(project.root(), &["init", "--lang", "node"]).contains("  Skipped existing tools/hello.py\n")
    );
    assert_eq!(tree(project.root()), before);
    let both = run(project.root(), &["init", "--lang", "node", "--no-hello"]);
    assert_eq!(both.code, Some(2));
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn init_takes_a_name_and_a_folder_and_says_who_may_write() {
    let project = Project::new();
    let root = project.path("shared");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o775)).unwrap();
    let said =
        done(project.root(), &["init", "--name", "my server", "--no-hello", "--project-root", "shared"]);
    let whole = root.canonicalize().unwrap();
    assert_eq!(
        said,
        format!(
            "Initialized an MCP server project\n\n  \
               Created server.d/server.meta.json\n  Created .gitignore\n  Created .schemas\n  Created tools\n\n\
             Note: scripts here will not be run yet: {} is writable by its group or by everyone (mode 0775); run `chmod go-w` on it (`mcp-bash validate --fix` does it in a whole project)\n\n\
             Next steps:\n  \
               mcp-bash scaffold tool NAME --project-root shared   # make a tool of your own\n  \
               mcp-bash install --project-root shared              # add the server to your clients\n",
            whole.display()
        )
    );
    assert!(
        fs::read_to_string(root.join("server.d/server.meta.json"))
            .unwrap()
            .contains("\"name\": \"my server\"")
    );
    assert!(!root.join("tools/hello").exists());
    assert_eq!(done(project.root(), &["init", "-q", "--project-root", "shared"]), "");
    assert_eq!(
        refused(project.root(), &["init", "--name", " "]),
        "a server needs a name; give it one with --name"
    );
    assert_eq!(
        refused(project.root(), &["new", "x", "--project-root", "shared"]),
        "`mcp-bash new` makes a folder here, and takes no --project-root; `mcp-bash init` takes one"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_left_clean() {
    // Not even root can make something there.
    let said = refused(Path::new("/proc"), &["new", "demo"]);
    assert!(said.starts_with("failed to write /proc/demo/"), "{said}");

    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    fs::write(root.join("completions"), "a file").unwrap();
    fs::write(root.join("server.d/register.json"), "{\"version\": 1}\n").unwrap();
    let before = tree(&root);
    let said = refused(&root, &["scaffold", "completion", "x"]);
    assert!(said.starts_with("failed to write ") && said.contains("completions/x/"), "{said}");
    assert_eq!(tree(&root), before);
}

#[test]
fn outside_of_a_project_the_ways_to_one_are_named() {
    let project = Project::new();
    assert_eq!(
        refused(project.root(), &["scaffold", "tool", "x"]),
        "no MCP project found here; `mcp-bash init` makes this folder one, `mcp-bash new NAME` makes a new one, \
         and --project-root names one elsewhere"
    );
    assert_eq!(names(project.root()), [""; 0]);
}

#[test]
fn a_completion_is_registered_beside_what_is_registered_already() {
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
    // The tool is still searched for.
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
fn schemas_are_printed_and_renewed() {
    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    let list = done(project.root(), &["schema"]);
    assert_eq!(
        list,
        "prompt    Metadata of a prompt\nregister  Registration by hand\n\
         resource  Metadata of a resource or a template\nserver    Metadata of a server\n\
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
