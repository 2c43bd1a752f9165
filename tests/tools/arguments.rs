//! How arguments reach scripts that do not parse JSON, and programs without a script.

use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Prints each of its arguments in brackets.
const WORDS: &str = "#!/bin/sh\nfor word in \"$@\"; do printf '[%s]' \"$word\"; done\n";

/// A project with this script and metadata beside it.
fn mapped(script: &str, metadata: &Value) -> Project {
    Project::new()
        .script("tools/show/tool.sh", script)
        .file("tools/show/tool.meta.json", &metadata.to_string())
}

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    answer(server, "tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].clone()
}

/// The answer to a request, skipping messages before it.
fn answer(server: &mut Server, method: &str, params: &Value) -> Value {
    server.request(1, method, params);
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            return message;
        }
    }
}

fn ready(command: Command) -> Server {
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server
}

/// The words of `argv` for these arguments.
fn words(argv: &Value, arguments: &Value) -> String {
    let project = mapped(WORDS, &json!({ "argv": argv }));
    let result = call(&mut Server::ready(project.root()), "show", arguments);
    text(&result)
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}")).to_owned()
}

fn health(project: &Project) -> String {
    let output =
        Server::command().arg("--health").arg("--project-root").arg(project.root()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_unchanged_script_gets_its_arguments() {
    let metadata = json!({
        "inputSchema": {
            "type": "object",
            "required": ["path"],
            "properties": {
                "path": { "type": "string" },
                "depth": { "type": "number", "default": 3 },
                "name": { "type": "string" },
                "all": { "type": "boolean" },
                "tags": { "type": "array" },
                "files": { "type": "array" },
                "filter": { "type": "object" },
            },
        },
        "argv": [
            "scan", "--depth={depth}", ["--name", "{name}"], { "flag": "--all", "if": "all" },
            ["--tag", "{tags}", "..."], ["--filter={filter}"], "{{}}", "--", "{path}", "{files...}",
        ],
    });
    let project = mapped(WORDS, &metadata);
    let mut server = Server::ready(project.root());
    assert_eq!(text(&call(&mut server, "show", &json!({ "path": "." }))), "[scan][--depth=3][{}][--][.]");
    let arguments = r#"{"path":"a b","depth":1.10,"name":"","all":true,"tags":["x",5,true,null],"files":["-1","*"],
                        "filter":{"a": [1, 2]}}"#;
    server.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"show","arguments":{}}}}}"#,
        arguments.replace('\n', "")
    ));
    assert_eq!(
        text(&server.receive()["result"]),
        "[scan][--depth=1.10][--name][][--all][--tag][x][--tag][5][--tag][true][--filter={\"a\":[1,2]}][{}][--][a b][-1][*]"
    );
    let absent = json!({ "path": ".", "name": null, "all": false, "tags": [], "files": [] });
    assert_eq!(text(&call(&mut server, "show", &absent)), "[scan][--depth=3][{}][--][.]");
}

#[test]
fn a_comment_in_the_script_can_map_arguments_too() {
    let script = WORDS.replacen('\n', "\n# mcp: {\"argv\": [\"{x}\"]}\n", 1);
    let project = Project::new().script("tools/show.sh", &script);
    assert_eq!(text(&call(&mut Server::ready(project.root()), "show", &json!({ "x": "a b" }))), "[a b]");
}

#[test]
fn variables_and_standard_input_are_mapped_too() {
    let script = "#!/bin/sh\nprintf '%s|%s|' \"$DEPTH\" \"${NAME-absent}\"\ncat\n";
    let metadata = json!({
        "inputSchema": { "properties": { "depth": {}, "name": {}, "text": {} } },
        "env": { "DEPTH": "{depth}", "NAME": "{name}" },
        "stdin": "{text}\n",
    });
    let project = mapped(script, &metadata);
    let uncut = [("MCPBASH_MAX_RESULT_TEXT_BYTES", "0")];
    let mut server = Server::ready_with(project.root(), &uncut, "2025-11-25");
    let text_of = |server: &mut Server, arguments: Value| text(&call(server, "show", &arguments));
    assert_eq!(text_of(&mut server, json!({ "depth": 5, "text": "a\u{0}b" })), "5|absent|a\u{0}b");
    assert_eq!(text_of(&mut server, json!({ "depth": "$(id)", "name": "x y", "text": "" })), "$(id)|x y|");
    let long = "x".repeat(1_000_000);
    assert!(text_of(&mut server, json!({ "text": long })).len() > 900_000);
    // A program that reads standard input when it has no file must not read the JSON.
    assert_eq!(
        text(&call(
            &mut Server::ready(mapped("#!/bin/sh\ncat; echo .\n", &json!({ "argv": [] })).root()),
            "show",
            &json!({})
        )),
        "."
    );
}

