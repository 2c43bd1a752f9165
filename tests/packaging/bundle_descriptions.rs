//! What a bundle says about itself: `mcpb.conf`, the metadata, pictures; and what is refused.

use super::*;
use serde_json::json;

/// The head of a PNG file is enough.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x02\x00\x00\x00\x02\x00\x08\x06\x00\x00\x00";

#[test]
fn everything_in_the_conf_reaches_the_manifest() {
    let project = described()
        .file(
            "mcpb.conf",
            "MCPB_NAME=\"renamed\"\nMCPB_VERSION='2.0.0-rc.1'\nMCPB_DESCRIPTION=\"Other words\"\nMCPB_AUTHOR_NAME=\"Bob\"\n\
             MCPB_AUTHOR_EMAIL=bob@example.com\nMCPB_AUTHOR_URL=https://example.com/bob\nMCPB_REPOSITORY=https://github.com/bob/x\n\
             MCPB_LICENSE=MIT\nMCPB_KEYWORDS=\"a b\"\nMCPB_HOMEPAGE=https://example.com\nMCPB_DOCUMENTATION=https://example.com/d\n\
             MCPB_SUPPORT=https://example.com/s\nMCPB_PRIVACY_POLICIES=https://example.com/p\nMCPB_COMPAT_CLAUDE_DESKTOP='>=0.10.0'\n\
             MCPB_RUNTIME_PYTHON='>=3.9'\nMCPB_RUNTIME_NODE='>=20'\nMCPB_LONG_DESCRIPTION_FILE=docs/long.md\n\
             MCPB_USER_CONFIG_FILE=user-config.json\nMCPB_USER_CONFIG_ENV_MAP=\"folder=DATA_FOLDER\"\nMCPB_STATIC=true\n",
        )
        .file("docs/long.md", "# Long\n")
        .file("user-config.json", r#"{"folder": {"type": "directory", "title": "Folder", "required": true}}"#)
        .file("prompts/triage.md", "Look at each issue.\n")
        .file("prompts/triage.meta.json", r#"{"name": "triage", "description": "How to triage"}"#);
    fs::write(project.path("icon.png"), PNG).unwrap();
    let output = TempDir::new().unwrap();
    let bundle = bundled(&project, &output);
    assert_eq!(bundle.file_name().unwrap(), "renamed-2.0.0-rc.1.mcpb");
    let manifest = manifest(&bundle);
    let expected = json!({
        "manifest_version": "0.3", "name": "renamed", "display_name": "Greeter", "version": "2.0.0-rc.1", "description": "Other words",
        "author": { "name": "Bob", "email": "bob@example.com", "url": "https://example.com/bob" },
        "server": {
            "type": "binary", "entry_point": "bin/run-server.sh",
            "mcp_config": {
                "command": "/bin/sh", "args": ["${__dirname}/bin/run-server.sh"], "env": { "DATA_FOLDER": "${user_config.folder}" },
            },
        },
        "tools": [{ "name": "hi", "description": "The tool hi" }], "tools_generated": false,
        "prompts": [{ "name": "triage", "text": "Look at each issue.\n", "description": "How to triage" }], "prompts_generated": false,
        "compatibility": {
            "platforms": ["darwin", "linux"], "claude_desktop": ">=0.10.0", "runtimes": { "python": ">=3.9", "node": ">=20" },
        },
        "long_description": "# Long\n", "homepage": "https://example.com", "documentation": "https://example.com/d",
        "support": "https://example.com/s", "icon": "icon.png", "license": "MIT",
        "repository": { "type": "git", "url": "https://github.com/bob/x" }, "keywords": ["a", "b"],
        "privacy_policies": ["https://example.com/p"],
        "user_config": { "folder": { "type": "directory", "title": "Folder", "required": true, "description": "Folder" } },
    });
    assert_eq!(manifest, expected);
    assert!(names(&bundle).contains(&"icon.png".to_owned()));
}

#[test]
fn a_conf_that_would_run_something_is_refused_and_not_run() {
    for text in
        ["MCPB_NAME=$(touch ran)\n", "MCPB_NAME=\"`touch ran`\"\n", "MCPB_NAME=x; touch ran\n", "touch ran\n"]
    {
        let project = described().file("mcpb.conf", text);
        let refused = run(&project, &["bundle", "--no-binary", "--validate"]);
        assert!(refused.code == 1 && refused.err.contains("mcpb.conf:1: "), "{text}: {refused:?}");
        assert!(!project.path("ran").exists());
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let meta = |more: &str| format!(r#"{{"name": "x", "description": "d", "author": "Ann", {more}}}"#);
    let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    for ((file, text), said) in [
        (
            named("server.d/server.meta.json", r#"{"name": "x", "description": "d"}"#),
            "MCPB_AUTHOR_NAME in mcpb.conf",
        ),
        (named("server.d/server.meta.json", r#"{"name": "x", "author": "Ann"}"#), "needs a description"),
        (named("server.d/server.meta.json", &meta(r#""version": "1.0""#)), "`1.0` is no semantic version"),
        (named("server.d/server.meta.json", &meta(r#""license": 7"#)), "`license` is not usable"),
        (
            named("server.d/server.meta.json", &meta(r#""repository": "git@github.com:a/b""#)),
            "`repository`: `url`: expected a URL",
        ),
        (
            named("server.d/server.meta.json", &meta(r#""user_config_env_map": {"none": "X"}"#)),
            "`none`, which is not defined",
        ),
        (
            named(
                "server.d/server.meta.json",
                &meta(r#""user_config": {"a": {"type": "text", "title": "t"}}"#),
            ),
            "`a`: `type`: expected one of",
        ),
        (
            named("server.d/server.meta.json", &meta(r#""screenshots": ["shot.png"]"#)),
            "failed to read the picture shot.png",
        ),
        (
            named("server.d/server.meta.json", &meta(r#""screenshots": ["../shot.png"]"#)),
            "leads out of the project",
        ),
        (
            named("server.d/server.meta.json", &meta(r#""long_description_file": "/etc/passwd""#)),
            "leads out of the project",
        ),
        (named("icon.png", "<svg/>"), "icon.png is no PNG file"),
        (named("mcpb.conf", "MCPB_USER_CONFIG_FILE=VERSION"), "VERSION cannot be used"),
    ] {
        let project = described().file(&file, &text);
        let refused = run(&project, &["bundle", "--no-binary", "--validate"]);
        assert!(refused.code == 1 && refused.err.contains(said), "{text}: {refused:?}");
    }
}

#[test]
fn a_secret_with_a_place_of_its_own_is_not_asked_for() {
    let project = described()
        .script("tools/keyed/tool.sh", "#!/bin/sh\n")
        .file(
            "tools/keyed/tool.meta.json",
            r#"{"name": "keyed", "description": "d", "secrets": {"A": "one", "B": "two"}}"#,
        )
        .file(
            "server.d/server.meta.json",
            r#"{"name": "x", "description": "d", "author": "Ann",
                "secrets": {"one": {"env": "OTHER"}, "two": {"file": "/etc/two"}}}"#,
        );
    let output = TempDir::new().unwrap();
    let manifest = manifest(&bundled(&project, &output));
    assert_eq!(manifest["server"]["mcp_config"]["env"], json!({ "OTHER": "${user_config.one}" }));
    let said = run(&project, &["bundle", "--no-binary", "--validate"]);
    assert!(said.err.contains("the secret `two` is not asked for"), "{said:?}");
}
