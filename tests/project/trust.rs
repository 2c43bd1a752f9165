//! Files that other users may have written are neither run nor trusted, wherever they are and however they
//! are reached.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

/// The reason why a call of `hi` is refused. None if it runs.
fn refusal(project: &Project, environment: &[(&str, &str)]) -> Option<String> {
    let mut server = ready(project.root(), environment);
    server.call(1, "hi");
    why(&server.receive())
}

/// A server that sends absolute paths to its client.
fn ready(root: &Path, environment: &[(&str, &str)]) -> Server {
    let whole_paths = [("MCPBASH_LOG_VERBOSE", "true")];
    let environment: Vec<_> = whole_paths.iter().chain(environment).copied().collect();
    Server::ready_with(root, &environment, "2025-11-25")
}

fn why(answer: &Value) -> Option<String> {
    answer["error"]["message"].as_str().map(str::to_owned)
}

/// Whether the reason is that this folder or file is group- or world-writable.
fn blames(refusal: Option<String>, path: &Path) -> bool {
    let words = format!("{} is writable by its group or by everyone", path.display());
    refusal.is_some_and(|refusal| refusal.contains(&words))
}

const HI: &str = "#!/bin/sh\necho hi\n";

/// A project whose only tool is a link to a script elsewhere, and that other place.
fn linked() -> (Project, Project) {
    let elsewhere = Project::new().script("outer/inner/real.sh", HI);
    let project = Project::with_hi();
    fs::remove_file(project.path("tools/hi/tool.sh")).unwrap();
    symlink(elsewhere.path("outer/inner/real.sh"), project.path("tools/hi/tool.sh")).unwrap();
    (project, elsewhere)
}

#[test]
fn all_folders_above_a_script_outside_the_project_are_checked() {
    let (project, elsewhere) = linked();
    assert_eq!(refusal(&project, &[]), None);
    for folder in ["outer/inner", "outer"] {
        for mode in [0o775, 0o757, 0o777] {
            set_mode(elsewhere.path(folder), mode);
            assert!(blames(refusal(&project, &[]), &elsewhere.path(folder)), "{folder} {mode:o}");
        }
        set_mode(elsewhere.path(folder), 0o755);
    }
    // In a sticky folder such as `/tmp`, users can create entries but not replace those of others.
    set_mode(elsewhere.path("outer"), 0o1777);
    assert_eq!(refusal(&project, &[]), None);
    // The script's own folder must not be writable by others, sticky or not.
    set_mode(elsewhere.path("outer/inner"), 0o1777);
    assert!(blames(refusal(&project, &[]), &elsewhere.path("outer/inner")));
}

#[test]
fn folders_of_intermediate_links_are_checked_too() {
    let (project, elsewhere) = linked();
    // tool.sh points to `crossing/link`, which points to `outer/inner`.
    fs::create_dir_all(elsewhere.path("crossing")).unwrap();
    symlink("../outer/inner", elsewhere.path("crossing/link")).unwrap();
    fs::remove_file(project.path("tools/hi/tool.sh")).unwrap();
    symlink(elsewhere.path("crossing/link/real.sh"), project.path("tools/hi/tool.sh")).unwrap();
    assert_eq!(refusal(&project, &[]), None);
    set_mode(elsewhere.path("crossing"), 0o777);
    assert!(blames(refusal(&project, &[]), &elsewhere.path("crossing")));
    set_mode(elsewhere.path("crossing"), 0o755);
    // A user who can write here controls where `tool.sh` points, even if the current target is fine.
    set_mode(project.path("tools"), 0o777);
    let real = project.root().canonicalize().unwrap();
    assert!(blames(refusal(&project, &[]), &real.join("tools")));
}

#[test]
fn a_linked_folder_is_checked_at_its_target() {
    let elsewhere = Project::with_hi();
    let project = Project::new();
    symlink(elsewhere.path("tools"), project.path("tools")).unwrap();
    assert_eq!(refusal(&project, &[]), None);
    set_mode(elsewhere.root(), 0o777);
    assert!(blames(refusal(&project, &[]), elsewhere.root()));
}

