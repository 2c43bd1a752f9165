//! Tests of registry entries: what is made, and what the registry would refuse.

use super::*;

/// A remote with everything that can be declared.
fn remote() -> Value {
    json!({
        "type": "streamable-http",
        "url": "https://{tenant}.example.com/mcp",
        "variables": { "tenant": { "description": "Your account", "isRequired": true, "choices": ["a", "b"] } },
        "headers": [{
            "name": "Authorization", "value": "Bearer {key}", "isRequired": true, "isSecret": true,
            "variables": { "key": { "description": "A key", "isSecret": true, "format": "string", "placeholder": "k-…" } },
        }],
    })
}

/// A package with everything that can be declared.
fn package() -> Value {
    json!({
        "registryType": "oci",
        "identifier": "ghcr.io/ann/tracker:1.0.0",
        "runtimeHint": "docker",
        "runtimeArguments": [
            { "type": "named", "name": "-v", "value": "{folder}:/project", "isRepeated": false,
              "variables": { "folder": { "format": "filepath", "isRequired": true } } },
        ],
        "packageArguments": [
            { "type": "positional", "value": "serve" },
            { "type": "positional", "valueHint": "port", "default": "8080", "format": "number" },
        ],
        "environmentVariables": [{ "name": "TOKEN", "isSecret": true }],
        "transport": {
            "type": "streamable-http", "url": "http://127.0.0.1:{port}/mcp",
            "headers": [{ "name": "Authorization", "value": "Bearer x" }],
        },
    })
}

fn entry() -> Entry {
    Entry {
        name: "io.github.ann/tracker".into(),
        title: Some("Tracker".into()),
        description: "Lists issues".into(),
        version: "1.0.0".into(),
        repository: Some("https://github.com/ann/tracker".into()),
        packages: vec![PackageFacts {
            url: "https://github.com/ann/tracker/releases/download/v1.0.0/tracker-1.0.0-linux-x86_64.mcpb"
                .into(),
            sha256: "a".repeat(64),
        }],
        declared_packages: vec![json!({ "registryType": "npm", "identifier": "tracker" })],
        remotes: vec![remote()],
        variables: vec![VariableFacts {
            name: "TOKEN".into(),
            description: None,
            is_secret: true,
            is_required: true,
        }],
        ..Entry::default()
    }
}

#[test]
fn an_entry_has_packages_remotes_and_variables() {
    let json = entry().json();
    assert_eq!(problems(&json), Vec::<String>::new());
    assert_eq!(json["repository"], json!({ "url": "https://github.com/ann/tracker", "source": "github" }));
    let [bundle, npm] = &json["packages"].as_array().unwrap()[..] else { panic!("{json}") };
    assert!(bundle.get("version").is_none() && bundle["fileSha256"].is_string(), "{bundle}");
    assert_eq!((&npm["version"], &npm["transport"]["type"]), (&json!("1.0.0"), &json!("stdio")));
    for package in [bundle, npm] {
        assert_eq!(
            package["environmentVariables"][0],
            json!({ "name": "TOKEN", "isRequired": true, "isSecret": true })
        );
    }
}

#[test]
fn packages_and_remotes_are_passed_on_as_they_are_declared() {
    let declared = Entry { declared_packages: vec![package()], ..entry() };
    let json = declared.json();
    assert_eq!(problems(&json), Vec::<String>::new());
    assert_eq!((&json["packages"][1], &json["remotes"][0]), (&package(), &remote()));
}

