//! `server.d/policy.yaml`: what real servers do with it, and with files that are hostile.

use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, Server, wait_until};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const FILE: &str = "server.d/policy.yaml";

const DEPLOY: &str = "#!/bin/bash\nsource \"$MCP_SDK/tool-sdk.sh\"\ntouch ran\nmcp_emit_text \"deployed $(mcp_args_get .env)\"\n";

const DEPLOY_META: &str = r#"{"name": "deploy", "inputSchema": {"type": "object", "properties": {
  "env": {"type": "string", "default": "production"}, "text": {"type": "string"}}}}"#;

fn project(policy: &str) -> Project {
    Project::new()
        .script("tools/deploy/tool.sh", DEPLOY)
        .file("tools/deploy/tool.meta.json", DEPLOY_META)
        .file(FILE, policy)
}

fn rules(default: &str, rules: &str) -> String {
    format!("version: 1\ndefault: {default}\nrules:\n{rules}")
}

fn ask(project: &Project, environment: &[(&str, &str)], method: &str, params: &Value) -> Value {
    Server::ready_with(project.root(), environment, "2025-11-25").ask(1, method, params)
}

fn deploy(project: &Project, arguments: &Value) -> Value {
    ask(project, &[], "tools/call", &json!({ "name": "deploy", "arguments": arguments }))
}

fn has_run(project: &Project) -> bool {
    project.path("ran").exists()
}

/// The words of a refusal, whether it is a result for the model or an error.
fn words(answer: &Value) -> String {
    let error = answer["error"]["message"].as_str();
    let text =
        answer["result"]["content"][0]["text"].as_str().filter(|_| answer["result"]["isError"] == true);
    error.or(text).unwrap_or_else(|| panic!("no refusal: {answer}")).to_owned()
}

#[test]
fn a_rule_about_arguments_refuses_with_words_for_the_model() {
    let project = project(&rules(
        "allow",
        "  - name: no-production\n    when: tool.annotations.destructiveHint && args.env == 'production'\n    \
         deny: Use env=staging, not {args.env}.\n",
    ));
    let refused = deploy(&project, &json!({ "env": "production" }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(words(&refused), "Blocked by policy: Use env=staging, not production.");
    // The default of the schema is an argument like any other.
    assert!(words(&deploy(&project, &json!({}))).contains("Use env=staging"));
    assert!(!has_run(&project));
    let allowed = deploy(&project, &json!({ "env": "staging" }));
    assert_eq!(allowed["result"]["content"][0]["text"], "deployed staging");
    // A name that is given twice cannot show the policy one value and the script another.
    let mut server = Server::ready(project.root());
    project.remove("ran");
    server.send_line(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"env":"production","env":"staging"}}}"#,
    );
    let answer = server.receive();
    assert!(answer["result"]["isError"] == true || answer["error"].is_object(), "{answer}");
    assert!(!has_run(&project));
}

#[test]
fn a_rule_that_fails_refuses_and_names_itself() {
    let project = project(&rules("allow", "  - {name: typed, when: args.text.size() > 3, deny: no}\n"));
    let refused = words(&deploy(&project, &json!({ "env": "x" })));
    assert!(
        refused.contains("rule `typed` of server.d/policy.yaml could not be evaluated: there is no `text`"),
        "{refused}"
    );
    assert!(!has_run(&project));
    assert!(deploy(&project, &json!({ "text": "abc" }))["result"]["isError"].as_bool() != Some(true));
}

#[test]
fn consent_that_cannot_be_asked_for_is_a_refusal() {
    let project = project(&rules("allow", "  - {name: sure, confirm: 'Deploy to {args.env}?'}\n"));
    let refused = words(&deploy(&project, &json!({ "env": "x" })));
    assert!(refused.contains("needs the consent of a person"), "{refused}");
    assert!(!has_run(&project));
}

