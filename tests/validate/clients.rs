//! Names, schemas, descriptions and annotations that clients refuse or misread.

use super::{findings, with_hi, with_name, with_schema};
use crate::harness::Project;
use serde_json::json;

#[test]
fn names_that_clients_refuse_are_reported_with_the_client_and_the_reason() {
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
fn schemas_that_clients_refuse_are_reported_with_their_place() {
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
             → name one type; what may be left out needs no `null`, but a place outside `required`\n"
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
fn too_many_tools_missing_descriptions_and_odd_resources() {
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
         spelling, and receive an error that it does not exist\n    → write such characters as `%20` and the like\n\
         ⚠ resources/a.meta.json:3 - says that its type is `text`: clients do not know how to show the resource\n    \
         → write it as `text/plain` or `image/png` are written\n"
    );
}

/// A tool in its own folder, with this description.
fn described(project: Project, name: &str, description: &str) -> Project {
    let metadata =
        json!({ "name": name, "description": description, "annotations": { "destructiveHint": true } });
    let folder = name.replace('.', "-dot-");
    project
        .script(&format!("tools/{folder}/tool.sh"), "#!/bin/sh\n")
        .file(&format!("tools/{folder}/tool.meta.json"), &metadata.to_string())
}

#[test]
fn names_that_collide_in_clients_are_reported() {
    let project = described(described(Project::new(), "files_read", "Reads"), "files.read", "Reads");
    let told = findings(&project);
    let clash =
        "tools `files.read` and `files_read` become one: Claude Code and opencode replace other characters";
    assert!(told.contains(clash) && told.matches("become one").count() == 1, "{told}");
    let project = described(described(Project::new(), "files_read", "Reads"), "files-read", "Reads");
    assert_eq!(findings(&project), "");
}

#[test]
fn an_incomplete_first_line_is_reported() {
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
fn tools_without_annotations_are_reported_once() {
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
fn a_recursive_schema_is_reported() {
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
fn an_annotation_that_makes_clients_drop_a_tool_is_reported() {
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