#[test]
fn each_wrong_input_is_named_by_its_place() {
    for (pointer, value, said) in [
        ("/remotes/0/variables", json!([]), "`remotes[0].variables`: expected an object, with"),
        ("/remotes/0/variables", json!({}), "`remotes[0]`: `url` contains {tenant}"),
        ("/remotes/0/variables/tenant", json!("x"), "`remotes[0].variables.tenant`: expected an object"),
        ("/remotes/0/variables/tenant/choices", json!([1]), "`choices` must be a list of texts"),
        ("/remotes/0/headers", json!({ "Authorization": "x" }), "`remotes[0].headers`: expected a list"),
        ("/remotes/0/headers/0", json!({ "value": "x" }), "`remotes[0].headers[0]`: it has no `name`"),
        (
            "/remotes/0/headers/0",
            json!({ "name": "x", "is_secret": true }),
            "`remotes[0].headers[0]`: the key `is_secret` is not known",
        ),
        ("/remotes/0/headers/0/isSecret", json!("yes"), "`isSecret` must be true or false"),
        (
            "/remotes/0/headers/0/variables/key/format",
            json!("text"),
            "`format` must be one of string, number",
        ),
        ("/remotes/0/headers/0/value", json!(1), "`remotes[0].headers[0]`: `value` must be a text"),
        ("/packages/1/runtimeArguments", json!("-v"), "`packages[1].runtimeArguments`: expected a list"),
        ("/packages/1/runtimeArguments/0/type", json!("flag"), "`type` must be positional or named"),
        (
            "/packages/1/runtimeArguments/0/name",
            json!(""),
            "`packages[1].runtimeArguments[0]`: it has no `name`",
        ),
        (
            "/packages/1/packageArguments/0",
            json!({ "type": "positional" }),
            "needs a `value`, or a `valueHint`",
        ),
        ("/packages/1/packageArguments/0", json!("serve"), "`packages[1].packageArguments[0]`"),
        ("/packages/1/packageArguments/1/valueHint", json!("p"), "`url` contains {port}, and nothing"),
        ("/packages/1/runtimeHint", json!(1), "`runtimeHint` must be a text"),
        ("/packages/1/environmentVariables", json!({ "TOKEN": "x" }), "`packages[1].environmentVariables`"),
        (
            "/packages/1/transport/headers",
            json!([7]),
            "`packages[1].transport.headers[0]`: expected an object",
        ),
    ] {
        let mut wrong = Entry { declared_packages: vec![package()], ..entry() }.json();
        *wrong.pointer_mut(pointer).expect(pointer) = value;
        let found = problems(&wrong);
        assert!(found.iter().any(|problem| problem.contains(said)), "{pointer} {said}: {found:?}");
    }
}

#[test]
fn names_and_urls_come_from_the_repository() {
    let name = |repository: &str| Entry::name_of(repository, "x");
    assert_eq!(name("https://github.com/Ann/tracker").as_deref(), Some("io.github.Ann/x"));
    assert_eq!((name("https://gitlab.com/ann/x"), name("https://github.com/")), (None, None));
    let url = |repository: &str| Entry::release_url(repository, "1.0.0", "x.mcpb");
    let expected = "https://github.com/a/b/releases/download/v1.0.0/x.mcpb";
    assert_eq!(url("https://github.com/a/b.git").as_deref(), Some(expected));
    assert_eq!(url("https://github.com/a/b/").as_deref(), Some(expected));
    assert_eq!((url("https://github.com/a"), url("https://example.com/a/b")), (None, None));
}

#[test]
fn the_inputs_of_a_bundle_are_variables() {
    let manifest = json!({
        "server": { "mcp_config": { "env": { "TOKEN": "${user_config.t}", "PLAIN": "x", "LOST": "${user_config.none}" } } },
        "user_config": { "t": { "description": "A token", "sensitive": true, "required": true } },
    });
    let expected = VariableFacts {
        name: "TOKEN".into(),
        description: Some("A token".into()),
        is_secret: true,
        is_required: true,
    };
    assert_eq!(variables_of_manifest(&manifest), [expected]);
    assert_eq!(variables_of_manifest(&json!([1])), []);
}