#[test]
fn a_program_needs_no_script() {
    let project = Project::new()
        .file("tools/list.meta.json", &json!({ "command": ["ls", "--", "{path}"] }).to_string())
        .file("tools/join.meta.yaml", "name: join\ncommand: [printf, '%s-%s', '{a}', '{b}']\n")
        .file(
            "tools/count/tool.meta.json",
            &json!({ "command": ["wc", "-c"], "stdin": "{text}" }).to_string(),
        )
        .file(
            "tools/numbers.meta.json",
            &json!({
                "command": ["seq", "{count}"],
                "inputSchema": { "required": ["count"], "properties": { "count": { "type": "integer" } } },
            })
            .to_string(),
        );
    let mut server = Server::ready(project.root());
    let listed = answer(&mut server, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["count", "join", "list", "numbers"]);
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["a", "b"]));
    assert!(!listed.to_string().contains("command"));
    assert_eq!(text(&call(&mut server, "join", &json!({ "a": "1 2", "b": "$HOME" }))), "1 2-$HOME");
    assert_eq!(text(&call(&mut server, "count", &json!({ "text": "four" }))).trim(), "4");
    assert_eq!(text(&call(&mut server, "numbers", &json!({ "count": "3" }))), "1\n2\n3");
    let failed = call(&mut server, "list", &json!({ "path": "gone" }));
    assert_eq!((&failed["isError"], &failed["_meta"]["exitCode"]), (&json!(true), &json!(2)), "{failed}");
    let refused = call(&mut server, "numbers", &json!({ "count": -3 }));
    assert!(text(&refused).contains("`count` must not begin with `-`"), "{refused}");
    assert!(text(&call(&mut server, "join", &json!({ "a": "1" }))).contains("do not fit its inputSchema"));
    // The registry contains them as well.
    let mut refresh = Server::command();
    refresh.args(["registry", "refresh", "--project-root"]).arg(project.root());
    assert!(refresh.output().unwrap().status.success());
    project.write("tools/join.meta.yaml", "rubbish that nobody reads");
    let from_registry = [("MCPBASH_STATIC_REGISTRY", "1")];
    let mut server = Server::ready_with(project.root(), &from_registry, "2025-11-25");
    assert_eq!(text(&call(&mut server, "join", &json!({ "a": "1", "b": "2" }))), "1-2");
}

#[test]
fn a_registered_tool_needs_no_script_either() {
    let tools = json!([
        { "name": "say", "command": ["echo", "{text}"] },
        { "name": "show", "path": "show.sh", "argv": ["{x}"] },
    ]);
    let register = json!({ "version": 1, "tools": tools });
    let project =
        Project::new().file("server.d/register.json", &register.to_string()).script("tools/show.sh", WORDS);
    for _ in 0..2 {
        let mut server = Server::ready(project.root());
        assert_eq!(text(&call(&mut server, "say", &json!({ "text": "hi" }))), "hi");
        assert_eq!(text(&call(&mut server, "show", &json!({ "x": "a b" }))), "[a b]");
        server.finish();
    }
}

#[test]
fn hostile_values_stay_one_word_each() {
    for hostile in [
        "two words",
        "$(touch owned)",
        "`touch owned`",
        "; touch owned",
        "a\nb",
        "\"'\\",
        "*",
        "~",
        "${PATH}",
        "%s",
        "",
        " -x",
        "a=b",
        "\u{7f}\u{1}",
        "é\u{1f600}",
    ] {
        let expected = format!("[{hostile}][--name={hostile}]");
        assert_eq!(words(&json!(["{x}", "--name={x}"]), &json!({ "x": hostile })), expected);
    }
}

