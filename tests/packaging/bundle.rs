//! `bundle`: what is written, and that a client can start it.

use super::*;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

/// The command that a client makes of a manifest.
fn client_command(manifest: &Value, folder: &Path, answers: &[(&str, &str)]) -> Command {
    let filled = |text: &str| {
        let text = text.replace("${__dirname}", folder.to_str().unwrap());
        answers
            .iter()
            .fold(text, |text, (key, value)| text.replace(&format!("${{user_config.{key}}}"), value))
    };
    let configuration = &manifest["server"]["mcp_config"];
    let mut command = Command::new(filled(configuration["command"].as_str().unwrap()));
    command
        .env_clear()
        .args(configuration["args"].as_array().unwrap().iter().map(|word| filled(word.as_str().unwrap())));
    for (name, value) in configuration["env"].as_object().into_iter().flatten() {
        command.env(name, filled(value.as_str().unwrap()));
    }
    command
}

#[test]
fn a_bundle_starts_as_a_client_starts_it_and_its_secret_arrives() {
    let project = described().script("tools/keyed/tool.sh", "#!/bin/sh\necho \"${#API_KEY}\"\n").file(
        "tools/keyed/tool.meta.json",
        r#"{"name": "keyed", "description": "Counts the key", "secrets": {"API_KEY": "api-key"}}"#,
    );
    let output = TempDir::new().unwrap();
    let bundle = bundled(&project, &output);
    assert_eq!(bundle.file_name().unwrap(), "greeter-1.0.0.mcpb");
    let manifest = manifest(&bundle);
    let entry = &manifest["user_config"]["api_key"];
    assert_eq!(
        (&entry["sensitive"], &entry["required"], &entry["title"]),
        (&json!(true), &json!(true), &json!("Api Key"))
    );
    assert_eq!(
        manifest["tools"],
        json!([{"name": "hi", "description": "The tool hi"}, {"name": "keyed", "description": "Counts the key"}])
    );

    let unpacked = unpacked(&bundle);
    let home = TempDir::new().unwrap();
    fs::create_dir_all(home.path().join(".local/bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_mcp-bash"), home.path().join(".local/bin/mcp-bash")).unwrap();
    let mut command = client_command(&manifest, unpacked.path(), &[("api_key", "twelve-bytes")]);
    command.env("HOME", home.path()).env("PATH", "/usr/bin:/bin").current_dir("/");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let answer = server.ask_past_news("call", "tools/call", &json!({ "name": "keyed", "arguments": {} }));
    assert_eq!(answer["result"]["content"][0]["text"].as_str().unwrap().trim(), "12", "{answer}");
}

#[test]
fn a_launcher_without_a_program_says_what_to_install() {
    let output = TempDir::new().unwrap();
    let bundle = bundled(&described(), &output);
    let unpacked = unpacked(&bundle);
    let mut command = client_command(&manifest(&bundle), unpacked.path(), &[]);
    let said = said(command.env("HOME", "/nonexistent").env("PATH", "/bin"));
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("mcp-bash is not installed") && said.err.contains("~/.local/bin"), "{said:?}");
}

#[test]
fn variables_of_one_system_do_not_reach_the_other() {
    let output = TempDir::new().unwrap();
    let overrides =
        json!({ "darwin": { "env": { "OPENER": "open" } }, "linux": { "env": { "OPENER": "xdg-open" } } });
    let metadata = json!({ "name": "greeter", "description": "Greets", "author": { "name": "Ann" }, "platform_overrides": overrides });
    let project = described().file("server.d/server.meta.json", &metadata.to_string());
    let configuration = manifest(&bundled(&project, &output))["server"]["mcp_config"].clone();
    assert_eq!(configuration["platform_overrides"], overrides, "{configuration}");
    assert_eq!(configuration["env"], Value::Null);
    let program = program(output.path(), "9.9.9");
    let words =
        ["bundle", "--binary", program.to_str().unwrap(), "--output", output.path().to_str().unwrap()];
    assert_eq!(run(&project, &words).code, 0);
    let configuration =
        manifest(&output.path().join("greeter-1.0.0-linux-x86_64.mcpb"))["server"]["mcp_config"].clone();
    assert_eq!(configuration["env"]["OPENER"], "xdg-open", "{configuration}");
    assert_eq!(configuration["platform_overrides"], Value::Null);
}