#[test]
fn links_inside_the_project_are_checked_up_to_the_project_root() {
    let outer = Project::new();
    let root = outer.path("shared/project");
    fs::create_dir_all(root.join("tools/hi")).unwrap();
    fs::create_dir_all(root.join("lib")).unwrap();
    let outer = outer
        .script("shared/project/lib/hi.sh", HI)
        .file("shared/project/tools/hi/tool.meta.json", r#"{"name": "hi"}"#);
    symlink("../../lib/hi.sh", root.join("tools/hi/tool.sh")).unwrap();
    // The user who started the server chose the folder, so the folders above it are not checked.
    set_mode(outer.path("shared"), 0o777);
    let mut server = ready(&root, &[]);
    server.call(1, "hi");
    assert_eq!(why(&server.receive()), None);
    set_mode(root.join("lib"), 0o777);
    server.call(2, "hi");
    assert!(blames(why(&server.receive()), &root.join("lib")));
}

/// A project with a script of each kind, in folders outside it.
fn all_elsewhere() -> (Project, Project) {
    let elsewhere = Project::with_hi()
        .script(
            "tools/team.sh",
            "#!/bin/sh\n[ \"$1\" = list ] && echo '{\"name\":\"provided\",\"inputSchema\":{}}'\n",
        )
        .script("prompts/asked.sh", "#!/bin/sh\n# mcp: {\"name\": \"asked\"}\necho asked\n")
        .script("prompts/asked.completion", "#!/bin/sh\necho '[\"a\"]'\n")
        .script("providers/own.sh", "#!/bin/sh\necho own\n")
        .file("resources/own.meta.json", r#"{"name": "own", "uri": "own://x"}"#);
    (Project::new(), elsewhere)
}

#[test]
fn scripts_of_all_kinds_in_configured_folders_are_checked_alike() {
    let (project, elsewhere) = all_elsewhere();
    let folder = |name: &str| elsewhere.path(name).to_str().unwrap().to_owned();
    let folders = [
        ("MCPBASH_TOOLS_DIR", folder("tools")),
        ("MCPBASH_PROMPTS_DIR", folder("prompts")),
        ("MCPBASH_PROVIDERS_DIR", folder("providers")),
        ("MCPBASH_RESOURCES_DIR", folder("resources")),
    ];
    let environment: Vec<_> = folders.iter().map(|(name, folder)| (*name, &**folder)).collect();
    let answers = || {
        let mut server = ready(project.root(), &environment);
        let listed = server.ask(0, "tools/list", &json!({}))["result"]["tools"].to_string();
        let completion = json!({
            "ref": { "type": "ref/prompt", "name": "asked" },
            "argument": { "name": "x", "value": "" },
        });
        let mut ask = |method: &str, params: &Value| why(&server.ask(method, method, params));
        let refusals = [
            ask("tools/call", &json!({ "name": "hi", "arguments": {} })),
            ask("prompts/get", &json!({ "name": "asked" })),
            ask("completion/complete", &completion),
            ask("resources/read", &json!({ "uri": "own://x" })),
        ];
        (listed.contains("provided"), refusals)
    };
    let (provides, refusals) = answers();
    assert!(provides);
    assert_eq!(refusals, [const { None }; 4]);
    set_mode(elsewhere.root(), 0o777);
    // Output from before the change of mode is forgotten, so the provider would have to run again.
    if project.path(".registry").exists() {
        fs::remove_dir_all(project.path(".registry")).unwrap();
    }
    let (provides, refusals) = answers();
    assert!(!provides, "an executable is not even asked what it provides");
    for refusal in refusals {
        assert!(blames(refusal.clone(), elsewhere.root()), "{refusal:?}");
    }
}

/// A project whose registry differs from its files, with a server that trusts registries.
fn forged() -> Project {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.args(["registry", "refresh", "--project-root"]).arg(project.root());
    assert!(command.output().expect("the binary runs").status.success());
    let forged = project.read(".registry/tools.json").replace("The tool hi", "Forged");
    project.file(".registry/tools.json", &forged)
}

/// The description of `hi`, and the standard error.
fn described(project: &Project, environment: &[(&str, &str)]) -> (String, String) {
    let mut server = ready(project.root(), environment);
    let list = server.ask(1, "tools/list", &json!({}));
    let described = list["result"]["tools"][0]["description"].as_str().unwrap().to_owned();
    (described, server.finish())
}

#[test]
fn a_group_or_world_writable_registry_is_not_trusted() {
    for environment in [&[][..], &[("MCPBASH_STATIC_REGISTRY", "true")]] {
        for (path, mode) in [
            (".registry", 0o777),
            (".registry", 0o775),
            (".registry/tools.json", 0o666),
            (".registry/.tools.stamps", 0o666),
            (".", 0o777),
        ] {
            let project = forged();
            assert_eq!(described(&project, environment).0, "Forged");
            set_mode(project.path(path), mode);
            let (description, said) = described(&project, environment);
            assert_eq!(description, "The tool hi", "{path}");
            let is_told =
                |line: &str| line.contains("the project read instead") && line.contains("chmod go-w");
            assert_eq!(said.lines().filter(|line| is_told(line)).count(), 1, "{path}: {said}");
        }
    }
}

#[test]
fn folders_above_a_registry_outside_the_project_are_checked() {
    let (project, elsewhere) = (forged(), Project::new());
    fs::create_dir(elsewhere.path("open")).unwrap();
    fs::rename(project.path(".registry"), elsewhere.path("open/registry")).unwrap();
    let registry = elsewhere.path("open/registry");
    let environment = [("MCPBASH_REGISTRY_DIR", registry.to_str().unwrap())];
    assert_eq!(described(&project, &environment).0, "Forged");
    symlink(&registry, project.path(".registry")).unwrap();
    assert_eq!(described(&project, &[]).0, "Forged");
    set_mode(elsewhere.path("open"), 0o777);
    for environment in [&environment[..], &[]] {
        assert_eq!(described(&project, environment).0, "The tool hi");
    }
}

#[test]
fn a_registry_is_written_with_trusted_modes_whatever_the_umask() {
    let project = Project::with_hi();
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" registry refresh --project-root \"$1\""]);
    command.arg(env!("CARGO_BIN_EXE_mcp-bash")).arg(project.root());
    assert!(command.output().expect("a shell").status.success());
    let mode = |path: &str| project.path(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".registry"), mode(".registry/tools.json")), (0o755, 0o644));
    // In a group- or world-writable folder no registry is written: it would not be trusted.
    set_mode(project.path(".registry"), 0o777);
    let mut command = Server::command();
    let output =
        command.args(["registry", "refresh", "--project-root"]).arg(project.root()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("chmod go-w"));
}

