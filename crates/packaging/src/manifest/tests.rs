//! Tests of manifests: what is made, and what is refused.

use super::*;
use crate::conf::Conf;

fn about(more: &Value) -> About {
    let mut meta = json!({ "description": "Lists issues", "author": "Ann" });
    meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    About::read(&Conf::default(), meta.as_object().unwrap()).unwrap()
}

fn made(about: &About, secrets: &[SecretInput], start: Start) -> Result<Manifest, PackagingError> {
    let tools = [Listed { name: "issues".into(), description: None }];
    Manifest::new(&ManifestFacts {
        about,
        name: "tracker",
        title: "Tracker",
        version: &Version::parse("1.0.0").unwrap(),
        long_description: None,
        tools: &tools,
        tools_generated: false,
        prompts: &[ListedPrompt { name: "triage".into(), description: None, text: "Look".into() }],
        prompts_generated: false,
        secrets,
        user_config: &about.user_config,
        icon: None,
        screenshots: &[],
        start,
    })
}

fn secret(name: &str, variable: &str) -> SecretInput {
    SecretInput {
        name: name.into(),
        title: "Github".into(),
        variable: variable.into(),
        users: vec!["tool issues".into()],
    }
}

#[test]
fn a_bundle_starts_its_own_program_with_its_own_project() {
    let manifest = made(&about(&json!({})), &[], Start::Program(Platform::Linux)).unwrap().json;
    assert_eq!(problems(&manifest), Vec::<String>::new());
    assert_eq!(
        manifest["server"],
        json!({
            "type": "binary", "entry_point": "bin/mcp-bash",
            "mcp_config": { "command": "${__dirname}/bin/mcp-bash", "args": ["--project-root", "${__dirname}/server"] },
        })
    );
    assert_eq!(manifest["compatibility"]["platforms"], json!(["linux"]));
    assert_eq!(
        (&manifest["tools"][0]["name"], &manifest["prompts"][0]["text"]),
        (&json!("issues"), &json!("Look"))
    );
    let both = Start::Launcher(vec![Platform::Darwin, Platform::Linux]);
    let manifest = made(&about(&json!({})), &[], both).unwrap().json;
    assert_eq!(manifest["server"]["mcp_config"]["command"], "/bin/sh");
    assert_eq!(problems(&manifest), Vec::<String>::new());
}

#[test]
fn secrets_are_asked_for_and_given_in_their_variables() {
    let secrets = [secret("git-hub", "GITHUB_TOKEN"), secret("own", "OWN")];
    let about = about(&json!({
        "user_config": {"git_hub": {"type": "directory", "title": "Folder"}, "mine": {"type": "string", "title": "T", "required": true}},
        "user_config_env_map": {"git_hub": "FOLDER", "mine": "OWN"},
    }));
    let made = made(&about, &secrets, Start::Program(Platform::Darwin)).unwrap();
    assert_eq!(problems(&made.json), Vec::<String>::new());
    let env = &made.json["server"]["mcp_config"]["env"];
    assert_eq!(
        *env,
        json!({"FOLDER": "${user_config.git_hub}", "OWN": "${user_config.mine}", "GITHUB_TOKEN": "${user_config.git_hub_}"})
    );
    let entry = &made.json["user_config"]["git_hub_"];
    assert_eq!((&entry["sensitive"], &entry["required"]), (&json!(true), &json!(true)));
    assert!(entry["description"].as_str().unwrap().contains("tool issues"), "{entry}");
    assert_eq!(made.json["user_config"]["git_hub"]["description"], "Folder");
    assert_eq!(made.notes.len(), 1, "{:?}", made.notes);
}

#[test]
fn what_the_format_requires_is_asked_for() {
    let lacks = |about: &About| made(about, &[], Start::Program(Platform::Linux)).unwrap_err();
    assert_eq!(
        lacks(&About { author: crate::Person::default(), ..about(&json!({})) }),
        PackagingError::NoAuthor
    );
    assert_eq!(lacks(&About { description: None, ..about(&json!({})) }), PackagingError::NoDescription);
    assert!(PackagingError::NoAuthor.to_string().contains("MCPB_AUTHOR_NAME in mcpb.conf"));
}

#[test]
fn wrong_manifests_are_refused_with_the_place() {
    let right = made(&about(&json!({})), &[], Start::Program(Platform::Linux)).unwrap().json;
    for (place, value, said) in [
        ("/version", json!("1.0"), "no semantic version"),
        ("/manifest_version", json!("0.4"), "expected one of 0.3"),
        ("/author", json!("Ann"), "`author`: expected an object"),
        ("/author", json!({}), "`author`: `name` is missing"),
        ("/author", json!({"name": "Ann", "email": "ann"}), "expected an e-mail address"),
        ("/repository", json!({"type": "git", "url": "git@github.com:a/b.git"}), "expected a URL"),
        ("/homepage", json!("https://"), "expected a URL"),
        ("/privacy_policies", json!(["x"]), "list of URLs"),
        ("/tools", json!([{"name": "x", "inputSchema": {}}]), "item 1: `inputSchema` is not known"),
        ("/prompts", json!([{"name": "x"}]), "item 1: `text` is missing"),
        ("/user_config", json!({"a": {"type": "secret", "title": "t"}}), "`a`: `description` is missing"),
        ("/server/mcp_config/env", json!({"A": "${user_config.none}"}), "`none`, which is not defined"),
        ("/compatibility", json!({"my_client": "1"}), "`my_client` is not known"),
        ("/compatibility/platforms", json!(["amiga"]), "some of darwin"),
        ("/_meta", json!({"a": "b"}), "`a`: expected an object"),
        ("/surprise", json!(1), "`surprise` is not known"),
        ("/description", json!(" "), "`description` is empty"),
    ] {
        let mut wrong = right.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[key] = value;
        let found = problems(&wrong);
        assert!(found.iter().any(|problem| problem.contains(said)), "{place}: {found:?}");
    }
    assert_eq!(problems(&json!([])), ["manifest.json: expected an object"]);
}