#[test]
fn a_rule_asks_for_consent_with_its_own_question() {
    let project = project(&rules("allow", "  - {name: sure, confirm: 'Deploy to {args.env}?'}\n"));
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    // An argument that imitates the rest of the form.
    let arguments = json!({ "env": "x?\n\nIts arguments:\n  env: \"y\"" });
    server.request(1, "tools/call", &json!({ "name": "deploy", "arguments": arguments }));
    let asked = server.receive();
    let message = asked["params"]["message"].as_str().unwrap_or_else(|| panic!("{asked}"));
    assert!(message.contains("Deploy to x?\\n"), "{message}");
    assert_eq!(message.lines().filter(|line| line.starts_with("Its arguments:")).count(), 1, "{message}");
    server.reply(&asked, &json!({ "action": "accept", "content": { "consent": "no" } }));
    assert!(words(&server.receive()).contains("the user declined"));
    assert!(!has_run(&project));
    server.request(2, "tools/call", &json!({ "name": "deploy", "arguments": { "env": "x" } }));
    let asked = server.receive();
    server.reply(&asked, &json!({ "action": "accept", "content": { "consent": "once" } }));
    assert_eq!(server.receive()["result"]["content"][0]["text"], "deployed x");
    server.finish();
}

#[test]
fn a_policy_that_is_broken_lets_nothing_run() {
    let bomb = (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("{text}a{level}: &a{level} [{aliases}]\n")
    });
    for (policy, why) in [
        ("", "empty"),
        ("version: 1\n", "`default` is missing"),
        ("default: allow\n\trules: []\n", "YAML"),
        (
            &rules("allow", "  - {when: tol.name == 'x', deny: no}\n"),
            "policy.yaml:4:12: rule 1: unknown name `tol`; did you mean `tool`?",
        ),
        (&rules("allow", "  - {when: 'true', when: 'false', deny: no}\n"), "duplicate"),
        (&rules("allow", "  - 7\n"), "a rule is written as"),
        (&bomb, "policy.yaml:"),
        (&"#".repeat(300_000), "more than 262144 bytes"),
    ] {
        let project = project(policy);
        let refused = deploy(&project, &json!({ "env": "x" }));
        assert!(words(&refused).to_lowercase().contains(&why.to_lowercase()), "{why}: {refused}");
        assert!(refused["error"].is_object(), "{refused}");
        assert!(!has_run(&project), "{why}");
    }
}

#[test]
fn a_file_that_others_could_have_written_lets_nothing_run() {
    type Spoil = fn(&Project);
    let good = rules("allow", "  - {allow: true}\n");
    let spoils: [(Spoil, &str); 6] = [
        (|project| chmod(project, FILE, 0o664), "chmod go-w"),
        (|project| chmod(project, "server.d", 0o777), "chmod go-w"),
        (
            |project| {
                std::fs::rename(project.path(FILE), project.path("elsewhere.yaml")).unwrap();
                std::os::unix::fs::symlink(project.path("elsewhere.yaml"), project.path(FILE)).unwrap();
            },
            "is a link",
        ),
        (
            |project| {
                project.remove(FILE);
                let made = std::process::Command::new("mkfifo").arg(project.path(FILE)).status();
                assert!(made.unwrap().success());
            },
            "policy.yaml",
        ),
        (
            |project| {
                project.remove(FILE);
                std::fs::create_dir(project.path(FILE)).unwrap();
            },
            "policy.yaml",
        ),
        (|project| std::fs::write(project.path(FILE), b"version: 1\ndefault: \xff\xfe\n").unwrap(), "UTF-8"),
    ];
    for (spoil, why) in spoils {
        let project = project(&good);
        spoil(&project);
        let refused = words(&deploy(&project, &json!({ "env": "x" })));
        assert!(refused.contains(why), "{why}: {refused}");
        assert!(!has_run(&project));
        chmod(&project, "server.d", 0o755);
    }
    let misspelt = project(&good);
    std::fs::rename(misspelt.path(FILE), misspelt.path("server.d/policy.yml")).unwrap();
    assert!(words(&deploy(&misspelt, &json!({ "env": "x" }))).contains("rename it to policy.yaml"));
}

