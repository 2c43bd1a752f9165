//! `mcp-bash validate`: what is wrong with a project, who refuses what, what nobody reaches, and safe repairs. Paths stand
//! below the project, which is `…` here.

mod common_mistakes;

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Server::command();
    command.arg("validate").args(arguments).current_dir(folder);
    command.output().expect("the binary runs")
}

/// The exit code, and what is printed on standard output.
fn validate(project: &Project, arguments: &[&str]) -> (i32, String) {
    let output = run(project.root(), arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let root = project.root().canonicalize().expect("a folder");
    (output.status.code().expect("an exit code"), text.replace(root.to_str().expect("a name"), "…"))
}

/// All findings, each with its remedy on a line of its own, without the beginning, the sound entries and the end.
fn findings(project: &Project) -> String {
    let (_, text) = validate(project, &["--quiet"]);
    let body = text
        .strip_prefix("Validating project at ……\n\n")
        .or(text.strip_prefix("Validating project at …...\n\n"));
    let body = body.unwrap_or_else(|| panic!("{text}"));
    let end = body.rfind("\n\n").map_or(0, |end| end + 1);
    body[..end].to_owned()
}

fn report(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let (code, text) = validate(project, &[&["--json"], arguments].concat());
    (code, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn mode(project: &Project, path: &str) -> u32 {
    fs::metadata(project.path(path)).expect("a file").permissions().mode() & 0o777
}

fn set_mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), Permissions::from_mode(mode)).expect("permissions");
}

/// A project of one tool that clients have nothing against.
fn with_hi() -> Project {
    let metadata = r#"{"name": "hi", "description": "The tool hi", "annotations": {"readOnlyHint": true}}"#;
    Project::with_hi().file("tools/hi/tool.meta.json", metadata)
}

/// A project whose tool `x` has this schema of arguments, from line 5 on.
fn with_schema(schema: &str) -> Project {
    let metadata = format!(
        "{{\n  \"name\": \"x\",\n  \"description\": \"X\",\n  \"inputSchema\":\n{schema},\n\
         \"annotations\": {{\"readOnlyHint\": true}} }}\n"
    );
    Project::new().script("tools/x/tool.sh", "#!/bin/sh\n").file("tools/x/tool.meta.json", &metadata)
}

fn with_name(name: &str) -> Project {
    let metadata =
        json!({ "description": "X", "name": name, "annotations": { "readOnlyHint": true } }).to_string();
    Project::new().script("tools/x/tool.sh", "#!/bin/sh\n").file("tools/x/tool.meta.json", &metadata)
}

fn rich() -> Project {
    with_hi()
        .file("server.d/server.meta.json", r#"{"name": "rich", "version": "2.0.0"}"#)
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "letter", "path": "completions/l.sh"}]}"#,
        )
        .script("completions/l.sh", "#!/bin/sh\necho '[]'\n")
        .file("prompts/letter.txt", "Write to {{name}}.")
        .file("prompts/README.md", "Prompts.")
        .file("resources/note.txt", "A note")
        .file("resources/day.meta.json", r#"{"name": "day", "uriTemplate": "day://{date}"}"#)
        .script("providers/day.sh", "#!/bin/sh\necho day\n")
        .file("tools/hi/README.md", "How to say hi")
        .file("tools/hi/tests/hi.yaml", "- arguments: {}\n")
        .file("tools/hi/tests/check.py", "print(1)\n")
        .file("tools/hi/node_modules/x/index.js", "x")
        .file("tools/hi/__pycache__/x.py", "x")
        .file("LICENSE", "MIT")
}

#[test]
fn a_good_project_passes_strictly() {
    let expected = "Validating project at …...\n\n\
        ✓ server.d/server.meta.json - valid\n\
        ✓ tools/hi/tool.sh - valid (tool hi)\n\
        ✓ prompts/letter.txt - valid (prompt letter)\n\
        ✓ resources/day.meta.json - valid (template day)\n\
        ✓ resources/note.txt - valid (resource note)\n\
        ✓ completions/l.sh - valid (completion letter)\n\n\
        All checks passed (warnings: 0).\n";
    assert_eq!(validate(&rich(), &["--strict"]), (0, expected.to_owned()));
    assert_eq!(
        validate(&rich(), &["-q"]),
        (0, "Validating project at …...\n\n\nAll checks passed (warnings: 0).\n".to_owned())
    );
}

#[test]
fn our_own_examples_pass_strictly() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = Project::new();
    for path in [
        "server.d/server.meta.json",
        "tools/countdown/tool.meta.json",
        "tools/getting-started/tool.meta.json",
    ] {
        let text = fs::read_to_string(repository.join("crates/project/embedded").join(path)).expect("a file");
        project.write(path, &text);
    }
    let project = project
        .script("tools/countdown/tool.sh", "#!/bin/sh\n")
        .script("tools/getting-started/tool.sh", "#!/bin/sh\n");
    assert_eq!(validate(&project, &["--strict"]).0, 0, "{}", findings(&project));
    let sessions = Project::new();
    let made = std::process::Command::new(repository.join("tests/clients/make-project.sh"))
        .arg(sessions.root())
        .output()
        .expect("sh");
    assert!(made.status.success(), "{made:?}");
    run(sessions.root(), &["--fix"]);
    assert_eq!(validate(&sessions, &["--strict"]).0, 0, "{}", findings(&sessions));
}

#[test]
fn what_belongs_to_functions_is_no_stray() {
    let project = Project::new()
        .file("tools/about.py", "from mcp_bash import resource\nimport words\n\n@resource('about://b')\ndef b() -> str:\n    return words.B\n")
        .file("tools/words.py", "B = 'b'\n")
        .file("tools/_shared.mjs", "export const one = 1\n")
        .file("tools/test_words.py", "import words\n");
    assert_eq!(validate(&project, &["--strict"]).0, 0, "{}", findings(&project));
    project.write("tools/forgotten.py", "print('hello')\n");
    assert!(findings(&project).contains("tools/forgotten.py - is not served"), "{}", findings(&project));
}

