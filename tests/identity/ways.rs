//! Ways in which callers are known: groups and claims reach functions and the policy, and the audit log says which way it was.

use super::certificates::Stage;
use super::issuer::{Issuer, Mood, RESOURCE, Signer};
use super::opaque_tokens::secret_in;
use super::proxies::{KEY, signature};
use super::tokens::call;
use crate::harness::Project;
use crate::harness::http::{HttpServer, stateless_with};
use rcgen::DnType;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The words are those of the audit log and of policies.
const WAYS: [&str; 4] = ["jwt", "introspection", "proxy", "certificate"];

struct Person {
    name: &'static str,
    groups: &'static [&'static str],
}

const ALICE: Person = Person { name: "alice", groups: &["dev", "ops"] };
const BOB: Person = Person { name: "bob", groups: &["dev"] };
const CAROL: Person = Person { name: "carol", groups: &["ops"] };

/// A server that knows its callers in one way, and has an audit log.
struct Scene {
    way: &'static str,
    issuer: Issuer,
    key: Signer,
    folder: tempfile::TempDir,
    serving: Serving,
}

enum Serving {
    Plain(HttpServer),
    Tls(Box<Stage>),
}

/// The settings and arguments of a server that knows callers by an issuer.
fn by_issuer(issuer: &Issuer, folder: &Path) -> ([String; 4], [(&'static str, String); 5]) {
    let url = issuer.url();
    let settings = [
        ("MCPBASH_HTTP_GROUPS_CLAIM", "groups".to_owned()),
        ("MCPBASH_HTTP_PASSED_CLAIMS", "email".to_owned()),
        ("MCPBASH_HTTP_INTROSPECTION_URL", format!("{url}/introspect")),
        ("MCPBASH_HTTP_INTROSPECTION_CLIENT", "mcp".to_owned()),
        ("MCPBASH_HTTP_INTROSPECTION_SECRET", secret_in(folder)),
    ];
    (["--issuer".to_owned(), url, "--resource".to_owned(), RESOURCE.to_owned()], settings)
}

/// The settings of a server that knows callers by the signature of a proxy.
fn by_proxy(folder: &Path) -> [(&'static str, String); 3] {
    let key = folder.join("key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    [
        ("MCPBASH_HTTP_PROXY_HEADER", "X-Forwarded-User".to_owned()),
        ("MCPBASH_HTTP_PROXY_GROUPS_HEADER", "X-Forwarded-Groups".to_owned()),
        ("MCPBASH_HTTP_PROXY_KEY", key.to_str().unwrap().to_owned()),
    ]
}

fn audited(project: Project, folder: &Path, arguments: &[String], settings: &[(&str, String)]) -> HttpServer {
    let log = folder.join("audit.jsonl");
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--audit", log.to_str().unwrap()]);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    HttpServer::start_with(&project.into_folder(), &arguments, &settings)
}

fn records(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("audit.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// These fields of a record, as a list.
fn chosen(record: &Value, fields: &[&str]) -> Value {
    fields.iter().map(|field| record[*field].clone()).collect()
}

impl Scene {
    fn new(way: &'static str, project: Project) -> Self {
        let (key, folder) = (Signer::new("1"), tempfile::tempdir().unwrap());
        let issuer = Issuer::start(&[&key]);
        let serving = match way {
            "certificate" => Serving::Tls(Box::new(Stage::of(project, &[]))),
            "proxy" => Serving::Plain(audited(project, folder.path(), &[], &by_proxy(folder.path()))),
            _ => {
                let (arguments, settings) = by_issuer(&issuer, folder.path());
                Serving::Plain(audited(project, folder.path(), &arguments, &settings))
            }
        };
        Self { way, issuer, key, folder, serving }
    }

    /// The answer to a call of that person, without arguments.
    fn call(&self, person: &Person, tool: &str) -> Value {
        let Person { name, groups } = person;
        let server = match &self.serving {
            Serving::Plain(server) => server,
            Serving::Tls(stage) => {
                // A certificate has one unit.
                let unit = *groups.last().unwrap();
                let shown = stage.authority.issue(name, 2, |made| {
                    made.distinguished_name.push(DnType::OrganizationalUnitName, unit);
                });
                let (_, text) = stage.call(tool, Some(&shown), &[]).unwrap();
                let (start, end) = (text.find("{\"jsonrpc\"").unwrap(), text.rfind('}').unwrap());
                return serde_json::from_str(&text[start..=end]).unwrap();
            }
        };
        if self.way == "proxy" {
            let groups = groups.join(",");
            let signed = signature(KEY, name, &groups);
            let headers = [
                ("X-Forwarded-User", *name),
                ("X-Forwarded-Groups", groups.as_str()),
                ("Mcp-Proxy-Signature", signed.as_str()),
            ];
            let params = json!({ "name": tool, "arguments": {} });
            return server.send(&stateless_with(&headers, 1, "tools/call", &params)).json();
        }
        let mut claims = self.issuer.claims_with("sub", *name);
        claims["groups"] = json!(groups);
        claims["email"] = json!(format!("{name}@example.com"));
        if self.way == "jwt" {
            return call(server, &self.key.token(&claims), tool).json();
        }
        claims["active"] = json!(true);
        self.issuer.set_opaque(name, claims);
        call(server, name, tool).json()
    }

    fn name_of(&self, person: &Person) -> String {
        let source = if self.has_claims() { self.issuer.url() } else { self.way.to_owned() };
        format!("{source} {}", person.name)
    }

    fn groups_of(&self, person: &Person) -> Value {
        let first = if self.way == "certificate" { person.groups.len() - 1 } else { 0 };
        json!(person.groups[first..])
    }

    fn has_claims(&self) -> bool {
        matches!(self.way, "jwt" | "introspection")
    }

    /// Ends the server: the records of its audit log.
    fn records(self) -> Vec<Value> {
        match self.serving {
            Serving::Tls(stage) => stage.records(),
            Serving::Plain(server) => {
                server.finish();
                records(self.folder.path())
            }
        }
    }
}

#[test]
fn groups_and_claims_reach_functions() {
    let python = "from mcp_bash import context, tool\n\n@tool\ndef of_python() -> dict:\n    call = context()\n    return {'name': call.caller, 'groups': list(call.caller_groups), 'claims': dict(call.caller_claims)}\n";
    let node = "import { caller, callerClaims, callerGroups, tool } from 'mcp-bash'\n\nexport const of_node = tool('x', {}, () => ({ name: caller(), groups: callerGroups(), claims: callerClaims() }))\n";
    for way in WAYS {
        let project = Project::new().file("tools/of_python.py", python).file("tools/of_node.mjs", node);
        let scene = Scene::new(way, project);
        for person in [ALICE, BOB] {
            let email = format!("{}@example.com", person.name);
            let claims = if scene.has_claims() { json!({ "email": email }) } else { json!({}) };
            let expected = json!({
                "name": scene.name_of(&person), "groups": scene.groups_of(&person), "claims": claims,
            });
            for tool in ["of_python", "of_node"] {
                let answer = scene.call(&person, tool);
                assert_eq!(answer["result"]["structuredContent"], expected, "{way} {tool}: {answer}");
            }
        }
    }
}

const POLICY: &str = "version: 1
default: allow
rules:
  - name: for-ops
    when: tool.name == 'guarded' && !('ops' in caller.groups)
    deny: Only for ops.
  - name: by-mail
    when: \"tool.name == 'guarded' && caller.known_by in ['jwt', 'introspection'] && !(has(caller.claims.email) && caller.claims.email == 'alice@example.com')\"
    deny: Only for Alice.
";

#[test]
fn the_policy_decides_by_groups_and_claims_and_the_audit_log_says_how_the_caller_is_known() {
    for way in WAYS {
        let project =
            Project::new().file("server.d/policy.yaml", POLICY).tool("guarded", "#!/bin/sh\necho ran\n");
        let scene = Scene::new(way, project);
        let mut expected = Vec::new();
        let of_carol = if scene.has_claims() {
            ("Blocked by policy: Only for Alice.", json!("by-mail"))
        } else {
            ("ran", Value::Null)
        };
        let of_bob = ("Blocked by policy: Only for ops.", json!("for-ops"));
        for (person, (said, rule)) in [(ALICE, ("ran", Value::Null)), (BOB, of_bob), (CAROL, of_carol)] {
            let answer = scene.call(&person, "guarded");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert_eq!(text.trim_end(), said, "{way} {}: {answer}", person.name);
            let (outcome, error) = match said {
                "ran" => ("success", Value::Null),
                _ => ("refused", json!("policy")),
            };
            expected.push(json!([
                scene.name_of(&person),
                way,
                scene.groups_of(&person),
                outcome,
                error,
                rule
            ]));
        }
        let records = scene.records();
        let calls = records.iter().filter(|record| record["event.name"] == "mcp.tools.call");
        let fields =
            ["caller.name", "caller.known_by", "caller.groups", "outcome", "error.type", "policy.rule"];
        let recorded: Vec<Value> = calls.map(|record| chosen(record, &fields)).collect();
        assert_eq!(recorded, expected);
    }
}

#[test]
fn refusals_of_callers_that_others_vouch_for_are_in_the_audit_log() {
    let project = Project::with_hi()
        .file("tools/save/tool.meta.json", r#"{"name": "save", "scopes": ["files:write"]}"#)
        .script("tools/save/tool.sh", "#!/bin/sh\necho saved\n");
    let key = Signer::new("1");
    let (issuer, folder) = (Issuer::start(&[&key]), tempfile::tempdir().unwrap());
    let (arguments, of_issuer) = by_issuer(&issuer, folder.path());
    let required = [("MCPBASH_HTTP_REQUIRED_SCOPES", "mcp".to_owned())];
    let settings = [&of_issuer[..], &by_proxy(folder.path()), &required].concat();
    let server = audited(project, folder.path(), &arguments, &settings);
    let token = |scope: &str| key.token(&issuer.claims_with("scope", scope));
    assert_eq!(call(&server, &token("mcp"), "save").status, 403);
    assert_eq!(call(&server, &token("files:write"), "save").status, 403);
    let named = [("X-Forwarded-User", "alice")];
    let params = json!({ "name": "hi", "arguments": {} });
    assert_eq!(server.send(&stateless_with(&named, 1, "tools/call", &params)).status, 403);
    issuer.set_mood(Mood::Gone);
    assert_eq!(call(&server, "opaque", "hi").status, 503);
    server.finish();
    let records = records(folder.path());
    let requests = records.iter().filter(|record| record["outcome"].is_string());
    let fields = ["event.name", "outcome", "error.type", "caller.known_by", "client.address"];
    let recorded: Vec<Value> = requests.map(|record| chosen(record, &fields)).collect();
    let failed = |error: &str| json!(["mcp.login.failed", "refused", error, null, "127.0.0.1"]);
    assert_eq!(
        recorded,
        [
            json!(["mcp.tools.call", "refused", "scopes", "jwt", "127.0.0.1"]),
            failed("scopes"),
            failed("forbidden"),
            failed("issuer_unreachable"),
        ]
    );
}