#[test]
fn each_program_has_a_bundle_of_its_own() {
    let (project, output) = (described(), TempDir::new().unwrap());
    let program = program(output.path(), "9.9.9");
    let folder = output.path().join("new/dist");
    let words = ["bundle", "--binary", program.to_str().unwrap(), "--output", folder.to_str().unwrap()];
    let said = run(&project, &words);
    assert_eq!(said.code, 0, "{said:?}");
    let bundle = folder.join("greeter-1.0.0-linux-x86_64.mcpb");
    let manifest = manifest(&bundle);
    assert_eq!(manifest["server"]["entry_point"], "bin/mcp-bash");
    assert_eq!(manifest["compatibility"]["platforms"], json!(["linux"]));
    let bytes = fs::read(&bundle).unwrap();
    let packed = Archive::new(&bytes).unwrap().read("bin/mcp-bash", LIMIT).unwrap();
    assert_eq!(packed, fs::read(&program).unwrap());
    // The mode of Unix is in the upper half of the attributes, 8 bytes before the name in the directory.
    let mut names = bytes.windows(12).enumerate().filter(|(_, window)| *window == b"bin/mcp-bash");
    let name = names.next_back().unwrap().0;
    assert_eq!(u16::from_le_bytes([bytes[name - 6], bytes[name - 5]]), 0o100_755);
}