#[test]
fn what_the_registry_would_refuse_is_named() {
    let right = entry().json();
    let bundle = |key: &str, value: Value| {
        let mut package = right["packages"][0].clone();
        package[key] = value;
        json!([package])
    };
    for (place, value, said) in [
        ("name", json!("tracker"), "NAMESPACE/NAME"),
        ("name", json!("a/b/c"), "NAMESPACE/NAME"),
        ("name", json!("io.github.ä/x"), "NAMESPACE/NAME"),
        ("description", json!("x".repeat(101)), "and it has 101"),
        ("description", json!(""), "and it has 0"),
        ("version", json!("^1.0.0"), "no range"),
        ("version", json!("1.x"), "no range"),
        ("version", json!("latest"), "no range"),
        ("title", json!("x".repeat(101)), "1 to 100"),
        ("websiteUrl", json!("http://x.example"), "https://"),
        ("repository", json!({ "url": "git@github.com:a/b", "source": "github" }), "URL of a repository"),
        ("packages", json!({}), "expected a list"),
        ("packages", json!(["x"]), "expected an object"),
        (
            "packages",
            json!([{ "registryType": "apt", "identifier": "x", "transport": { "type": "stdio" } }]),
            "one of mcpb",
        ),
        (
            "packages",
            json!([{ "registryType": "npm", "identifier": "x", "version": "latest", "transport": { "type": "stdio" } }]),
            "one version",
        ),
        (
            "packages",
            json!([{ "registryType": "oci", "identifier": "ghcr.io/a/b", "transport": { "type": "stdio" } }]),
            "a tag or a digest",
        ),
        (
            "packages",
            json!([{ "registryType": "oci", "identifier": "ghcr.io/a/b:1", "version": "1", "transport": { "type": "stdio" } }]),
            "in `identifier`",
        ),
        ("packages", bundle("version", json!("1.0.0")), "must not have `version`"),
        (
            "packages",
            bundle("registryBaseUrl", json!("https://github.com")),
            "must not have `registryBaseUrl`",
        ),
        ("packages", bundle("fileSha256", json!("xyz")), "64 hexadecimal digits"),
        ("packages", bundle("identifier", json!("https://example.com/x.mcpb")), "no file of a release"),
        (
            "packages",
            bundle("identifier", json!("https://github.com/a/b/blob/main/x.mcpb")),
            "no file of a release",
        ),
        (
            "packages",
            bundle("identifier", json!("https://github.com/a/b/releases/download/v1/x.zip")),
            "must contain \"mcp\"",
        ),
        ("packages", bundle("transport", json!({ "type": "carrier-pigeon" })), "must have a `type`"),
        ("packages", bundle("transport", json!({ "type": "sse" })), "has no `url`"),
        ("packages", bundle("environmentVariables", json!([{}])), "has no `name`"),
        ("packages", bundle("surprise", json!(1)), "`surprise` is not known"),
        ("remotes", json!([{ "type": "stdio", "url": "https://x.example" }]), "streamable-http or sse"),
        ("remotes", json!([{ "type": "sse", "url": "http://x.example" }]), "begin with https://"),
        ("remotes", json!([{ "type": "sse", "url": "https://127.0.0.1/mcp" }]), "on this machine"),
        (
            "remotes",
            json!([{ "type": "sse", "url": "https://x.example", "header": [] }]),
            "`header` is not known",
        ),
    ] {
        let mut wrong = right.clone();
        wrong[place] = value;
        let found = problems(&wrong);
        assert!(found.iter().any(|problem| problem.contains(said)), "{place} {said}: {found:?}");
    }
    let empty = json!({ "name": "a/b", "description": "x", "version": "1.0.0" });
    assert!(problems(&empty)[0].contains("neither a package nor a remote"));
    let gitlab = bundle("identifier", json!("https://gitlab.com/a/g/b/-/releases/v1/downloads/x.mcpb"));
    assert_eq!(
        problems(&json!({ "name": "a/b", "description": "x", "version": "1", "packages": gitlab })),
        Vec::<String>::new()
    );
}