#[test]
fn what_the_checks_at_the_start_know_is_known_here_too() {
    let project = Project::new()
        .file("tools/broken/tool.meta.json", "{\n  \"name\": \"broken\"\n")
        .script("tools/broken/tool.sh", "#!/bin/sh\n")
        .script("tools/odd/tool.sh", "#!/usr/bin/no-such-thing\n")
        .file("tools/odd/tool.meta.json", "{\n  \"desciption\": \"Odd\",\n  \"description\": \"Odd\",\n  \"annotations\": {\"readOnlyHint\": true}\n}");
    let expected = "Validating project at …...\n\n\
        ✗ tools/broken/tool.meta.json:2 - is skipped: EOF while parsing an object\n    \
            → mend the JSON\n\
        ⚠ tools/odd/tool.meta.json:2 - has the unknown key `desciption`, which is ignored\n    \
            → write `description` if that is what you mean\n\
        ✗ tools/odd/tool.sh:1 - names the interpreter `/usr/bin/no-such-thing`, which does not exist\n    \
            → install no-such-thing, or name an interpreter that is there\n\n\
        2 error(s) found. Do what stands after each arrow, and validate again.\n";
    assert_eq!(validate(&project, &[]), (1, expected.to_owned()));
}

#[test]
fn warnings_count_as_errors_only_strictly() {
    let project = with_name("a.b");
    let warned = "⚠ tools/x/tool.meta.json:1 - calls its tool `a.b`: the APIs of Anthropic, OpenAI and Amazon Bedrock \
        (and so Claude Desktop) refuse every request that has it, with all other tools, and Semantic Kernel loses all tools of \
        the server\n    → use at most 64 letters, digits, `_` and `-`\n\n";
    let (code, text) = validate(&project, &[]);
    assert_eq!(
        (code, &*text),
        (0, &*format!("Validating project at …...\n\n{warned}All checks passed (warnings: 1).\n"))
    );
    let (code, text) = validate(&project, &["--strict"]);
    let end = "1 error(s) found (warnings count as errors: --strict). Do what stands after each arrow, and validate again.\n";
    assert_eq!((code, &*text), (1, &*format!("Validating project at …...\n\n{warned}{end}")));
}

