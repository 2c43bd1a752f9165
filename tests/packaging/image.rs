//! `image`: the Containerfile of a project and its ignore file. No image is built: `packaging/project-image/test` checks the file with a linter.

use super::*;

#[test]
fn an_image_has_what_the_scripts_need() {
    let folder = TempDir::new().unwrap();
    let project = described()
        .script("tools/py/tool.py", "#!/usr/bin/env python3\nprint(1)\n")
        .file("tools/py/tool.meta.json", r#"{"name": "py", "description": "d"}"#)
        .file(
            "tools/pack/tool.meta.json",
            r#"{"name": "pack", "description": "d", "command": ["zstd", "--version"]}"#,
        )
        .file(
            "server.d/requirements.json",
            r#"{"dependencies": [{"name": "curl"}, {"or": ["rg", "grep"]}, "frobnicate"]}"#,
        )
        .file("requirements.txt", "requests==2.32.0\n")
        .file("tools/hi/.env", "KEY=1");
    let program = program(folder.path(), "1.0.0");
    let vendored = run(&project, &["vendor", "--binary", program.to_str().unwrap()]);
    assert_eq!(vendored.code, 0, "{vendored:?}");
    let said = run(&project, &["image"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("which Debian package has `frobnicate`"), "{said:?}");
    let text = project.read("Containerfile");
    for expected in [
        "--no-install-recommends curl ca-certificates python3 ripgrep zstd \\\n",
        "COPY --chmod=0755 [\".mcp-bash/mcp-bash\",\"/usr/local/bin/mcp-bash\"]\n",
        "COPY requirements.txt ./\n",
        "LABEL io.modelcontextprotocol.server.name=\"io.github.ann/greeter\"\n",
        "\nUSER 10001:10001\n",
        "HEALTHCHECK",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let ignored = project.read(".dockerignore");
    assert!(
        ignored.contains("\n**/.[eE][nN][vV]\n") && ignored.ends_with("!.mcp-bash/mcp-bash\n"),
        "{ignored}"
    );
    let again = run(&project, &["image"]);
    assert!(again.code == 3 && again.err.contains("--force"), "{again:?}");
    assert_eq!(run(&project, &["image", "--force"]).code, 0);
}

#[test]
fn a_plain_project_needs_no_package() {
    let project = described();
    let said = run(&project, &["image", "--dry-run"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("apt-get") && said.out.contains("ARG MCP_BASH_IMAGE\n"), "{said:?}");
    assert!(said.err.contains("MCP_BASH_IMAGE"), "{said:?}");
    assert!(!project.path("Containerfile").exists());
    let elsewhere = TempDir::new().unwrap();
    assert_eq!(run(&project, &["image", "-q", "--output", elsewhere.path().to_str().unwrap()]).code, 0);
    assert!(elsewhere.path().join("Containerfile.dockerignore").exists());
}

#[test]
fn a_program_that_an_image_cannot_use_is_refused() {
    let (project, folder) = (described(), TempDir::new().unwrap());
    let outside = program(folder.path(), "1.0.0");
    let refused = run(&project, &["image", "--binary", outside.to_str().unwrap()]);
    assert!(refused.code == 2 && refused.err.contains("is outside the project"), "{refused:?}");
    let mut bytes = fs::read(&outside).unwrap();
    bytes[64] = 3;
    fs::write(project.path("dynamic"), bytes).unwrap();
    let refused = run(&project, &["image", "--binary", project.path("dynamic").to_str().unwrap()]);
    assert!(refused.code == 2 && refused.err.contains("is no static program for Linux"), "{refused:?}");
    for (file, text, said) in [
        ("package.json", "{", "package.json"),
        ("server.d/requirements.json", "[", "requirements.json cannot be used"),
    ] {
        let broken = described().file(file, text);
        let refused = run(&broken, &["image", "--dry-run"]);
        assert!(refused.code == 1 && refused.err.contains(said), "{refused:?}");
    }
}