#[test]
fn no_value_becomes_an_option() {
    for value in ["-rf", "--evil", "-", "--", "-5"] {
        for argv in
            [json!(["{x}"]), json!([["--name", "{x}"]]), json!(["{x}{y}"]), json!(["--", "rm", "{x}"])]
        {
            let told = words(&argv, &json!({ "x": value, "y": "" }));
            let refused =
                told.contains("must not begin with `-`") || told.contains("do not fit its inputSchema");
            assert!(refused, "{argv} {value}: {told}");
        }
        assert!(words(&json!(["{x...}"]), &json!({ "x": ["a", value] })).contains("must not begin with `-`"));
        assert!(
            words(&json!([["-f", "{x}", "..."]]), &json!({ "x": [value] }))
                .contains("must not begin with `-`")
        );
        for (argv, expected) in [
            (json!(["--", "{x}"]), format!("[--][{value}]")),
            (json!(["--name={x}"]), format!("[--name={value}]")),
            (json!(["-n{x}"]), format!("[-n{value}]")),
            (json!([{ "word": "{x}", "allowDash": true }]), format!("[{value}]")),
        ] {
            assert_eq!(words(&argv, &json!({ "x": value })), expected);
        }
    }
    assert!(words(&json!(["-n{x}"]), &json!({ "x": "" })).contains("`x` must not be empty"));
}

#[test]
fn arguments_that_no_process_can_receive_are_refused() {
    assert!(words(&json!(["{x}"]), &json!({ "x": "a\u{0}b" })).contains("`x` must not hold a NUL character"));
    let long = "x".repeat(1024 * 1024);
    let told = words(&json!(["{x}"]), &json!({ "x": long }));
    assert!(told.contains("`x` makes 1048576 bytes") && told.contains("at most 131071"), "{told}");
    // Each is short enough, but not all together: for the server, or for a system with a lower limit.
    let many = |count: usize| json!({ "x": vec!["x".repeat(100_000); count] });
    assert!(words(&json!(["{x...}"]), &many(30)).contains("too long for a command line"));
    let project = mapped(WORDS, &json!({ "argv": ["{x...}"] }));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -s 2048 && exec \"$@\"", "sh"]).arg(Server::command().get_program());
    command.arg("--project-root").arg(project.root());
    let told = text(&call(&mut ready(command), "show", &many(10)));
    assert!(told.contains("too long for a command line"), "{}", &told[..200]);
    let project = mapped(WORDS, &json!({ "env": { "A": "{x}" } }));
    let mut server = Server::ready(project.root());
    let told = text(&call(&mut server, "show", &json!({ "x": long })));
    assert!(told.contains("`x` makes 1048576 bytes"), "{}", &told[..200]);
    assert!(text(&call(&mut server, "show", &json!({ "x": "\u{0}" }))).contains("NUL"));
}

/// The messages about invalid metadata, from the log and from `--health`.
fn diagnosed(metadata: &Value) -> String {
    let project = mapped(WORDS, metadata);
    let mut server = Server::ready(project.root());
    let listed = answer(&mut server, "tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"], json!([]), "{metadata} is served");
    let log = server.finish();
    let told = health(&project);
    let line = log
        .lines()
        .find(|line| line.contains("tool.meta.json"))
        .unwrap_or_else(|| panic!("{log}"))
        .to_owned();
    assert!(told.contains("tool.meta.json"), "{told}");
    line
}

#[test]
fn an_invalid_mapping_is_reported_at_the_start_with_its_file_and_fix() {
    let schema = json!({ "properties": { "path": { "type": "string" } } });
    for (metadata, remedies) in [
        (json!({ "argv": ["{pth}"], "inputSchema": schema }), ["`pth`", "it has `path`"]),
        (
            json!({ "argv": ["{path}"], "inputSchema": schema }),
            ["does not require it", "name it in `required`"],
        ),
        (json!({ "argv": ["{path"] }), ["`argv[0]` cannot be read", "an argument is written {name}"]),
        (json!({ "argv": "{path}" }), ["must be a list of words", "no shell reads it"]),
        (json!({ "argv": ["--{path}"] }), ["a caller would choose the option", "write the option out"]),
        (
            json!({ "env": { "PATH": "{path}" } }),
            ["`env` would let a caller set `PATH`", "choose another name"],
        ),
        (json!({ "command": ["ls"] }), ["there is a script too", "in `argv`"]),
    ] {
        let told = diagnosed(&metadata);
        for remedy in remedies {
            assert!(told.contains(remedy), "{remedy} in {told}");
        }
    }
}