#[test]
fn names_that_clients_refuse_are_told_with_who_and_why() {
    let told = |name: &str| findings(&with_name(name));
    assert_eq!(told("fine-name_2"), "");
    let all = "the APIs of Anthropic, OpenAI, Gemini and Amazon Bedrock (and so Claude Desktop) refuse every request that has \
               it, with all other tools\n    → use at most 64 letters, digits, `_` and `-`\n";
    let place = "tools/x/tool.meta.json:1 - calls its tool";
    assert_eq!(told("a b"), format!("✗ {place} `a b`: {all}"));
    assert_eq!(told(&"n".repeat(129)), format!("✗ {place} `{}…`: {all}", "n".repeat(80)));
    assert_eq!(
        told(&"n".repeat(65)),
        format!(
            "⚠ {place} `{}`: OpenAI, Gemini, Amazon Bedrock, Claude Desktop and claude.ai refuse every request that has it, and \
             Zed cuts it\n    → use at most 64 letters, digits, `_` and `-`\n",
            "n".repeat(65)
        )
    );
    assert_eq!(
        told("7zip"),
        format!(
            "⚠ {place} `7zip`: Gemini refuses every request that has it, with all other tools\n    \
             → let it begin with a letter or `_`\n"
        )
    );
    let long = with_name(&"n".repeat(55)).file("server.d/server.meta.json", r#"{"name": "srv-1"}"#);
    assert_eq!(
        findings(&long),
        format!(
            "⚠ {place} `{}`, which are 60 characters together with the server's name `srv-1`: Cursor hides the tool, Gemini CLI, \
             Copilot CLI, Cline and Roo Code cut what they make of both names, and over 128 characters Claude Code and Codex \
             drop it\n    \
             → shorten the name of the tool, or that of the server in server.d/server.meta.json\n",
            "n".repeat(55)
        )
    );
}

#[test]
fn servers_that_clients_refuse() {
    let told = |metadata: &str| findings(&with_hi().file("server.d/server.meta.json", metadata));
    let place = "server.d/server.meta.json";
    assert_eq!(
        told("{\n \"name\": \"my_server\"\n}"),
        format!(
            "⚠ {place}:2 - calls the server `my_server`: Gemini CLI takes what follows it for the name of a tool, and then \
             finds none\n    → use `-`\n"
        )
    );
    assert_eq!(
        told("{\"name\": \"My Server\"}"),
        format!(
            "⚠ {place}:1 - calls the server `My Server`: Claude Code does not add a server under that name\n    \
             → use letters, digits and `-`; people read the `title`\n"
        )
    );
    assert_eq!(
        told("{\"name\": \"s\",\n\"icons\": [{\"src\": \"https://a/b.png\"},\n\"icon.svg\"]}"),
        format!(
            "✗ {place}:3 - `icons[1]` is no object with a `src`: clients with the official TypeScript SDK refuse the \
             handshake\n    → write each as `{{\"src\": \"https://…\"}}`\n"
        )
    );
}

#[test]
fn schemas_that_clients_refuse_are_told_with_their_place() {
    let told = |schema: &str| findings(&with_schema(schema));
    let place = "tools/x/tool.meta.json";
    let with = |inner: &str| format!("{{\"type\": \"object\",\n \"properties\": {{\n \"a\": {inner} }} }}");
    assert_eq!(told(&with(r#"{"type": "string", "minLength": 1}"#)), "");
    assert_eq!(
        told(
            "{\"type\": \"object\",\n \"anyOf\": [{\"required\": [\"a\"]}], \"properties\": {\"a\": {\"type\": \"string\"}}}"
        ),
        format!(
            "✗ {place}:6 - `inputSchema/anyOf`: `anyOf`: Anthropic and OpenAI refuse every request that has it, with all other \
             tools\n    → declare all arguments in `properties`, and let the script check which go together\n"
        )
    );
    assert_eq!(
        told(&with(r#"{"type": "array"}"#)),
        format!(
            "⚠ {place}:7 - `inputSchema/properties/a`: an array without `items`: OpenAI and Gemini refuse every request that has \
             it, with all other tools\n    → say what it holds, such as `\"items\": {{\"type\": \"string\"}}`\n"
        )
    );
    assert_eq!(
        told(&with(r#"{"type": ["string", "null"]}, "b": {"type": ["integer", "null"]}"#)),
        format!(
            "⚠ {place}:7 - `inputSchema/properties/b/type` and 1 more: a `type` that is a list: Gemini refuses every request \
             that has it, with all other tools\n    \
             → name one type; what may be left out needs no `null`, but a place outside of `required`\n"
        )
    );
    assert_eq!(
        told(&with(r#"{"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2}"#)),
        format!(
            "⚠ {place}:7 - `inputSchema/properties/a/exclusiveMinimum` and 1 more: `exclusiveMinimum`, `multipleOf`: Gemini \
             refuses every request that has it in `parameters` (Unknown name), with all other tools\n    \
             → leave it out and say it in `description`, or use `enum`, `minimum`, `maximum` and `pattern`\n"
        )
    );
    assert_eq!(
        told(&with("true")),
        format!(
            "✗ {place}:7 - `inputSchema/properties/a`: `true` or `false` instead of a schema: clients with the official \
             TypeScript SDK refuse the whole list of tools\n    \
             → write a schema such as `{{}}`, or better one with a `type`\n"
        )
    );
    assert_eq!(
        told("{\"type\": \"object\",\n \"properties\": {\n \"a b\": {\"type\": \"string\"} } }"),
        format!(
            "⚠ {place}:7 - `inputSchema/properties/a b`: `a b`: Anthropic refuses every request that has it, with all other \
             tools\n    → rename the argument\n"
        )
    );
}

#[test]
fn the_line_is_known_in_yaml_in_comments_and_in_a_registration() {
    let yaml = Project::new()
        .script("tools/x/tool.sh", "#!/bin/sh\n")
        .file("tools/x/tool.meta.yaml", "description: X\nname: a.b\nannotations: { readOnlyHint: true }\n");
    assert!(
        findings(&yaml).starts_with("⚠ tools/x/tool.meta.yaml:2 - calls its tool `a.b`"),
        "{}",
        findings(&yaml)
    );
    let comment = Project::new().script(
        "tools/x.sh",
        "#!/bin/sh\n# What it does\n# mcp: {\"name\": \"a.b\", \"description\": \"X\", \"annotations\": {\"readOnlyHint\": true}}\n",
    );
    assert!(
        findings(&comment).starts_with("⚠ tools/x.sh:3 - calls its tool `a.b`"),
        "{}",
        findings(&comment)
    );
    let registered = Project::new().script("tools/x.sh", "#!/bin/sh\n").file(
        "server.d/register.json",
        "{\"version\": 1, \"tools\": [\n{\"path\": \"x.sh\",\n\"name\": \"a.b\", \"description\": \"X\", \"annotations\": {\"readOnlyHint\": true}}]}",
    );
    let told = findings(&registered);
    assert!(told.starts_with("⚠ server.d/register.json:3 - calls its tool `a.b`"), "{told}");
    assert_eq!(told.matches("calls its tool").count(), 1, "{told}");
}

#[test]
fn too_many_tools_tools_without_words_and_odd_resources() {
    let many = (0..81).fold(Project::new(), |project, number| {
        let text = format!("#!/bin/sh\n# mcp: {{\"name\": \"t{number}\", \"description\": \"T\", \"annotations\": {{\"destructiveHint\": false}}}}\n");
        project.script(&format!("tools/t{number}.sh"), &text)
    });
    assert_eq!(
        findings(&many),
        "⚠ tools - holds 81 tools: Cursor leaves out all after the 80th (older versions after the 40th), Windsurf all after \
         the 100th\n    → split the project into several servers\n"
    );
    assert_eq!(
        findings(
            &Project::new()
                .script("tools/mute.sh", "#!/bin/sh\n# mcp: {\"annotations\": {\"readOnlyHint\": true}}\n")
        ),
        "⚠ tools/mute.sh - does not describe its tool `mute`: a model knows only by its name when to call it\n    \
         → say in `description` what it does, and when to use it\n"
    );
    let function = "from mcp_bash import tool\n\n@tool(read_only=True)\ndef mute() -> str:\n    return ''\n";
    assert_eq!(
        findings(&Project::new().file("tools/mute.py", function)),
        "⚠ tools/mute.py - does not describe its tool `mute`: a model knows only by its name when to call it\n    \
         → write a docstring into the function that says what it does, and when to use it\n"
    );
    let resources = with_hi().file("resources/a.txt", "a").file(
        "resources/a.meta.json",
        "{\"name\": \"a\",\n\"uri\": \"file:///some where\",\n\"mimeType\": \"text\"}",
    );
    assert_eq!(
        findings(&resources),
        "⚠ resources/a.meta.json:2 - names the URI `file:///some where`: clients that parse URIs ask for it under another \
         spelling, and are told that it is not there\n    → write such characters as `%20` and the like\n\
         ⚠ resources/a.meta.json:3 - says that its type is `text`: clients do not know how to show the resource\n    \
         → write it as `text/plain` or `image/png` are written\n"
    );
}

/// A tool of its own folder, with this description.
fn described(project: Project, name: &str, description: &str) -> Project {
    let metadata =
        json!({ "name": name, "description": description, "annotations": { "destructiveHint": true } });
    let folder = name.replace('.', "-dot-");
    project
        .script(&format!("tools/{folder}/tool.sh"), "#!/bin/sh\n")
        .file(&format!("tools/{folder}/tool.meta.json"), &metadata.to_string())
}

#[test]
fn names_that_become_one_in_clients_are_told() {
    let project = described(described(Project::new(), "files_read", "Reads"), "files.read", "Reads");
    let told = findings(&project);
    let clash =
        "tools `files.read` and `files_read` become one: Claude Code and opencode replace other characters";
    assert!(told.contains(clash) && told.matches("become one").count() == 1, "{told}");
    let project = described(described(Project::new(), "files_read", "Reads"), "files-read", "Reads");
    assert_eq!(findings(&project), "");
}

#[test]
fn a_first_line_that_does_not_stand_alone_is_told() {
    for (text, problem) in [
        ("\nReads files", "is empty"),
        ("Usage: read FILE", "is a heading"),
        ("Reads the following:\n- files", "ends with a colon"),
        ("Reads files of any size,\nand says what they hold", "ends in the middle of a sentence"),
    ] {
        let told = findings(&described(Project::new(), "read", text));
        let expected = format!(
            "the first line of the description of `read` {problem}: Qwen Code shows a model the first line"
        );
        assert!(told.contains(&expected) && told.matches('→').count() == 1, "{text:?}: {told}");
    }
    assert_eq!(findings(&described(Project::new(), "read", "Reads files.\n\nUsage: name one")), "");
}

#[test]
fn tools_that_do_not_say_what_they_do_to_the_world_are_told_once() {
    let one = Project::with_hi();
    let told = findings(&one);
    let who = "Codex and Copilot CLI refuse to run such a tool where no user is there, and others ask before each call";
    assert!(
        told.starts_with(&format!("⚠ tools/hi/tool.meta.json - does not annotate its tool `hi`: {who}\n")),
        "{told}"
    );
    let many = (0..7).fold(one, |project, number| project.tool(&format!("t{number}"), "#!/bin/sh\n"));
    let told = findings(&many);
    let names = "`hi`, `t0`, `t1`, `t2`, `t3`, …";
    assert!(
        told.starts_with(&format!("⚠ tools - holds 8 tools without annotations ({names}): {who}\n")),
        "{told}"
    );
    assert_eq!(told.matches('→').count(), 1, "{told}");
    let open = r#"{"name": "hi", "description": "Hi", "annotations": {"openWorldHint": true}}"#;
    let told = findings(&Project::with_hi().file("tools/hi/tool.meta.json", open));
    assert!(told.contains("does not annotate"), "{told}");
}

#[test]
fn a_schema_that_leads_back_to_itself_is_told() {
    let told = findings(&with_schema(
        "{\"type\": \"object\",\n \"properties\": {\"tree\": {\"$ref\": \"#/$defs/node\"}}, \"$defs\": {\"node\": \
         {\"type\": \"object\", \"properties\": {\"next\": {\"$ref\": \"#/$defs/node\"}}}}}",
    ));
    assert!(
        told.contains("a `$ref` that leads back to itself: LlamaIndex, mcp-use and DSPy lose all tools"),
        "{told}"
    );
    let told = findings(&with_schema(
        "{\"type\": \"object\",\n \"properties\": {\"a\": {\"$ref\": \"#/$defs/n\"}, \"b\": {\"$ref\": \"#/$defs/n\"}}, \
         \"$defs\": {\"n\": {\"type\": \"number\"}}}",
    ));
    assert_eq!(told, "");
}

#[test]
fn files_that_nothing_reaches_are_told() {
    let project = with_hi()
        .script("tools/lost/tool.sh", "#!/bin/sh\n# mcp: {\"annotations\": {\"readOnlyHint\": true}}\n")
        .file("tools/lost/tool.json", r#"{"description": "Lost", "inputSchema": {}}"#)
        .file("tools/hi/ui/index.html", "<p>")
        .file("tools/hi/ui/ui.meta.json", r#"{"meta": {}}"#)
        .file("tools/hi/data.json", r#"{"description": "what the tool reads"}"#)
        .file("server.d/policy.bash", "mcp_tools_policy_check() { return 1; }\n")
        .file("server.d/helpers.sh", "x=1\n")
        .file("prompts/greet.tpl", "Hello {{name}}")
        .file("prompts/list.json", r#"[{"role": "user"}]"#)
        .file("prompts/letter.txt", "Write.")
        .file("prompts/letter.completion.sh", "#!/bin/sh\n")
        .script("prompts/other.completion.sh", "#!/bin/sh\n")
        .script("completions/c.sh", "#!/bin/sh\n")
        .script("providers/foo.sh", "#!/bin/sh\n")
        .script("resource/x.txt", "x");
    let expected = "\
⚠ resource - is not searched: no part of a project is called so
    → rename it: `mv …/resource …/resources`
⚠ server.d/policy.bash - is not read: no file of the server is called so
    → call it `policy.sh` if that is what you mean
⚠ tools/hi/ui/ui.meta.json - is not used: interfaces of tools (MCP Apps, `ui://`) are not served
    → remove it, or leave it to other servers: clients show what the tool prints
⚠ tools/lost/tool.json - is not read: the names of metadata end with `.meta.json` or `.meta.yaml`
    → call it `tool.meta.json` if it describes tool.sh
⚠ tools/lost/tool.sh - does not describe its tool `lost`: a model knows only by its name when to call it
    → say in `description` what it does, and when to use it
⚠ prompts/greet.tpl - is not served: texts that end with `.tpl` are no prompts by themselves
    → call it `greet.txt` or `greet.md`, or put `greet.meta.json` beside it
⚠ prompts/letter.completion.sh - completes nothing: it is not executable
    → run `chmod +x …/prompts/letter.completion.sh`
⚠ prompts/list.json - is not served: messages as JSON are a prompt only with metadata
    → put `list.meta.json` beside it
⚠ prompts/other.completion.sh - completes nothing: there is no prompt of that name beside it
    → call it like the prompt it completes for, with `.completion.sh` for the ending
⚠ providers/foo.sh - reads nothing: no resource or template names the provider `foo` or has a URI that begins with `foo:`
    → add a resource or a template for it, such as resources/foo.meta.json with a `uriTemplate`
⚠ completions/c.sh - completes nothing: it is not registered
    → add {\"name\": \"…\", \"path\": \"completions/c.sh\"} to `completions` in server.d/register.json, with the name of a \
prompt or the URI of a resource
";
    assert_eq!(findings(&project), expected);
}

#[test]
fn a_policy_that_does_not_define_its_function() {
    for (policy, expected) in [
        (
            "# Who may call what.\nmcp_tool_policy_check() {\n\treturn 1\n}\n",
            "✗ server.d/policy.sh:2 - does not define the function `mcp_tools_policy_check`, so that every call is refused\n    \
             → call the function `mcp_tool_policy_check` so\n",
        ),
        (
            "READ_ONLY=1\n",
            "✗ server.d/policy.sh - does not define the function `mcp_tools_policy_check`, so that every call is refused\n    \
             → define it, or remove the file to allow every call\n",
        ),
        (". \"$MCPBASH_SERVER_DIR/rules.bash\"\n", ""),
        ("function mcp_tools_policy_check { return 1; }\n", ""),
    ] {
        let project = with_hi().file("server.d/policy.sh", policy);
        let found = findings(&project);
        let found: String =
            found.split_inclusive('\n').skip_while(|line| !line.contains("policy.sh")).take(2).collect();
        assert_eq!(found, expected);
        let mut health = Server::command();
        health.args(["health", "--json", "--project-root"]).arg(project.root());
        let expected = i32::from(!expected.is_empty());
        assert_eq!(health.output().unwrap().status.code(), Some(expected), "{policy}");
    }
}

#[test]
fn a_report_for_programs() {
    let project = with_name("a.b").file("server.d/server.meta.json", r#"{"name": "box"}"#);
    let (code, told) = report(&project, &["--strict"]);
    let message = "tools/x/tool.meta.json:1 - calls its tool `a.b`: the APIs of Anthropic, OpenAI and Amazon Bedrock (and so \
                   Claude Desktop) refuse every request that has it, with all other tools, and Semantic Kernel loses all tools \
                   of the server";
    let expected = json!({
        "projectRoot": "…",
        "errors": 0,
        "warnings": 1,
        "fixesApplied": 0,
        "strict": true,
        "defaults": { "name": "box", "title": "Box", "version": "0.0.0" },
        "messages": [
            {
                "level": "info",
                "section": "server",
                "message": "server.d/server.meta.json - valid",
                "file": "…/server.d/server.meta.json",
                "line": null,
                "remedy": null,
            },
            {
                "level": "warning",
                "section": "tools",
                "message": message,
                "file": "…/tools/x/tool.meta.json",
                "line": 1,
                "remedy": "use at most 64 letters, digits, `_` and `-`",
            },
        ],
    });
    assert_eq!((code, told), (1, expected));
}

#[test]
fn settings_and_registrations_have_sections_of_their_own() {
    let project = with_hi().file("server.d/register.json", "{\"tool\": []}");
    let mut command = Server::command();
    command.args(["validate", "--json"]).current_dir(project.root()).env("MCPBASH_MAX_JSON_DEPTH", "deep");
    let output = command.output().expect("the binary runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let sections: Vec<&str> =
        told["messages"].as_array().unwrap().iter().filter_map(|one| one["section"].as_str()).collect();
    assert_eq!((output.status.code(), sections), (Some(1), vec!["register", "settings"]), "{told}");
}

/// A project with one of each fault that can be repaired.
fn broken() -> Project {
    let project = with_hi()
        .file("tools/plain/tool.sh", "echo hi\n")
        .file(
            "tools/plain/tool.meta.json",
            r#"{"name": "plain", "description": "P", "annotations": {"readOnlyHint": true}}"#,
        )
        .script("tools/dos/tool.sh", "#!/bin/sh\r\necho hi\r\n")
        .file(
            "tools/dos/tool.meta.json",
            r#"{"name": "dos", "description": "D", "annotations": {"readOnlyHint": true}}"#,
        )
        .script("tools/mark/tool.sh", "\u{feff}#!/bin/sh\r\necho hi\r\n")
        .file(
            "tools/mark/tool.meta.json",
            r#"{"name": "mark", "description": "M", "annotations": {"readOnlyHint": true}}"#,
        )
        .script("tools/mixed/tool.sh", "#!/bin/sh\necho '\r\n'\n")
        .file(
            "tools/mixed/tool.meta.json",
            r#"{"name": "mixed", "description": "M", "annotations": {"readOnlyHint": true}}"#,
        );
    set_mode(&project, "tools/hi/tool.sh", 0o777);
    set_mode(&project, "tools/hi", 0o775);
    project
}

const PLAN: &str = "  tools/dos/tool.sh - end its lines with LF instead of CRLF\n  \
    tools/hi - let nobody but its owner write it (chmod go-w)\n  \
    tools/hi/tool.sh - let nobody but its owner write it (chmod go-w)\n  \
    tools/mark/tool.sh - remove the byte-order mark before its `#!`\n  \
    tools/mixed/tool.sh - is left as it is: only some of its lines end with CRLF, and some of those may be meant; mend it \
    by hand\n  \
    tools/plain/tool.sh - make it executable (chmod +x)\n\n";

#[test]
fn a_dry_run_shows_the_repairs_and_makes_none() {
    let project = broken();
    let (code, text) = validate(&project, &["--fix", "--dry-run"]);
    assert_eq!(code, 1);
    assert!(text.starts_with(&format!("Would repair:\n{PLAN}Validating project")), "{text}");
    let end = "Run 'mcp-bash validate --fix' to repair what can be repaired safely, and validate again.\n";
    assert!(text.ends_with(end), "{text}");
    assert_eq!((mode(&project, "tools/hi"), mode(&project, "tools/hi/tool.sh")), (0o775, 0o777));
    assert_eq!(mode(&project, "tools/plain/tool.sh"), 0o644);
    assert_eq!(project.read("tools/dos/tool.sh"), "#!/bin/sh\r\necho hi\r\n");
}

#[test]
fn what_is_safe_is_repaired_and_the_rest_is_left() {
    let project = broken();
    let (code, text) = validate(&project, &["--fix"]);
    let expected = format!(
        "Repairs:\n{PLAN}\
         ✓ tools/dos/tool.sh - fixed: ended its lines with LF\n\
         ✓ tools/hi - fixed: nobody but its owner may write it\n\
         ✓ tools/hi/tool.sh - fixed: nobody but its owner may write it\n\
         ✓ tools/mark/tool.sh - fixed: removed the byte-order mark\n\
         ✓ tools/plain/tool.sh - fixed: made executable\n\n\
         Repairs:\n  tools/mark/tool.sh - end its lines with LF instead of CRLF\n\n\
         ✓ tools/mark/tool.sh - fixed: ended its lines with LF\n\n\
         Validating project at …...\n\n\
         ✓ tools/dos/tool.sh - valid (tool dos)\n\
         ✓ tools/hi/tool.sh - valid (tool hi)\n\
         ✓ tools/mark/tool.sh - valid (tool mark)\n\
         ✗ tools/mixed/tool.sh:2 - ends lines with CRLF, of which a shell takes the CR for a part of the command\n    \
             → run `sed -i 's/\\r$//' …/tools/mixed/tool.sh`\n\
         ✗ tools/plain/tool.sh:1 - is executable, but does not start with `#!`, so that the system does not know what runs \
         it\n    → add the first line `#!/usr/bin/env bash`\n\n\
         6 fix(es) made.\n\
         2 error(s) found. Do what stands after each arrow, and validate again.\n"
    );
    assert_eq!((code, text), (1, expected));
    assert_eq!((mode(&project, "tools/hi"), mode(&project, "tools/hi/tool.sh")), (0o755, 0o755));
    assert_eq!(mode(&project, "tools/plain/tool.sh"), 0o755);
    for script in ["dos", "mark"] {
        let path = format!("tools/{script}/tool.sh");
        assert_eq!((project.read(&path), mode(&project, &path)), ("#!/bin/sh\necho hi\n".to_owned(), 0o755));
    }
    assert_eq!(project.read("tools/mixed/tool.sh"), "#!/bin/sh\necho '\r\n'\n");
    let nothing_left = validate(&rich(), &["--fix"]).1;
    assert!(nothing_left.starts_with("There is nothing that could be repaired safely.\n"), "{nothing_left}");
}

#[test]
fn repairs_for_programs_stay_json() {
    let project = with_hi();
    set_mode(&project, "tools/hi/tool.sh", 0o775);
    let (code, told) = report(&project, &["--fix", "--dry-run"]);
    let fix = "let nobody but its owner write it (chmod go-w)";
    let fixes = |applied: bool| json!([{ "file": "…/tools/hi/tool.sh", "fix": fix, "applied": applied, "problem": null }]);
    assert_eq!((code, &told["fixesApplied"], &told["fixes"]), (1, &json!(0), &fixes(false)));
    let (code, told) = report(&project, &["--fix"]);
    assert_eq!((code, &told["fixesApplied"], &told["fixes"]), (0, &json!(1), &fixes(true)));
    assert_eq!((&told["errors"], mode(&project, "tools/hi/tool.sh")), (&json!(0), 0o755));
}

#[test]
fn repairs_follow_no_links_and_leave_the_project_alone() {
    let elsewhere = Project::new().file("theirs.sh", "echo hi\n").file("dos.sh", "#!/bin/sh\r\necho\r\n");
    set_mode(&elsewhere, "dos.sh", 0o755);
    let project = with_hi()
        .file("tools/x/tool.meta.json", r#"{"name": "x", "description": "X"}"#)
        .file("tools/y/tool.meta.json", r#"{"name": "y", "description": "Y"}"#);
    symlink(elsewhere.path("theirs.sh"), project.path("tools/x/tool.sh")).unwrap();
    symlink(elsewhere.path("dos.sh"), project.path("tools/y/tool.sh")).unwrap();
    symlink(elsewhere.root(), project.path("tools/z")).unwrap();
    let (code, text) = validate(&project, &["--fix"]);
    let link = "is left as it is: it is a link; look at what it leads to, and mend that";
    assert_eq!(code, 1);
    assert!(text.contains(&format!("tools/x/tool.sh - {link}\n  tools/y/tool.sh - {link}\n")), "{text}");
    assert_eq!(mode(&elsewhere, "theirs.sh"), 0o644);
    assert_eq!(elsewhere.read("dos.sh"), "#!/bin/sh\r\necho\r\n");
}

/// What a person sees on a terminal who answers the first question.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &Path, arguments: &[&str], answer: &str) -> (i32, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read, Write};
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut command = Server::command();
    command.arg("validate").args(arguments).env_remove("NO_COLOR").env("TERM", "xterm").current_dir(folder);
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut controller = fs::File::from(controller);
    controller.write_all(answer.as_bytes()).unwrap();
    let mut shown = Vec::new();
    // The end of a terminal whose other side is closed is an error.
    let _ = controller.read_to_end(&mut shown);
    let code = child.wait().unwrap().code().unwrap();
    (code, String::from_utf8(shown).unwrap().replace('\r', ""))
}

#[test]
#[cfg(target_os = "linux")]
fn a_person_is_asked_before_anything_is_repaired() {
    let project = with_hi();
    set_mode(&project, "tools/hi/tool.sh", 0o775);
    let (code, shown) = on_a_terminal(project.root(), &["--fix"], "n\n");
    assert!(shown.contains("Repair these? [y/N] "), "{shown}");
    assert!(shown.contains("\u{1b}[31m✗\u{1b}[0m tools/hi/tool.sh - is writable"), "{shown}");
    assert_eq!((code, mode(&project, "tools/hi/tool.sh")), (1, 0o775));
    let (code, _) = on_a_terminal(project.root(), &["--fix"], "y\n");
    assert_eq!((code, mode(&project, "tools/hi/tool.sh")), (0, 0o755));
    set_mode(&project, "tools/hi/tool.sh", 0o775);
    let (code, shown) = on_a_terminal(project.root(), &["--fix", "--yes"], "");
    assert!(!shown.contains("Repair these?"), "{shown}");
    assert_eq!((code, mode(&project, "tools/hi/tool.sh")), (0, 0o755));
}

#[test]
fn defaults_are_explained() {
    let project = rich()
        .script("tools/quick.sh", "#!/bin/sh\n# mcp: {\"description\": \"Quick\", \"title\": \"Q\", \"annotations\": {\"readOnlyHint\": true}}\n")
        .file("tools/ls.meta.json", r#"{"description": "Lists", "command": ["ls", "{path}"], "annotations": {"readOnlyHint": true}}"#);
    let (code, text) = validate(&project, &["--explain-defaults", "-q"]);
    let expected = "Validating project at …...\n\n\n\
        Defaults used: name=rich, title=Rich, version=2.0.0\n\
        server\n  \
          name         rich: server.d/server.meta.json\n  \
          title        Rich: made from the name\n  \
          version      2.0.0: server.d/server.meta.json\n\
        tool hi (tools/hi/tool.sh)\n  \
          name         hi: tool.meta.json\n  \
          description  The tool hi: tool.meta.json\n  \
          inputSchema  nothing is said, so that any arguments are taken\n\
        tool ls (tools/ls.meta.json)\n  \
          name         ls: the name of the file\n  \
          description  Lists: ls.meta.json\n  \
          inputSchema  made from what its program is given\n\
        tool quick (tools/quick.sh)\n  \
          name         quick: the name of the file\n  \
          title        Q: its `# mcp:` line\n  \
          description  Quick: its `# mcp:` line\n  \
          inputSchema  nothing is said, so that any arguments are taken\n\
        prompt letter (prompts/letter.txt)\n  \
          name         letter: the name of the file\n\
        resource note (resources/note.txt)\n  \
          name         note: the name of the file\n  \
          uri          file://…/resources/note.txt: the path of the file\n  \
          mimeType     text/plain: the name and the beginning of the file\n\
        template day (resources/day.meta.json)\n  \
          name         day: day.meta.json\n  \
          uriTemplate  day://{date}: day.meta.json\n\n\
        All checks passed (warnings: 0).\n";
    assert_eq!((code, &*text), (0, expected));
    let (_, told) = report(&project, &["--explain-defaults"]);
    assert_eq!(
        told["entries"][1],
        json!({
            "kind": "tool",
            "name": "hi",
            "file": "…/tools/hi/tool.sh",
            "origins": [
                { "field": "name", "value": "hi", "from": "tool.meta.json" },
                { "field": "description", "value": "The tool hi", "from": "tool.meta.json" },
                { "field": "inputSchema", "value": "", "from": "nothing is said, so that any arguments are taken" },
            ],
        })
    );
}

#[test]
fn the_command_of_the_inspector_is_shown() {
    let project = with_hi();
    let (code, text) = validate(&project, &["--inspector"]);
    let own = env!("CARGO_BIN_EXE_mcp-bash");
    let command = format!(
        "npx --yes @modelcontextprotocol/inspector@2 --cli --method tools/list --strict -- {own} --project-root …"
    );
    let root = project.root().canonicalize().unwrap();
    let own = Path::new(own).canonicalize().unwrap();
    let command = command.replace(env!("CARGO_BIN_EXE_mcp-bash"), own.to_str().unwrap());
    assert_eq!(code, 0);
    assert!(text.ends_with(&format!(":\n\n  {command}\n")), "{text} {}", root.display());
    assert_eq!(report(&project, &["--inspector"]).1["inspector"], json!(command));
}

#[test]
fn a_folder_without_any_part_of_a_project_is_none() {
    let empty = tempfile::tempdir().unwrap();
    for words in [&["."][..], &["--project-root", "."], &[".", "--strict"]] {
        let output = run(empty.path(), words);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("✗ . - has nothing to serve: there are neither tools,"), "{said}");
        assert!(
            said.ends_with("1 error(s) found. Do what stands after each arrow, and validate again.\n"),
            "{said}"
        );
    }
    let health = Server::command().args(["health", "."]).current_dir(empty.path()).output().unwrap();
    let report: Value = serde_json::from_slice(&health.stdout).unwrap();
    assert_eq!((health.status.code(), &report["status"]), (Some(2), &json!("misconfigured")));
    fs::create_dir(empty.path().join("prompts")).unwrap();
    assert_eq!(run(empty.path(), &[".", "--strict"]).status.code(), Some(0));
}

#[test]
fn a_tool_that_is_not_run_is_not_called_valid() {
    let project = with_hi().tool("other", "#!/bin/sh\n").tool("sound", "#!/bin/sh\n");
    for (path, mode) in [("tools/hi", 0o775), ("tools/other/tool.sh", 0o777)] {
        fs::set_permissions(project.path(path), Permissions::from_mode(mode)).unwrap();
    }
    let (code, text) = validate(&project, &[]);
    assert_eq!(code, 1);
    assert!(text.contains("✗ . - 2 paths are writable"), "{text}");
    assert!(text.contains("✓ tools/sound/tool.sh"), "{text}");
    assert!(!text.contains("✓ tools/hi") && !text.contains("✓ tools/other"), "{text}");
}

#[test]
fn the_next_step_is_one_that_helps() {
    let project = Project::new().tool("mixed", "#!/bin/sh\necho '\r\n'\n");
    let (_, text) = validate(&project, &[]);
    assert!(
        text.ends_with("1 error(s) found. Do what stands after each arrow, and validate again.\n"),
        "{text}"
    );
}

#[test]
fn no_project_and_wrong_flags_are_usage_errors() {
    let empty = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&[][..], "mcp-bash: no project found here: use --project-root or set MCPBASH_PROJECT_ROOT"),
        (&["--project-root", "/no/such"], "mcp-bash: --project-root is not a folder: /no/such"),
        (&["--yes"], "error: the following required arguments were not provided:\n  --fix"),
        (&["--stirct"], "error: unexpected argument '--stirct' found"),
    ] {
        let output = run(empty.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(words), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn odd_files_do_no_harm_and_nothing_moves_the_cursor() {
    let huge = format!("{{\"name\": \"huge\", \"description\": \"{}\"}}", "x".repeat(20 * 1024 * 1024));
    let project = with_hi()
        .script("tools/odd/tool.sh", "#!/bin/sh\n")
        .file("tools/odd/tool.meta.json", r#"{"name": "o\u001b[2Jd", "de\u001b]0;x": 1, "description": "O"}"#)
        .script("tools/huge/tool.sh", "#!/bin/sh\n")
        .file("tools/huge/tool.meta.json", &huge)
        .script("tools/\u{1b}[31mred.sh", "#!/bin/sh\n")
        .file("prompts/\u{1b}[31mred.tpl", "x")
        .script("tools/deep/tool.sh", "#!/bin/sh\n")
        .file(
            "tools/deep/tool.meta.json",
            &format!("{{\"inputSchema\": {}{}}}", "{\"not\":".repeat(5000), "}".repeat(5000)),
        );
    symlink(project.path("tools"), project.path("tools/loop")).unwrap();
    symlink("nowhere", project.path("tools/gone.sh")).unwrap();
    symlink("circle", project.path("prompts/circle")).unwrap();
    let nameless = std::ffi::OsStr::from_bytes(b"tools/\xff\xfe.sh");
    fs::write(project.root().join(nameless), "x").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, project.path("tools/pipe.sh"), 0o755.into()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, project.path("tools/hi/tool.json"), 0o644.into()).unwrap();
    for arguments in [&[][..], &["--json"], &["--fix"], &["--explain-defaults"]] {
        let output = run(project.root(), arguments);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.contains("tools/loop") && text.contains("tools/huge/tool.meta.json"), "{text}");
        assert!(!text.contains("tools/loop/"), "{text}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_project_may_stand_in_a_folder_of_any_name() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join(std::ffi::OsStr::from_bytes(b"it's \xff\n here"));
    fs::rename(with_hi().into_folder(), &folder).unwrap();
    for arguments in
        [&["validate", "--strict"][..], &["validate", "--json", "--explain-defaults"], &["health"]]
    {
        let mut command = Server::command();
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn the_help_has_examples() {
    let output = run(Path::new("/"), &["--help"]);
    let expected = "\
Find what is wrong with a project, also what known clients refuse, and repair what is safe

Usage: mcp-bash validate [OPTIONS] [DIR]

Arguments:
  [DIR]  The folder to look at, as with `--project-root`

Options:
      --project-root <DIR>  The project: the folder that holds `tools/`, `resources/`, `prompts/` or
                            `server.d/`
      --strict              Count warnings as errors
      --json                Report as JSON
  -q, --quiet               Say only what was asked for, and what went wrong
      --fix                 Repair what can be repaired without changing what anything means, after
                            showing it
  -v, --verbose             Say more about what is done
  -y, --yes                 Do not ask before repairing
      --dry-run             Show what would be repaired, and repair nothing
      --explain-defaults    Say where the name, the title, the version and the like of each entry
                            come from
      --inspector           Show the command that lets the official inspector judge the schemas, and
                            offer to run it
  -h, --help                Print help

Examples:
  mcp-bash validate                      the project in this folder
  mcp-bash validate --strict --json      for CI: exit code 1 also for warnings
  mcp-bash validate --fix --dry-run      what could be repaired

Exit codes: 0 all checks passed, 1 errors were found, 2 there is no project (docs/validate.md)
";
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(0), expected));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let project = rich();
    let script = format!("{} validate | head -n 0; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_mcp-bash"));
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert_eq!((&*output.stdout, &*output.stderr), (&b"0\n"[..], &b""[..]));
}

#[test]
fn a_thousand_tools_are_validated_quickly() {
    let schema =
        r#"{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {}}}}"#;
    let project = (0..1000).fold(Project::new(), |project, number| {
        let metadata = format!(r#"{{"name": "t{number}", "description": "T", "inputSchema": {schema}}}"#);
        project
            .script(&format!("tools/t{number}/tool.sh"), "#!/bin/sh\n")
            .file(&format!("tools/t{number}/tool.meta.json"), &metadata)
    });
    let start = Instant::now();
    let (code, text) = validate(&project, &["-q"]);
    assert_eq!(code, 0, "{text}");
    // A second of an optimised program, on a machine with other things to do.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn an_annotation_for_which_clients_drop_a_tool_is_named_with_its_tool() {
    let annotated = |kind: &str, header: &str| json!({ "type": kind, "x-mcp-header": header });
    let schema = json!({ "type": "object", "properties": {
        "good": annotated("string", "Good"),
        "twice": annotated("string", "GOOD"),
        "number": annotated("number", "Number"),
        "list": { "type": "array", "items": annotated("string", "Item") },
    } });
    let findings = findings(&with_schema(&schema.to_string()));
    for words in [
        "the tool `x` is served without the `x-mcp-header` of `inputSchema/properties/twice`",
        "the tool `x` is served without the `x-mcp-header` of `inputSchema/properties/number`",
        "the tool `x` is served without the `x-mcp-header` of `inputSchema/properties/list/items`",
    ] {
        assert!(findings.contains(words), "{findings}");
    }
    assert!(!findings.contains("properties/good"), "{findings}");
}
