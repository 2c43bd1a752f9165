//! Resources, templates and prompts that are functions: listed, read and filled in like any other.

use crate::functions::quiet;
use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

const READS: &str = r#"from mcp_bash import NotFound, assistant, prompt, resource, user

@resource("py://config", mime_type="application/json")
def config() -> dict:
    """The configuration."""
    print("read")
    return {"debug": True}

@resource("py://users/{name}")
def profile(name: str) -> str:
    """A person."""
    if name == "nobody":
        raise NotFound("there is nobody")
    if name == "broken":
        raise ValueError("no such\nperson")
    return f"This is {name}."

@prompt
def letter(name: str, tone: str = "kind") -> list:
    """A letter."""
    return [user(f"Write a {tone} letter to {name}."), assistant(f"Dear {name},")]
"#;

const IN_NODE: &str = r"import { NotFound, assistant, prompt, resource, user } from 'mcp-bash'
export const config = resource('node://config', { name: 'node_config', mimeType: 'application/json', description: 'The configuration.' }, () => {
  console.log('read')
  return { debug: true }
})
export const profile = resource('node://users/{name}', { name: 'node_profile', description: 'A person.' }, ({ name }) => {
  if (name === 'nobody') throw new NotFound('there is nobody')
  if (name === 'broken') throw new Error('no such\nperson')
  return `This is ${name}.`
})
export const letter = prompt({ name: 'node_letter', description: 'A letter.', input: { name: 'string', tone: 'string?' } }, ({ name, tone = 'kind' }) => [
  user(`Write a ${tone} letter to ${name}.`), assistant(`Dear ${name},`),
])
";

fn project() -> Project {
    Project::new().file("tools/reads.py", READS).file("tools/reads.mjs", IN_NODE)
}

/// The answer to a request. List changes may be announced before it.
fn ask(server: &mut Server, method: &str, params: &Value) -> Value {
    server.request("ask", method, params);
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            return message;
        }
    }
}

fn listed<'a>(answer: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let items = answer["result"][list].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| item[key].as_str().unwrap()).collect()
}

#[test]
fn resources_and_templates_are_listed_and_read() {
    let project = project();
    let mut server = quiet(&project);
    let resources = ask(&mut server, "resources/list", &json!({}));
    assert_eq!(listed(&resources, "resources", "uri"), ["py://config", "node://config"]);
    assert_eq!(
        resources["result"]["resources"][0],
        json!({ "uri": "py://config", "provider": "function", "name": "config", "description": "The configuration.", "mimeType": "application/json" })
    );
    let templates = ask(&mut server, "resources/templates/list", &json!({}));
    assert_eq!(
        listed(&templates, "resourceTemplates", "uriTemplate"),
        ["node://users/{name}", "py://users/{name}"]
    );
    for language in ["py", "node"] {
        let mut read = |path: &str| {
            ask(&mut server, "resources/read", &json!({ "uri": format!("{language}://{path}") }))
        };
        let config = read("config");
        let [contents] = &config["result"]["contents"].as_array().unwrap()[..] else { panic!("{config}") };
        assert_eq!(contents["mimeType"], "application/json");
        let held: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(held, json!({ "debug": true }));
        let person = read("users/Zo%C3%AB");
        assert_eq!(person["result"]["contents"][0]["text"], "This is Zoë.", "{person}");
        let nobody = read("users/nobody");
        assert!([-32002, -32602].contains(&code(&nobody)), "{nobody}");
        assert!(nobody["error"]["message"].as_str().unwrap().contains("there is nobody"), "{nobody}");
        let broken = read("users/broken");
        assert_eq!(code(&broken), -32603);
        let message = broken["error"]["message"].as_str().unwrap();
        assert!(message.contains("Error: no such person (") && message.contains("reads."), "{message}");
        assert!([-32002, -32602].contains(&code(&read("nowhere"))));
    }
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let project = project();
    let mut server = quiet(&project);
    let prompts = ask(&mut server, "prompts/list", &json!({}));
    assert_eq!(listed(&prompts, "prompts", "name"), ["letter", "node_letter"]);
    for name in ["letter", "node_letter"] {
        let mut get = |arguments: Value| {
            ask(&mut server, "prompts/get", &json!({ "name": name, "arguments": arguments }))
        };
        let filled = get(json!({ "name": "Zoë", "tone": "stern" }));
        assert_eq!(
            filled["result"]["messages"],
            json!([
                { "role": "user", "content": { "type": "text", "text": "Write a stern letter to Zoë." } },
                { "role": "assistant", "content": { "type": "text", "text": "Dear Zoë," } },
            ])
        );
        assert!(get(json!({ "name": "Zoë" })).to_string().contains("Write a kind letter"));
        assert_eq!(code(&get(json!({}))), -32602);
    }
}

#[test]
fn they_are_read_without_a_session_too() {
    let project = project();
    let mut server = Server::start(project.root());
    for language in ["py", "node"] {
        let params = json!({ "uri": format!("{language}://users/Ada"), "_meta": stateless_meta() });
        let person = ask(&mut server, "resources/read", &params);
        assert_eq!(person["result"]["contents"][0]["text"], "This is Ada.", "{person}");
    }
    let params = json!({ "name": "letter", "arguments": { "name": "Ada" }, "_meta": stateless_meta() });
    let filled = ask(&mut server, "prompts/get", &params);
    assert_eq!(filled["result"]["messages"][1]["content"]["text"], "Dear Ada,", "{filled}");
}

#[test]
fn a_changed_file_is_announced_for_each_kind() {
    let project = Project::new().file("tools/reads.py", READS);
    let mut server = quiet(&project);
    assert_eq!(listed(&ask(&mut server, "prompts/list", &json!({})), "prompts", "name"), ["letter"]);
    project.wait_for_file(".registry/functions.json");
    project.write(
        "tools/reads.py",
        &READS.replace("def letter", "def epistle").replace("py://config", "py://settings"),
    );
    let mut announced =
        [server.receive(), server.receive()].map(|message| message["method"].as_str().unwrap().to_owned());
    announced.sort();
    assert_eq!(announced, ["notifications/prompts/list_changed", "notifications/resources/list_changed"]);
    assert_eq!(listed(&ask(&mut server, "prompts/list", &json!({})), "prompts", "name"), ["epistle"]);
    let settings = ask(&mut server, "resources/read", &json!({ "uri": "py://settings" }));
    assert!(settings["result"]["contents"][0]["text"].as_str().unwrap().contains("debug"), "{settings}");
}
