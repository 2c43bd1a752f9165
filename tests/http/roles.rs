//! Roles over real HTTP: what callers see and may use, in both eras.

use crate::harness::http::{Events, HttpServer, initialize, post, request, stateless_with};
use crate::harness::{Project, Server, wait_until};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

const ROLES: &str = r#"
toolsets:
  deploys: [deploy_*]
roles:
  viewer:
    readOnly: true
    given: {tokens: [alice, both]}
  deployer:
    tools: ["@deploys"]
    resources: ["notes://*"]
    prompts: []
    given: {tokens: [bob, both]}
  night:
    tools: [deploy_api]
    hours: ANOTHER_DAY 00:00-00:01 UTC
    given: {tokens: [owl]}
  slow:
    rate: 3/h
    given: {tokens: [slow, mixed]}
  slower:
    rate: 1/h
    given: {tokens: [slow]}
  alone:
    concurrency: 1
    given: {tokens: [alone, pair]}
  two:
    concurrency: 2
    given: {tokens: [pair]}
  free:
    given: {tokens: [mixed]}
"#;

/// Waits at the gate, and says how many calls of its caller run meanwhile.
const HOLD: &str = r#"#!/bin/sh
mkdir -p "running/$MCP_CALLER"
: >"running/$MCP_CALLER/$$"
read _ <gate
ls "running/$MCP_CALLER" | wc -l
rm "running/$MCP_CALLER/$$"
"#;

/// A day of the week that does not begin or end during a test: the one in three days.
fn another_day() -> &'static str {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs() / 86_400;
    // The first day of the epoch was a Thursday.
    ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][usize::try_from(days % 7).unwrap()]
}

fn roles() -> String {
    ROLES.replace("ANOTHER_DAY", another_day())
}