#[test]
fn the_same_project_gives_the_same_bytes() {
    let project = described();
    let [one, other] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let first = fs::read(bundled(&project, &one)).unwrap();
    fs::File::options()
        .write(true)
        .open(project.path("tools/hi/tool.sh"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_eq!(first, fs::read(bundled(&project, &other)).unwrap());
}

#[test]
fn an_existing_bundle_is_replaced_only_if_the_user_says_so() {
    let (project, output) = (described(), TempDir::new().unwrap());
    let bundle = bundled(&project, &output);
    fs::write(&bundle, "mine").unwrap();
    let words = ["bundle", "--no-binary", "--output", output.path().to_str().unwrap()];
    let refused = run(&project, &words);
    assert!(refused.code == 3 && refused.err.contains("--force"), "{refused:?}");
    assert_eq!(fs::read_to_string(&bundle).unwrap(), "mine");
    assert_eq!(run(&project, &[&words[..], &["--force"]].concat()).code, 0);
    assert_eq!(manifest(&bundle)["name"], "greeter");
    assert_eq!(fs::read_dir(output.path()).unwrap().count(), 1);
}

#[test]
fn nothing_is_left_where_nothing_can_be_written() {
    let (project, output) = (described(), TempDir::new().unwrap());
    // A file in the place of the folder stops root too, which no mode does.
    let blocked = output.path().join("file");
    fs::write(&blocked, "").unwrap();
    for folder in [blocked.join("dist"), "/proc/dist".into()] {
        let said = run(&project, &["bundle", "--no-binary", "--output", folder.to_str().unwrap()]);
        assert!(said.code == 1 && said.err.contains("failed to write"), "{said:?}");
    }
    let read_only = output.path().join("read-only");
    fs::create_dir(&read_only).unwrap();
    fs::set_permissions(&read_only, fs::Permissions::from_mode(0o555)).unwrap();
    let said = run(&project, &["bundle", "--no-binary", "--output", read_only.to_str().unwrap()]);
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(said.code == 0, is_root, "{said:?}");
    assert_eq!(fs::read_dir(output.path()).unwrap().count(), 2);
}

#[test]
fn checking_and_listing_write_nothing() {
    let project = described().file("tools/hi/.env", "KEY=1").file(".git/config", "");
    let checked = run(&project, &["bundle", "--no-binary", "--validate"]);
    assert_eq!(
        (checked.code, checked.out.starts_with("greeter 1.0.0 can be bundled: ")),
        (0, true),
        "{checked:?}"
    );
    let listed = run(&project, &["bundle", "--no-binary", "--dry-run", "--verbose"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    for expected in [
        "greeter-1.0.0.mcpb\n",
        "  server/tools/hi/tool.sh\n",
        "left out  tools/hi/.env (looks like a secret)",
        "\"manifest_version\": \"0.3\"",
    ] {
        assert!(listed.out.contains(expected), "{expected}: {listed:?}");
    }
    let left: Vec<_> =
        fs::read_dir(project.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("mcpb")), "{left:?}");
}

#[test]
fn platforms_and_programs_that_do_not_fit_are_refused() {
    let (project, folder) = (described(), TempDir::new().unwrap());
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let ours = text(program(folder.path(), "1.0.0"));
    let script = text(project.path("tools/hi/tool.sh"));
    let other = text(folder.path().join("other"));
    fs::write(&other, &fs::read(&ours).unwrap()[..120]).unwrap();
    for (words, code, said) in [
        (&["--platform", "win32"][..], 3, "there is no mcp-bash for Windows"),
        (&["--platform", "darwin", "--binary", &ours], 2, "is for linux"),
        (&["--platform", "all", "--binary", &ours], 2, "no program for darwin"),
        (&["--binary", &ours, "--binary", &ours], 2, "two programs are for linux-x86_64"),
        (&["--binary", &script], 2, "is no program for Linux or macOS"),
        (&["--binary", &other], 2, "is another program, not mcp-bash"),
        (&["--binary", "/nonexistent"], 1, "failed to read /nonexistent"),
        (&["--binary", &ours, "--no-binary"], 2, "cannot be used with"),
        (&["--no-binary", "--version", "1.0"], 1, "no semantic version"),
        (&["--no-binary", "--name", "a/b"], 1, "no name of a package"),
    ] {
        let refused = run(&project, &[&["bundle"], words].concat());
        assert!(refused.code == code && refused.err.contains(said), "{words:?}: {refused:?}");
    }
    let accepted = run(&project, &["bundle", "--no-binary", "--validate", "--include-gojq"]);
    assert!(accepted.code == 0 && accepted.err.contains("contains a jq"), "{accepted:?}");
}

/// Stand-ins: only their heads and the mark are those of programs for macOS.
#[test]
fn a_program_for_macos_is_packed_and_one_for_some_macs_is_noted() {
    const UNIVERSAL: &[u8] = b"\xca\xfe\xba\xbe\x00\x00\x00\x02";
    const ARM: &[u8] = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01";
    for (head, target) in [(UNIVERSAL, "universal"), (ARM, "arm64")] {
        let (project, folder, output) = (described(), TempDir::new().unwrap(), TempDir::new().unwrap());
        let program = marked_program(folder.path(), head.to_vec(), "1.0.0");
        let words = ["bundle", "--binary", program.to_str().unwrap(), "--platform", "darwin"];
        let made = run(&project, &[&words[..], &["--output", output.path().to_str().unwrap()]].concat());
        assert_eq!(made.code, 0, "{made:?}");
        let is_noted = made.err.contains("mcp-bash-1.0.0-universal-apple-darwin.tar.gz");
        assert_eq!(is_noted, target == "arm64", "{made:?}");
        let bundle = output.path().join(format!("greeter-1.0.0-darwin-{target}.mcpb"));
        assert_eq!(manifest(&bundle)["compatibility"]["platforms"], json!(["darwin"]));
        let bytes = fs::read(&bundle).unwrap();
        let packed = Archive::new(&bytes).unwrap().read("bin/mcp-bash", LIMIT).unwrap();
        assert!(packed == fs::read(&program).unwrap(), "the bundle holds another program");
    }
}