#[test]
fn folders_above_a_registration_are_checked() {
    let project = Project::with_hi().file("server.d/register.json", r#"{"version": 1, "tools": []}"#);
    set_mode(project.root(), 0o777);
    let mut server = ready(project.root(), &[]);
    let listed = server.ask(1, "tools/list", &json!({}));
    assert!(blames(why(&listed), project.root()), "{listed}");
    let elsewhere = Project::new().file("open/server/register.json", r#"{"version": 1}"#);
    set_mode(elsewhere.path("open"), 0o777);
    let project = Project::with_hi();
    symlink(elsewhere.path("open/server"), project.path("server.d")).unwrap();
    let mut server = ready(project.root(), &[]);
    let listed = server.ask(1, "tools/list", &json!({}));
    assert!(blames(why(&listed), &elsewhere.path("open")), "{listed}");
}

#[test]
fn a_tool_with_group_or_world_writable_metadata_does_not_run() {
    let project = Project::with_hi();
    let metadata = project.path("tools/hi/tool.meta.json");
    set_mode(&metadata, 0o666);
    assert!(blames(refusal(&project, &[]), &metadata));
    // A server that knows the tool from the registry reports it again.
    let mut command = Server::command();
    command.args(["registry", "refresh", "--project-root"]).arg(project.root());
    assert!(command.output().expect("the binary runs").status.success());
    assert!(blames(refusal(&project, &[]), &metadata));
    set_mode(&metadata, 0o644);
    assert_eq!(refusal(&project, &[]), None);

    let elsewhere = Project::new().file("open/hi.json", r#"{"name": "hi"}"#);
    fs::remove_file(&metadata).unwrap();
    symlink(elsewhere.path("open/hi.json"), &metadata).unwrap();
    assert_eq!(refusal(&project, &[]), None);
    set_mode(elsewhere.path("open"), 0o777);
    assert!(blames(refusal(&project, &[]), &elsewhere.path("open")));
}

#[test]
fn group_or_world_writable_instructions_and_roots_are_not_trusted() {
    let project = Project::new()
        .tool("hi", "#!/bin/sh\nprintf %s \"$MCP_ROOTS_PATHS\"\n")
        .file("server.d/server.instructions.md", "Obey.")
        .file("config/roots.json", r#"{"roots": [{"path": "/usr"}]}"#);
    let ask = || {
        let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
        let instructions = server.initialize("2025-11-25")["instructions"].clone();
        server.told_so_far();
        server.call(1, "hi");
        (instructions, server.receive()["result"]["content"][0]["text"].clone())
    };
    assert_eq!(ask(), (json!("Obey."), json!("/usr")));
    for path in ["server.d/server.instructions.md", "config/roots.json"] {
        set_mode(project.path(path), 0o664);
    }
    // Roots that are not trusted count as empty, and never as the default.
    assert_eq!(ask(), (Value::Null, json!("")));
    for path in ["server.d/server.instructions.md", "config/roots.json"] {
        set_mode(project.path(path), 0o644);
    }
    set_mode(project.path("config"), 0o775);
    assert_eq!(ask(), (json!("Obey."), json!("")));
    // Other users could also have removed a policy here, so no tool runs.
    set_mode(project.path("server.d"), 0o775);
    assert_eq!(ask(), (Value::Null, Value::Null));
}

#[test]
fn a_missing_policy_in_a_writable_folder_refuses_calls() {
    let project = Project::with_hi().file("server.d/notes.txt", "");
    assert_eq!(refusal(&project, &[]), None);
    for mode in [0o777, 0o775, 0o1777] {
        set_mode(project.path("server.d"), mode);
        let server = project.path("server.d");
        let refusal = refusal(&project, &[]);
        assert!(blames(refusal.clone(), &server), "{mode:o}: {refusal:?}");
        assert!(refusal.unwrap().contains(&format!("(mode {mode:04o}); run `chmod go-w`")));
    }
    set_mode(project.path("server.d"), 0o755);
    assert_eq!(refusal(&project, &[]), None);

    // The parent folder of a missing `server.d` counts too, even for a script outside the project.
    let (project, elsewhere) = linked();
    assert_eq!(refusal(&project, &[]), None);
    fs::create_dir_all(project.path("bin")).unwrap();
    let tools = elsewhere.path("tools");
    fs::create_dir_all(tools.join("hi")).unwrap();
    fs::copy(elsewhere.path("outer/inner/real.sh"), tools.join("hi/tool.sh")).unwrap();
    fs::write(tools.join("hi/tool.meta.json"), r#"{"name": "hi"}"#).unwrap();
    let environment = [("MCPBASH_TOOLS_DIR", tools.to_str().unwrap())];
    assert_eq!(refusal(&project, &environment), None);
    set_mode(project.root(), 0o777);
    assert!(blames(refusal(&project, &environment), project.root()));
    set_mode(project.root(), 0o755);

    // So does the target of a link.
    let elsewhere = Project::new().file("server/notes.txt", "");
    symlink(elsewhere.path("server"), project.path("server.d")).unwrap();
    assert_eq!(refusal(&project, &environment), None);
    set_mode(elsewhere.path("server"), 0o777);
    assert!(blames(refusal(&project, &environment), &elsewhere.path("server")));
}

#[test]
fn missing_policies_and_roots_in_a_writable_folder_are_not_trusted() {
    let project = Project::new()
        .script("prompts/asked.sh", "#!/bin/sh\n# mcp: {\"name\": \"asked\"}\necho asked\n")
        .file("server.d/notes.txt", "");
    let ask = || quiet(&project).ask(1, "prompts/get", &json!({ "name": "asked" }));
    assert!(ask()["result"].is_object());
    set_mode(project.path("server.d"), 0o777);
    let message = why(&ask()).unwrap();
    assert!(message.contains("others could have removed server.d/policy.yaml"), "{message}");
    assert!(blames(Some(message), &project.path("server.d")));

    let project =
        Project::new().tool("hi", "#!/bin/sh\nprintf %s \"$MCP_ROOTS_PATHS\"\n").file("config/notes.txt", "");
    let roots = || {
        let mut server = quiet(&project);
        server.call(1, "hi");
        server.receive()["result"]["content"][0]["text"].clone()
    };
    assert_ne!(roots(), "");
    set_mode(project.path("config"), 0o777);
    assert_eq!(roots(), "");
}

/// A project whose functions import a module beside them.
fn importing() -> Project {
    Project::new()
        .file(
            "tools/hi.py",
            "from mcp_bash import tool\nimport _greetings\n\n@tool\ndef hi() -> str:\n    \"\"\"Greets.\"\"\"\n    return _greetings.TEXT\n",
        )
        .file("tools/_greetings.py", "open('ran', 'w').close()\nTEXT = 'hi'\n")
}

/// The same in Node.js.
fn importing_in_node() -> Project {
    Project::new()
        .file(
            "tools/hi.mjs",
            "import { tool } from 'mcp-bash'\nimport { TEXT } from './_greetings.mjs'\n\
             export const hi = tool('Greets.', {}, () => TEXT)\n",
        )
        .file(
            "tools/_greetings.mjs",
            "import fs from 'fs'\nfs.writeFileSync('ran', '')\nexport const TEXT = 'hi'\n",
        )
}

#[test]
fn a_group_or_world_writable_module_is_neither_run_nor_served() {
    for (project, module) in
        [(importing(), "tools/_greetings.py"), (importing_in_node(), "tools/_greetings.mjs")]
    {
        let calls = |server: &mut Server| {
            // The server announces a file that it has just stopped to serve, or serves again.
            let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
            answer["result"].is_object() && answer["result"]["isError"] != true
        };
        for mode in [0o666, 0o664] {
            // When it is first loaded.
            set_mode(project.path(module), mode);
            assert!(!calls(&mut quiet(&project)), "{module}");
            assert!(!project.path("ran").exists(), "{module} was not even loaded");
            let said = health(&project);
            let words = format!("{module} is writable by its group or by everyone (mode {mode:04o})");
            assert!(said.contains(&words), "{said}");
            // While it is served, and afterwards.
            set_mode(project.path(module), 0o644);
            let mut server = quiet(&project);
            assert!(calls(&mut server), "{module}");
            fs::remove_file(project.path("ran")).unwrap();
            set_mode(project.path(module), mode);
            assert!(!calls(&mut server), "{module}");
            drop(server);
            assert!(!calls(&mut quiet(&project)), "{module}");
            assert!(!project.path("ran").exists(), "{module} was not loaded again");
        }
    }
}

fn quiet(project: &Project) -> Server {
    ready(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")])
}

fn health(project: &Project) -> String {
    let output = Server::command().args(["health", "--project-root"]).arg(project.root()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_group_or_world_writable_pycache_is_not_trusted() {
    let project = importing();
    fs::create_dir(project.path("tools/__pycache__")).unwrap();
    set_mode(project.path("tools/__pycache__"), 0o777);
    let listed = quiet(&project).ask(1, "tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"], json!([]));
    assert!(health(&project).contains("__pycache__ is writable"), "{}", health(&project));
}

#[test]
fn a_group_or_world_writable_interpreter_does_not_run() {
    let found = Command::new("sh").args(["-c", "command -v python3"]).output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    let python = format!("#!/bin/sh\nexec {} \"$@\"\n", found.trim_end());
    let project = importing()
        .script(".venv/bin/python3", &python)
        .file(".venv/pyvenv.cfg", "")
        .file(".venv/lib/python3/site-packages/own.pth", "");
    symlink("python3", project.path(".venv/bin/python")).unwrap();
    let answer = || {
        let mut server = quiet(&project);
        server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }))
    };
    let is_refused = |answer: &Value| answer["error"].is_object() || answer["result"]["isError"] == true;
    assert!(!is_refused(&answer()), "{}", answer());
    for (path, usual, open) in [
        (".venv/bin/python3", 0o755, 0o777),
        (".venv/bin/python3", 0o755, 0o775),
        (".venv/pyvenv.cfg", 0o644, 0o666),
        (".venv/lib", 0o755, 0o777),
        (".venv/lib/python3/site-packages", 0o755, 0o775),
        (".venv/lib/python3/site-packages/own.pth", 0o644, 0o646),
        (".venv", 0o755, 0o777),
    ] {
        set_mode(project.path(path), open);
        assert!(is_refused(&answer()), "{path}: {}", answer());
        // Reported at the call if it is cached, otherwise when it is loaded.
        let told = format!("{}{}", answer(), health(&project));
        assert!(told.contains("is writable by its group or by everyone"), "{path}: {told}");
        set_mode(project.path(path), usual);
    }
    assert!(!is_refused(&answer()));

    // The target of a link outside is checked too.
    let elsewhere = Project::new().script("open/python3", &python);
    fs::remove_file(project.path(".venv/bin/python3")).unwrap();
    symlink(elsewhere.path("open/python3"), project.path(".venv/bin/python3")).unwrap();
    assert!(!is_refused(&answer()));
    set_mode(elsewhere.path("open"), 0o777);
    assert!(is_refused(&answer()), "{}", answer());
    assert!(blames(Some(format!("{}{}", answer(), health(&project))), &elsewhere.path("open")));
}

#[test]
fn group_or_world_writable_programs_of_the_project_are_not_on_the_path() {
    let project = Project::new()
        .tool("hi", "#!/usr/bin/env bash\ngreeter\n")
        .script(".venv/bin/greeter", "#!/bin/sh\necho hi\n")
        .script("node_modules/.bin/other", "#!/bin/sh\necho hi\n");
    let answer = || {
        let mut server = quiet(&project);
        server.ask(1, "tools/call", &json!({ "name": "hi" }))["result"]["isError"].clone()
    };
    assert_ne!(answer(), true);
    set_mode(project.path(".venv/bin/greeter"), 0o777);
    assert_eq!(answer(), true);
    let said = health(&project);
    assert!(said.contains("greeter is writable"), "{said}");
}

#[test]
fn group_or_world_writable_node_packages_are_not_loaded() {
    let project = Project::new()
        .file(
            "tools/hi.mjs",
            "import { tool } from 'mcp-bash'\nexport const hi = tool('Greets.', {}, () => 'hi')\n",
        )
        .file("node_modules/dependency/index.js", "");
    let listed = || {
        let mut server = quiet(&project);
        server.ask(1, "tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len()
    };
    assert_eq!(listed(), 1);
    fs::remove_dir_all(project.path(".registry")).ok();
    set_mode(project.path("node_modules"), 0o777);
    assert_eq!(listed(), 0);
    let said = health(&project);
    assert!(said.contains("node_modules is writable"), "{said}");
}

#[test]
fn an_sdk_copy_that_other_users_can_enter_is_replaced() {
    let cache = Project::new();
    let path = || {
        let mut command = Server::command();
        let output = command.arg("sdk-path").env("XDG_CACHE_HOME", cache.root()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Path::new(String::from_utf8(output.stdout).unwrap().trim_end()).to_owned()
    };
    let sdk = path();
    let home = sdk.parent().unwrap();
    set_mode(home, 0o755);
    set_mode(sdk.join("tool-sdk.sh"), 0o666);
    assert_eq!(path(), sdk);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(home), mode(&sdk.join("tool-sdk.sh"))), (0o700, 0o644));
}

/// Only root can change the owner of a file, so only root can run this.
#[test]
fn files_of_another_owner_are_not_trusted() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let stranger = Some(rustix::fs::Uid::from_raw(54321));
    let give = |path: &Path| rustix::fs::chown(path, stranger, None).expect("root may give files away");
    let (project, elsewhere) = linked();
    give(&elsewhere.path("outer"));
    assert!(refusal(&project, &[]).unwrap().contains("outer belongs to another user"));
    let project = forged();
    give(&project.path(".registry/tools.json"));
    assert_eq!(described(&project, &[]).0, "The tool hi");
    let project = forged();
    give(&project.path(".registry"));
    assert_eq!(described(&project, &[]).0, "The tool hi");
    let project = importing();
    give(&project.path("tools/_greetings.py"));
    let listed = quiet(&project).ask(1, "tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"], json!([]));
    assert!(health(&project).contains("_greetings.py belongs to another user (uid 54321)"));
    let project = Project::with_hi();
    give(&project.path("tools/hi/tool.meta.json"));
    let mut server = ready(project.root(), &[]);
    server.call(1, "hi");
    assert_eq!(code(&server.receive()), -32602);
}