#[test]
fn a_shell_never_receives_a_value_as_code() {
    let project = Project::new()
        .file("tools/bad.meta.json", &json!({ "command": ["sh", "-c", "ls {path}"] }).to_string());
    assert!(health(&project).contains("would have `sh` read a value as code"));
    let fine = json!({ "command": ["sh", "-c", "printf '[%s]' \"$1\"", "sh", "{path}"] });
    let project = Project::new().file("tools/fine.meta.json", &fine.to_string());
    let answer = call(&mut Server::ready(project.root()), "fine", &json!({ "path": "$(id); `id`" }));
    assert_eq!(text(&answer), "[$(id); `id`]");
}

#[test]
fn a_missing_program_is_named_at_the_start_and_in_the_call() {
    let metadata = json!({ "command": ["no-such-program-here", "{x}"] }).to_string();
    let project =
        Project::new().file("tools/gone.meta.json", &metadata).script("bin/no-such-program-here", WORDS);
    assert!(health(&project).contains("Tool 'gone' runs `no-such-program-here`, which is not there"));
    let log = project.path("server.log");
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--log-file").arg(&log);
    let mut server = ready(command);
    let result = call(&mut server, "gone", &json!({ "x": "a" }));
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("`no-such-program-here`, which is not there: install it"), "{result}");
    let is_logged = || project.read("server.log").contains("`no-such-program-here`, which is not there");
    wait_until("the warning", || is_logged().then_some(()));
    // It is looked up when it is called, on the PATH of scripts.
    let path = format!("relative:{}:/usr/bin:/bin", project.path("bin").display());
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_PATH", &path)], "2025-11-25");
    assert_eq!(text(&call(&mut server, "gone", &json!({ "x": "a" }))), "[a]");
    // Programs in the project are checked like its scripts.
    fs::set_permissions(project.path("bin/no-such-program-here"), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = answer(&mut server, "tools/call", &json!({ "name": "gone", "arguments": { "x": "a" } }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("is writable by its group"), "{refused}");
}

#[test]
fn group_or_world_writable_metadata_runs_nothing() {
    let metadata = json!({ "command": ["echo", "hi"] }).to_string();
    let project = Project::new().file("tools/say/tool.meta.json", &metadata);
    let refusal = |project: &Project| {
        let mut server = Server::ready(project.root());
        let refused = answer(&mut server, "tools/call", &json!({ "name": "say", "arguments": {} }));
        refused["error"]["message"].as_str().map(str::to_owned)
    };
    assert_eq!(refusal(&project), None);
    for (path, mode) in [("tools/say/tool.meta.json", 0o664), ("tools/say", 0o775), ("tools", 0o777)] {
        let path = project.path(path);
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let told = refusal(&project).unwrap_or_else(|| panic!("{} {mode:o}", path.display()));
        assert!(told.contains("is writable by its group or by everyone"), "{told}");
        fs::set_permissions(&path, before).unwrap();
    }
}

#[test]
fn a_provider_cannot_define_commands() {
    let provider = r#"#!/bin/sh
case $1 in
  list) echo '{"name":"p","inputSchema":{"type":"object"},"command":["touch","owned"],"argv":["owned"]}' ;;
  p) echo '{"content":[{"type":"text","text":"own"}]}' ;;
esac
"#;
    let project = Project::new().script("tools/provider", provider);
    assert_eq!(text(&call(&mut Server::ready(project.root()), "p", &json!({}))), "own");
    assert!(!project.path("owned").exists());
}