fn chmod(project: &Project, path: &str, mode: u32) {
    std::fs::set_permissions(project.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn where_a_policy_is_required_nothing_runs_without_one() {
    let project = Project::with_hi().file("resources/note.txt", "note");
    let required = [("MCPBASH_POLICY", "required")];
    let call = json!({ "name": "hi" });
    assert!(words(&ask(&project, &required, "tools/call", &call)).contains("MCPBASH_POLICY requires one"));
    let read = json!({ "uri": format!("file://{}", project.path("resources/note.txt").display()) });
    assert!(
        words(&ask(&project, &required, "resources/read", &read)).contains("MCPBASH_POLICY requires one")
    );
    assert_eq!(ask(&project, &[], "tools/call", &call)["result"]["content"][0]["text"], "hi");
    // A word that is not known was meant to restrict.
    assert!(words(&ask(&project, &[("MCPBASH_POLICY", "yes!")], "tools/call", &call)).contains("requires"));
    let project =
        project.file("server.d/server.meta.json", r#"{"settings": {"MCPBASH_POLICY": "required"}}"#);
    assert!(words(&ask(&project, &[], "tools/call", &call)).contains("MCPBASH_POLICY requires one"));
    let project = project.file(FILE, &rules("allow", "  []\n"));
    assert_eq!(ask(&project, &[], "tools/call", &call)["result"]["content"][0]["text"], "hi");
}

#[test]
fn a_changed_policy_is_in_force_without_a_restart() {
    let project = project(&rules("allow", "  []\n"));
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    let call = json!({ "name": "deploy", "arguments": { "env": "x" } });
    let mut says = |part: &str| {
        wait_until(&format!("a call says {part}"), || {
            server.ask_past_news(1, "tools/call", &call).to_string().contains(part).then_some(())
        });
    };
    says("deployed x");
    project.write(FILE, &rules("allow", "  - {deny: not today}\n"));
    says("not today");
    project.write(FILE, "rules: [");
    says("lets nothing run");
    project.write(FILE, &rules("deny", "  - {allow: true}\n"));
    says("deployed x");
}

#[test]
fn both_policies_must_allow() {
    let script = "mcp_tools_policy_check() { [ ! -e closed ]; }\n";
    let project = project(&rules("allow", "  - {when: args.env == 'b', deny: not b}\n"))
        .file("server.d/policy.sh", script);
    assert_eq!(deploy(&project, &json!({ "env": "a" }))["result"]["content"][0]["text"], "deployed a");
    assert!(words(&deploy(&project, &json!({ "env": "b" }))).contains("not b"));
    let project = project.file("closed", "");
    assert!(words(&deploy(&project, &json!({ "env": "a" }))).contains("policy.sh says no"));
}

#[test]
fn another_spelling_of_a_uri_does_not_evade_a_rule() {
    let project = Project::new()
        .file("resources/open/x.txt", "open")
        .file("resources/closed/x.txt", "closed")
        .file("resources/mine.meta.json", r#"{"name": "mine", "uri": "file://./resources/open/x.txt"}"#);
    let folder = project.path("resources").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let rule = format!("  - {{when: \"resource.uri.startsWith('file://{folder}/closed')\", deny: closed}}\n");
    let project = project.file(FILE, &rules("allow", &rule));
    let mut server = Server::ready(project.root());
    let mut read = |uri: &str| server.ask(1, "resources/read", &json!({ "uri": uri }));
    assert_eq!(read(&format!("file://{folder}/open/x.txt"))["result"]["contents"][0]["text"], "open");
    assert_eq!(read("file://./resources/open/x.txt")["result"]["contents"][0]["text"], "open");
    for uri in [
        format!("file://{folder}/closed/x.txt"),
        format!("file://{folder}/%63losed/x.txt"),
        format!("file://{folder}//closed/x.txt"),
        format!("FILE:{folder}/closed/x.txt"),
        format!("file://localhost{folder}/closed/x.txt"),
        "file://./resources/closed/x.txt".to_owned(),
    ] {
        assert!(words(&read(&uri)).contains("closed"), "{uri}: {}", read(&uri));
        assert!(read(&uri)["result"].is_null(), "{uri}");
    }
}

#[test]
fn resources_and_prompts_are_policed_too() {
    let project = Project::new()
        .file("resources/open.txt", "card 4111111111111111")
        .file("resources/closed.txt", "closed")
        .file("prompts/greet.txt", "Hello {{name}}, 4111111111111111")
        .script(
            "prompts/described.sh",
            "#!/bin/sh\n# mcp: {\"name\": \"described\"}\n\
             echo '{\"description\": \"About 4111111111111111\", \"messages\": [{\"role\": \"user\", \"content\": {\"type\": \
             \"text\", \"text\": \"Hi\"}}]}'\n",
        )
        .file(
            FILE,
            &rules(
                "deny",
                "  - {when: resource.uri.endsWith('/open.txt'), allow: true}\n  \
                 - {when: prompt.name == 'greet' && args.name == 'Ada', allow: true}\n  \
                 - {when: prompt.name == 'described', allow: true}\n  \
                 - {redact: [{pattern: '[0-9]{16}'}]}\n",
            ),
        );
    let mut server = Server::ready(project.root());
    let folder = project.path("resources").canonicalize().unwrap();
    let mut read = |name: &str| {
        let uri = format!("file://{}/{name}", folder.display());
        server.ask(1, "resources/read", &json!({ "uri": uri }))
    };
    assert_eq!(read("open.txt")["result"]["contents"][0]["text"], "card [redacted]");
    assert!(words(&read("closed.txt")).contains("no rule of server.d/policy.yaml allows it"));
    assert!(words(&read("closed.txt/../open.txt")).contains("`..`"));
    assert!(words(&read("%2e%2E/resources/open.txt")).contains("`..`"));
    let get = |name: &str| {
        let mut server = Server::ready(project.root());
        server.ask(1, "prompts/get", &json!({ "name": "greet", "arguments": { "name": name } }))
    };
    assert_eq!(get("Ada")["result"]["messages"][0]["content"]["text"], "Hello Ada, [redacted]");
    let described = Server::ready(project.root()).ask(1, "prompts/get", &json!({ "name": "described" }));
    assert_eq!(described["result"]["description"], "About [redacted]", "{described}");
    assert!(words(&get("Bob")).contains("no rule"));
    assert!(
        words(&ask(
            &project,
            &[],
            "resources/subscribe",
            &json!({
                "uri": format!("file://{}/closed.txt", folder.display())
            })
        ))
        .contains("no rule")
    );
}

#[test]
fn redacted_parts_leave_in_no_form() {
    let secret = "4111111111111111";
    let tools = [
        ("plain", format!("#!/bin/sh\necho 'card {secret}'\n")),
        (
            "json",
            format!(
                "#!/bin/sh\necho '{{\"rows\": [{{\"email\": \"{secret}@x\", \"n\": 1}}], \"number\": {secret}}}'\n"
            ),
        ),
        (
            "whole",
            format!(
                "#!/bin/sh\ncat <<'END'\n{{\"content\": [{{\"type\": \"text\", \"text\": \"x {secret}\"}}, {{\"type\": \"resource\", \
                 \"resource\": {{\"uri\": \"a://b\", \"text\": \"{secret}\"}}}}], \"structuredContent\": {{\"a\": \"{secret}\"}}, \
                 \"_meta\": {{\"m\": \"{secret}\"}}}}\nEND\n"
            ),
        ),
        ("fails", format!("#!/bin/sh\necho 'bad {secret}' >&2\nexit 3\n")),
        ("long", format!("#!/bin/sh\nyes 'card {secret} of a customer' | head -n 20000\n")),
        (
            "file",
            format!(
                "#!/bin/bash\nsource \"$MCP_SDK/tool-sdk.sh\"\necho 'in a file {secret}' >note.txt\n\
                 printf '%s\\n' \"$PWD/note.txt\" >\"$MCP_TOOL_RESOURCES_FILE\"\necho ok\n"
            ),
        ),
    ];
    let project = tools.iter().fold(Project::new(), |project, (name, script)| project.tool(name, script));
    let project =
        project.file(FILE, &rules("allow", "  - {redact: [/rows/*/email, {pattern: '[0-9]{16}'}]}\n"));
    let mut server = Server::ready(project.root());
    for (name, _) in &tools {
        let answer = server.ask(1, "tools/call", &json!({ "name": name }));
        let text = answer.to_string();
        assert!(!text.contains(secret) && text.contains("[redacted]"), "{name}: {text:.600}");
        if *name == "json" {
            let rows = &answer["result"]["structuredContent"]["rows"];
            assert_eq!(*rows, json!([{ "email": "[redacted]", "n": 1 }]), "{answer}");
        }
        // The rest of a long text is kept.
        for item in answer["result"]["content"].as_array().unwrap() {
            if let Some(uri) = item["uri"].as_str() {
                let kept = server.ask(2, "resources/read", &json!({ "uri": uri })).to_string();
                assert!(!kept.contains(secret) && kept.contains("[redacted]"), "{kept:.300}");
            }
        }
    }
}

#[test]
fn a_rule_knows_who_calls() {
    let project = project(&rules(
        "deny",
        "  - {when: caller.name == 'ada' && caller.known_by == 'token', allow: true}\n",
    ));
    let (outside, grant) = (tempfile::tempdir().unwrap(), Grant::default);
    let (ada, ada_token) = TokenLine::generate("ada", grant()).unwrap();
    let (bob, bob_token) = TokenLine::generate("bob", grant()).unwrap();
    let tokens = outside.path().join("tokens");
    std::fs::write(&tokens, format!("{ada}\n{bob}\n")).unwrap();
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o600)).unwrap();
    let server = HttpServer::start_with(project.root(), &["--tokens", tokens.to_str().unwrap()], &[]);
    let call = json!({ "name": "deploy", "arguments": { "env": "x" } });
    let asked = |token: String| {
        let bearer = format!("Bearer {token}");
        server.send(&stateless_with(&[("Authorization", &bearer)], 1, "tools/call", &call)).json()
    };
    assert!(words(&asked(bob_token.clone())).contains("no rule"));
    assert_eq!(asked(ada_token.clone())["result"]["content"][0]["text"], "deployed x");
}

#[test]
fn hostile_arguments_do_not_pass_and_do_not_stop_the_server() {
    let project = project(&rules(
        "allow",
        "  - {name: etc, when: \"has(args.text) && args.text.contains('/etc')\", deny: no}\n  \
         - {name: cost, when: \"has(args.list) && args.list.all(a, args.list.all(b, args.list.all(c, a + b + c >= 0)))\", deny: yes}\n",
    ));
    let mut server = Server::ready(project.root());
    let mut call =
        |arguments: Value| server.ask(1, "tools/call", &json!({ "name": "deploy", "arguments": arguments }));
    let hidden = format!("{}/etc", "x".repeat(1_000_000));
    assert!(words(&call(json!({ "env": "x", "text": hidden }))).contains("no"));
    let numbers: Vec<u32> = (0..500).collect();
    assert!(words(&call(json!({ "env": "x", "list": numbers }))).contains("costs too much"));
    assert!(!has_run(&project));
    assert_eq!(
        call(json!({ "env": "x", "text": "y".repeat(1_000_000), "odd key": 1, "": 2 }))["result"]["content"]
            [0]["text"],
        "deployed x"
    );
}

#[test]
fn a_refusal_is_logged_with_its_rule_and_without_arguments() {
    let project = project(&rules("allow", "  - {name: closed, deny: 'no {args.text}'}\n"));
    let mut server = Server::ready(project.root());
    server.ask(1, "tools/call", &json!({ "name": "deploy", "arguments": { "text": "s3cr3t" } }));
    let log = server.finish();
    let told: Vec<&str> = log.lines().filter(|line| line.contains("the policy refused a request")).collect();
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains("closed") && told[0].contains("deploy"), "{log}");
    assert!(!log.contains("s3cr3t"), "{log}");
}