struct Scene {
    project: Project,
    tokens: PathBuf,
    bearers: Vec<(&'static str, String)>,
    _outside: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let read_only = r#"{"annotations": {"readOnlyHint": true}}"#;
        let project = Project::new()
            .tool("show", "#!/bin/sh\necho shown\n")
            .file("tools/show/tool.meta.json", read_only)
            .tool("deploy_api", "#!/bin/sh\necho deployed\n")
            .tool("delete", "#!/bin/sh\necho deleted\n")
            .tool("hold", HOLD)
            .gate()
            .script("prompts/p.sh", "#!/bin/sh\n# mcp: {\"arguments\": []}\necho asked\n")
            .file("resources/n.meta.json", r#"{"uri": "notes://a", "provider": "mine"}"#)
            .file("resources/o.meta.json", r#"{"uri": "other://a", "provider": "mine"}"#)
            .script("providers/mine.sh", "#!/bin/sh\nprintf read\n")
            .file("server.d/roles.yaml", &roles());
        let outside = tempfile::tempdir().unwrap();
        let tokens = outside.path().join("tokens");
        let names = ["alice", "bob", "both", "owl", "nobody", "slow", "mixed", "alone", "pair"];
        let made = names.map(|name| TokenLine::generate(name, Grant::default()).unwrap());
        let mut lines: Vec<String> = made.iter().map(|(line, _)| line.to_string()).collect();
        let narrow = Grant { tools: Some("deploy_api".parse().unwrap()), ..Grant::default() };
        // Its role allows more than its token.
        let (line, narrow) = TokenLine::generate("narrow", narrow).unwrap();
        lines.push(line.to_string());
        fs::write(&tokens, lines.join("\n")).unwrap();
        fs::set_permissions(&tokens, Permissions::from_mode(0o600)).unwrap();
        let bearers = names.into_iter().zip(made).map(|(name, (_, token))| (name, format!("Bearer {token}")));
        let bearers = bearers.chain([("narrow", format!("Bearer {narrow}"))]).collect();
        Self { project, tokens, bearers, _outside: outside }
    }

    fn start(&self) -> HttpServer {
        HttpServer::start_with(self.project.root(), &["--tokens", self.tokens.to_str().unwrap()], &[])
    }

    fn bearer(&self, name: &str) -> &str {
        let found = self.bearers.iter().find(|(known, _)| *known == name);
        &found.unwrap_or_else(|| panic!("{name}")).1
    }

    fn ask(&self, server: &HttpServer, name: &str, method: &str, params: &Value) -> Value {
        let headers = [("Authorization", self.bearer(name))];
        server.send(&stateless_with(&headers, 1, method, params)).json()
    }

    fn listed(&self, server: &HttpServer, name: &str, kind: &str) -> Vec<String> {
        let answer = self.ask(server, name, &format!("{kind}/list"), &json!({}));
        let listed = answer["result"][kind].as_array().unwrap_or_else(|| panic!("{answer}"));
        let mut names: Vec<String> =
            listed.iter().map(|known| known["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn call(&self, server: &HttpServer, name: &str, tool: &str) -> Result<String, String> {
        let answer = self.ask(server, name, "tools/call", &json!({ "name": tool, "arguments": {} }));
        match answer["result"]["content"][0]["text"].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()),
        }
    }
}

#[test]
fn callers_see_and_use_what_one_of_their_roles_allows() {
    let scene = Scene::new();
    let server = scene.start();
    let tools = |name: &str| scene.listed(&server, name, "tools").join(" ");
    assert_eq!(tools("alice"), "show");
    assert_eq!(tools("bob"), "deploy_api");
    assert_eq!(tools("both"), "deploy_api show");
    assert_eq!(tools("nobody"), "", "a token without a role may do nothing");
    assert_eq!(scene.listed(&server, "bob", "prompts"), [""; 0]);
    assert_eq!(scene.listed(&server, "alice", "prompts"), ["p"]);
    assert_eq!(scene.listed(&server, "bob", "resources").len(), 1);
    assert_eq!(scene.listed(&server, "alice", "resources").len(), 2);

    assert_eq!(scene.call(&server, "alice", "show").unwrap(), "shown");
    let words = scene.call(&server, "alice", "deploy_api").unwrap_err();
    assert!(words.contains("the caller `alice` may only call tools with `readOnlyHint`"), "{words}");
    assert_eq!(scene.call(&server, "bob", "deploy_api").unwrap(), "deployed");
    let words = scene.call(&server, "bob", "show").unwrap_err();
    assert!(words.contains("not in the list of tools of the caller `bob`"), "{words}");
    for (name, tool) in [("both", "delete"), ("nobody", "show"), ("nobody", "missing")] {
        assert!(scene.call(&server, name, tool).unwrap_err().contains("is not allowed"), "{name} {tool}");
    }
    // Another URI than that of a listed resource, by a caller with a list.
    let read = |uri: &str| scene.ask(&server, "bob", "resources/read", &json!({ "uri": uri }));
    assert_eq!(read("notes://a")["result"]["contents"][0]["text"], "read");
    assert!(read("other://a")["error"].is_object());
    assert!(scene.ask(&server, "bob", "prompts/get", &json!({ "name": "p" }))["error"].is_object());
    server.finish();
}

#[test]
fn a_role_holds_at_its_hours_and_says_so_at_others() {
    let scene = Scene::new();
    let server = scene.start();
    assert_eq!(scene.listed(&server, "owl", "tools"), ["deploy_api"], "lists are kept by clients");
    let words = scene.call(&server, "owl", "deploy_api").unwrap_err();
    assert!(words.contains(&format!("at these hours: {} 00:00-00:01 UTC", another_day())), "{words}");
    let read = scene.ask(&server, "owl", "resources/read", &json!({ "uri": "notes://a" }));
    assert!(read["error"]["message"].as_str().unwrap().contains("at these hours"), "{read}");
    server.finish();
}

#[test]
fn the_rate_of_a_caller_is_the_highest_of_its_roles() {
    let scene = Scene::new();
    let server = scene.start();
    let send = |name: &str| {
        let headers = [("Authorization", scene.bearer(name))];
        server.send(&stateless_with(&headers, 1, "tools/list", &json!({})))
    };
    let statuses: Vec<u16> = (0..5).map(|_| send("slow").status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let wait: u64 = send("slow").header("retry-after").unwrap().parse().unwrap();
    assert!((1..=1200).contains(&wait), "{wait}");
    assert!((0..10).all(|_| send("mixed").status == 200), "one of its roles has no limit");
    // The rate follows the file.
    let file = scene.project.path("server.d/roles.yaml");
    fs::write(&file, roles().replace("rate: 3/h", "rate: 1000/s")).unwrap();
    wait_until("a higher rate", || (send("slow").status == 200).then_some(()));
    server.finish();
}

#[test]
fn as_many_calls_of_a_caller_run_as_its_roles_say() {
    let scene = Scene::new();
    let server = scene.start();
    let begin = |name: &str| {
        let mut http = server.connect();
        let headers = [("Authorization", scene.bearer(name))];
        let params = json!({ "name": "hold", "arguments": {} });
        http.send(&stateless_with(&headers, 1, "tools/call", &params));
        http
    };
    let mut calls: Vec<_> = ["alone", "pair", "mixed"]
        .into_iter()
        .flat_map(|name| (0..3).map(move |_| name))
        .map(|name| (name, begin(name)))
        .collect();
    let running = |name: &str| {
        let folder = scene.project.path("running").join(name);
        fs::read_dir(folder).map_or(0, Iterator::count)
    };
    wait_until("the calls to run that may", || {
        (["alone", "pair", "mixed"].map(running) == [1, 2, 3]).then_some(())
    });
    scene.project.open_gate();
    let mut most = BTreeMap::new();
    for (name, http) in &mut calls {
        let answer = http.response().json();
        let count: u32 = answer["result"]["content"][0]["text"].as_str().unwrap().trim().parse().unwrap();
        let most: &mut u32 = most.entry(*name).or_default();
        *most = count.max(*most);
    }
    assert_eq!(most, BTreeMap::from([("alone", 1), ("pair", 2), ("mixed", 3)]));
    server.finish();
}

#[test]
fn a_token_never_gets_more_than_it_says_by_its_role() {
    let scene = Scene::new();
    let wider = roles()
        .replace("tokens: [bob, both]", "tokens: [bob, both, narrow]")
        .replace("deploy_*]", "deploy_*, delete]");
    fs::write(scene.project.path("server.d/roles.yaml"), wider).unwrap();
    let server = scene.start();
    assert_eq!(scene.listed(&server, "bob", "tools"), ["delete", "deploy_api"]);
    assert_eq!(scene.listed(&server, "narrow", "tools"), ["deploy_api"]);
    assert!(scene.call(&server, "narrow", "delete").is_err());
    server.finish();
}

#[test]
fn rights_of_a_session_are_those_of_each_request_and_follow_the_file() {
    let scene = Scene::new();
    let server = scene.start();
    let bearer = scene.bearer("bob");
    let hello = initialize("2025-11-25", &json!({})).to_string();
    let greeted = server.send(&post(&[("Authorization", bearer)], &hello));
    let session = greeted.header("mcp-session-id").unwrap().to_owned();
    let headers = [("Authorization", bearer), ("Mcp-Session-Id", session.as_str())];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    server.send(&post(&headers, &ready));
    let call = || {
        let params = json!({ "name": "deploy_api", "arguments": {} });
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        let answer = server.send(&post(&headers, &message.to_string()));
        answer.json()["error"].is_null()
    };
    assert!(call());
    let file = scene.project.path("server.d/roles.yaml");
    fs::write(&file, roles().replace("[bob, both]", "[both]")).unwrap();
    wait_until("the role is gone", || (!call()).then_some(()));
    fs::write(&file, roles()).unwrap();
    wait_until("the role is back", || call().then_some(()));
    // A file that is broken, or that others could write, grants nothing.
    fs::write(&file, "roles: {").unwrap();
    wait_until("a broken file counts", || (!call()).then_some(()));
    fs::write(&file, roles()).unwrap();
    wait_until("the role is back", || call().then_some(()));
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    wait_until("a file that others can write counts for nothing", || (!call()).then_some(()));
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    wait_until("the role is back", || call().then_some(()));
    server.finish();
}

/// A session of that caller, by the headers of its requests.
fn session(scene: &Scene, server: &HttpServer, name: &str) -> [(&'static str, String); 2] {
    let bearer = scene.bearer(name);
    let hello = initialize("2025-11-25", &json!({})).to_string();
    let greeted = server.send(&post(&[("Authorization", bearer)], &hello));
    let id = greeted.header("mcp-session-id").unwrap().to_owned();
    let headers = [("Authorization", bearer.to_owned()), ("Mcp-Session-Id", id)];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    server.send(&post(&borrowed(&headers), &ready));
    headers
}

fn borrowed<'a>(headers: &'a [(&'static str, String); 2]) -> [(&'static str, &'a str); 2] {
    headers.each_ref().map(|(name, value)| (*name, value.as_str()))
}

#[test]
fn a_resource_that_another_caller_follows_stays_closed() {
    let scene = Scene::new();
    scene.project.write("resources/f.txt", "one");
    scene.project.write("resources/f.meta.json", r#"{"name": "f", "uri": "file://./resources/f.txt"}"#);
    let file = scene.project.path("server.d/roles.yaml");
    let with_file = roles().replace(r#"["notes://*"]"#, r#"["notes://*", "f"]"#);
    fs::write(&file, &with_file).unwrap();
    let server = scene.start();
    let (alice, bob) = (session(&scene, &server, "alice"), session(&scene, &server, "bob"));
    let subscribe = |headers: &[(&'static str, String); 2], uri: &str| {
        let message =
            json!({ "jsonrpc": "2.0", "id": uri, "method": "resources/subscribe", "params": { "uri": uri } });
        server.send(&post(&borrowed(headers), &message.to_string())).json()["error"].is_null()
    };
    assert!(subscribe(&alice, "other://a") && subscribe(&bob, "notes://a"));
    assert!(!subscribe(&bob, "other://a"), "it is not in the list of the caller");
    // The roles may change while a resource is followed.
    let uri = "file://./resources/f.txt";
    assert!(subscribe(&alice, uri) && subscribe(&bob, uri));
    let open = |headers: &[(&'static str, String); 2]| {
        let [one, two] = borrowed(headers);
        let mut http = server.connect();
        http.send(&request("GET", "/mcp", &[one, two, ("Accept", "text/event-stream")], b""));
        http.events()
    };
    let (mut of_alice, mut of_bob) = (open(&alice), open(&bob));
    let updated = |of: &mut Events| loop {
        let message = of.next_message().unwrap().message();
        if message["method"] == "notifications/resources/updated" {
            return message["params"]["uri"].as_str().unwrap().to_owned();
        }
        if message["method"] == "notifications/prompts/list_changed" {
            return "prompts".to_owned();
        }
    };
    scene.project.write("resources/f.txt", "two");
    assert_eq!((updated(&mut of_alice), updated(&mut of_bob)), (uri.to_owned(), uri.to_owned()));
    fs::write(&file, roles()).unwrap();
    let read = || scene.ask(&server, "bob", "resources/read", &json!({ "uri": uri }))["error"].is_object();
    wait_until("the role is gone", || read().then_some(()));
    scene.project.write("resources/f.txt", "three");
    assert_eq!(updated(&mut of_alice), uri);
    // The next that the other hears of is something else.
    scene.project.write("prompts/q.txt", "Ask");
    assert_eq!(updated(&mut of_bob), "prompts");
    drop((of_alice, of_bob));
    server.finish();
}

#[test]
fn a_server_with_a_wrong_file_does_not_start() {
    let scene = Scene::new();
    fs::write(scene.project.path("server.d/roles.yaml"), "roles:\n  viewer: {tool: [a]}\n").unwrap();
    let tokens = scene.tokens.to_str().unwrap();
    let root = scene.project.root().to_str().unwrap();
    let start = || {
        let words = ["serve", "--project-root", root, "--http", "127.0.0.1:0", "--tokens", tokens];
        Server::command().args(words).output().unwrap()
    };
    let output = start();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && words.contains("unknown field `tool`") && words.contains("line 2"),
        "{words}"
    );
    // Roles that are written never end as none.
    let file = scene.project.path("server.d/roles.yaml");
    fs::rename(&file, file.with_extension("yml")).unwrap();
    let words = String::from_utf8_lossy(&start().stderr).into_owned();
    assert!(words.contains("roles.yml` is not read; rename it to roles.yaml"), "{words}");
}

#[test]
fn the_command_shows_what_a_caller_may_do() {
    let scene = Scene::new();
    let root = scene.project.root().to_str().unwrap().to_owned();
    let run = |words: &[&str]| {
        let output = Server::command().args(words).args(["--project-root", &root]).output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (is_right, checked) = run(&["roles", "check"]);
    assert!(is_right && checked.contains("viewer: read-only; given to tokens alice, both"), "{checked}");
    assert!(checked.contains("Callers without a role may do nothing."), "{checked}");
    let (is_right, shown) = run(&["roles", "show", "--token-name", "both", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
    assert!(is_right);
    assert_eq!(shown["roles"], json!(["viewer", "deployer"]));
    assert_eq!(shown["tools"], json!(["deploy_api", "show"]));
    let (_, shown) = run(&["roles", "show", "--caller", "both"]);
    assert!(shown.contains("Tools      none"), "the name of a token is not that of another caller: {shown}");
    fs::write(scene.project.path("server.d/roles.yaml"), "roles: {a: {hours: now}}").unwrap();
    let (is_right, refused) = run(&["roles", "check"]);
    assert!(!is_right && refused.contains("role `a`: `now` are no hours"), "{refused}");
}