/// Gemini CLI adds this argument to every call.
#[test]
fn an_argument_that_a_client_adds_to_every_call_is_left_out() {
    let metadata = |properties: Value| {
        let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        json!({ "name": "show", "inputSchema": schema })
    };
    let plain = mapped("#!/bin/sh\ncat\n", &metadata(json!({ "a": { "type": "string" } })));
    let mut server = Server::ready(plain.root());
    let result = call(&mut server, "show", &json!({ "a": "x", "wait_for_previous": true }));
    assert_eq!(result["content"][0]["text"], r#"{"a":"x"}"#, "{result}");
    // Other arguments that the schema does not have are refused as before.
    let result = call(&mut server, "show", &json!({ "a": "x", "wait_for_next": true }));
    assert_eq!(result["isError"], true, "{result}");
    // A tool that has such an argument gets it.
    let own = mapped("#!/bin/sh\ncat\n", &metadata(json!({ "wait_for_previous": { "type": "boolean" } })));
    let mut server = Server::ready(own.root());
    let result = call(&mut server, "show", &json!({ "wait_for_previous": true }));
    assert_eq!(result["content"][0]["text"], r#"{"wait_for_previous":true}"#, "{result}");
}

#[test]
fn undeclared_arguments_are_reported_once() {
    let project = Project::new().tool("plain", "#!/bin/sh\necho hi\n").tool("other", "#!/bin/sh\necho hi\n");
    let mut server = Server::ready(project.root());
    for (tool, arguments) in [
        ("plain", json!({})),
        ("plain", json!({ "a": 1 })),
        ("plain", json!({ "a": 2 })),
        ("other", json!({ "a": 1 })),
    ] {
        server.request(1, "tools/call", &json!({ "name": tool, "arguments": arguments }));
        while server.receive().get("id").is_none() {}
    }
    let log = server.finish();
    let told: Vec<_> = log.lines().filter(|line| line.contains("declares none")).collect();
    assert_eq!(told.len(), 2, "{log}");
    assert!(
        told[0].contains("plain") && told[0].contains("`inputSchema`") && told[1].contains("other"),
        "{log}"
    );
}

#[test]
fn the_checks_find_a_script_that_reads_an_empty_command_line() {
    let project = Project::new().tool("size", "#!/bin/sh\ndu -sh \"$1\"\n");
    let told = health(&project);
    assert!(told.contains("reads its command line (`$1`)") && told.contains("add `argv`"), "{told}");
    let mapped = mapped("#!/bin/sh\ndu -sh \"$1\"\n", &json!({ "argv": ["{path}"] }));
    assert!(!health(&mapped).contains("command line"));
}

#[test]
fn an_argument_that_the_program_does_not_receive_is_reported() {
    let schema = json!({ "properties": { "path": {}, "depth": {} } });
    let command = json!({ "command": ["ls", ["{path}"]], "inputSchema": schema });
    let project = Project::new().file("tools/list.meta.json", &command.to_string());
    let told = health(&project);
    assert!(told.contains("declares `depth` in `inputSchema`, which its program is not given"), "{told}");
    // A script may read the other arguments as JSON, but double braces are an error.
    let told = health(&mapped(WORDS, &json!({ "argv": [["{path}"]], "inputSchema": schema })));
    assert!(told.contains("\"problems\":[]"), "{told}");
    let told = health(&mapped(WORDS, &json!({ "argv": ["{{path}}"], "inputSchema": schema })));
    assert!(told.contains("`path`") && told.contains("with one brace on each side"), "{told}");
}

/// The files of a page: blocks with a path after the language.
fn shown_files(page: &str) -> Vec<(String, String)> {
    let mut blocks = page.split("\n```").skip(1).step_by(2);
    let file = |block: &str| {
        let (info, text) = block.split_once('\n')?;
        Some((info.split_once(' ')?.1.to_owned(), text.to_owned()))
    };
    std::iter::from_fn(|| blocks.next()).filter_map(file).collect()
}

#[test]
fn the_examples_of_the_page_work_as_pasted() {
    let files = shown_files(include_str!("../../docs/arguments.md"));
    let paths: Vec<_> = files.iter().map(|(path, _)| &**path).collect();
    assert!(paths.contains(&"tools/disk-usage/tool.meta.json"), "{paths:?}");
    let project = files.iter().fold(Project::new(), |project, (path, text)| {
        if text.starts_with("#!") { project.script(path, text) } else { project.file(path, text) }
    });
    let told = health(&project);
    assert!(told.contains("\"status\":\"ok\"") && told.contains("\"problems\":[]"), "{told}");
    fs::create_dir(project.path("some folder")).unwrap();
    fs::write(project.path("some folder/a file"), "needle").unwrap();
    let mut server = Server::ready(project.root());
    let size = call(&mut server, "disk-usage", &json!({ "path": "some folder", "depth": 1 }));
    assert!(text(&size).contains("some folder"), "{size}");
    let found = call(
        &mut server,
        "search",
        &json!({ "pattern": "-?needle", "files": ["some folder/a file"], "count": true }),
    );
    assert_eq!(text(&found), "1", "{found}");
    let commit = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first";
    assert!(Command::new("sh").args(["-c", commit]).current_dir(project.root()).status().unwrap().success());
    let commits = call(&mut server, "git-log", &json!({ "count": "5" }));
    assert!(text(&commits).ends_with(" first"), "{commits}");
    assert_eq!(
        call(&mut server, "git-log", &json!({ "count": "1", "author": "--all" }))["content"][0]["text"],
        ""
    );
}
