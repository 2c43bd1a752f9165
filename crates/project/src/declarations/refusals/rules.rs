//! Refusal rules: the table of what clients and model APIs refuse, and the consequences. `docs/validate.md` shows the same
//! table; a test compares the two.

use crate::Severity::{self, Error, Warning};

/// Something that the protocol allows, or that we serve all the same, and that a client or API refuses.
#[derive(Debug)]
pub(crate) struct Rule {
    /// What is refused, as the documentation names it.
    pub(crate) what: &'static str,
    /// An error only if every well-known client or model API fails, or if one bad entry loses all others.
    pub(crate) severity: Severity,
    /// Who refuses it, and what happens then.
    pub(crate) who: &'static str,
    pub(crate) remedy: &'static str,
}

/// The fix for most names.
pub(crate) const BETTER_NAME: &str = "use at most 64 letters, digits, `_` and `-`";

pub(crate) const NAME_CHARACTERS: Rule = Rule {
    what: "a tool's name with other characters than A-Z a-z 0-9 `_` `-` `.` `:`",
    severity: Error,
    who: "the APIs of Anthropic, OpenAI, Gemini and Amazon Bedrock (and so Claude Desktop) refuse every request that has it, \
          with all other tools",
    remedy: BETTER_NAME,
};

pub(crate) const NAME_DOT: Rule = Rule {
    what: "a tool's name with `.` or `:`",
    severity: Warning,
    who: "the APIs of Anthropic, OpenAI and Amazon Bedrock (and so Claude Desktop) refuse every request that has it, \
          with all other tools, and Semantic Kernel loses all tools of the server",
    remedy: BETTER_NAME,
};

pub(crate) const NAMES_CLASH: Rule = Rule {
    what: "names of tools that differ only in characters that clients replace (files.read and files_read), or after the \
           64th character of server and tool together",
    severity: Warning,
    who: "Claude Code and opencode replace other characters than A-Z a-z 0-9 `_` `-` by `_`, Copilot CLI cuts names, and then \
          one of the tools is lost",
    remedy: "rename one of them",
};

pub(crate) const NAME_OVER_64: Rule = Rule {
    what: "a tool's name of more than 64 characters",
    severity: Warning,
    who: "OpenAI, Gemini, Amazon Bedrock, Claude Desktop and claude.ai refuse every request that has it, and Zed cuts it",
    remedy: BETTER_NAME,
};

pub(crate) const NAME_OVER_128: Rule = Rule {
    what: "a tool's name of more than 128 characters",
    severity: Error,
    who: "the APIs of Anthropic, OpenAI, Gemini and Amazon Bedrock (and so Claude Desktop) refuse every request that has it, \
          with all other tools",
    remedy: BETTER_NAME,
};

pub(crate) const NAME_START: Rule = Rule {
    what: "a tool's name that begins with a digit or a sign other than `_`",
    severity: Warning,
    who: "Gemini refuses every request that has it, with all other tools",
    remedy: "let it begin with a letter or `_`",
};

pub(crate) const NAME_WITH_SERVER: Rule = Rule {
    what: "a tool's name that has 60 characters or more together with the server's",
    severity: Warning,
    who: "Cursor hides the tool, Gemini CLI, Copilot CLI, Cline and Roo Code cut what they make of both names, and over 128 \
          characters Claude Code and Codex drop it",
    remedy: "shorten the name of the tool, or that of the server in server.d/server.meta.json",
};

pub(crate) const SERVER_UNDERSCORE: Rule = Rule {
    what: "a server's name with `_`",
    severity: Warning,
    who: "Gemini CLI takes what follows it for the name of a tool, and then finds none",
    remedy: "use `-`",
};

pub(crate) const SERVER_CHARACTERS: Rule = Rule {
    what: "a server's name with other characters than A-Z a-z 0-9 `_` `-`",
    severity: Warning,
    who: "Claude Code does not add a server under that name",
    remedy: "use letters, digits and `-`; people read the `title`",
};

pub(crate) const MANY_TOOLS: Rule = Rule {
    what: "more than 80 tools",
    severity: Warning,
    who: "Cursor leaves out all after the 80th (older versions after the 40th), Windsurf all after the 100th",
    remedy: "split the project into several servers",
};

pub(crate) const NO_DESCRIPTION: Rule = Rule {
    what: "a tool without a description",
    severity: Warning,
    who: "a model knows only by its name when to call it",
    remedy: "say in `description` what it does, and when to use it",
};

pub(crate) const FIRST_LINE: Rule = Rule {
    what: "a description whose first line does not stand alone: empty, a heading, with a colon at its end, or half a sentence",
    severity: Warning,
    who: "Qwen Code shows a model the first line alone",
    remedy: "say in the first line what the tool does, in a whole sentence",
};

pub(crate) const NO_ANNOTATIONS: Rule = Rule {
    what: "tools without `readOnlyHint` and `destructiveHint` in their `annotations`",
    severity: Warning,
    who: "Codex and Copilot CLI refuse to run such a tool where no user is there, and others ask before each call",
    remedy: "write `\"annotations\": {\"readOnlyHint\": true}` for a tool that only reads, and `destructiveHint` for one that writes",
};

pub(crate) const ROOT_COMBINATOR: Rule = Rule {
    what: "`oneOf`, `anyOf` or `allOf` at the root of `inputSchema`",
    severity: Error,
    who: "Anthropic and OpenAI refuse every request that has it, with all other tools",
    remedy: "declare all arguments in `properties`, and let the script check which go together",
};

pub(crate) const ROOT_ENUM: Rule = Rule {
    what: "`enum` or `not` at the root of `inputSchema`",
    severity: Warning,
    who: "OpenAI refuses every request that has it, with all other tools",
    remedy: "declare the arguments in `properties`",
};

pub(crate) const ARRAY_WITHOUT_ITEMS: Rule = Rule {
    what: "an array without `items`",
    severity: Warning,
    who: "OpenAI and Gemini refuse every request that has it, with all other tools",
    remedy: "say what it holds, such as `\"items\": {\"type\": \"string\"}`",
};

pub(crate) const TYPE_LIST: Rule = Rule {
    what: "a `type` that is a list",
    severity: Warning,
    who: "Gemini refuses every request that has it, with all other tools",
    remedy: "name one type; what may be left out needs no `null`, but a place outside `required`",
};

pub(crate) const UNKNOWN_TO_GEMINI: Rule = Rule {
    what: "words of JSON Schema that Gemini does not know, such as `const`, `exclusiveMinimum`, `multipleOf`, \
           `uniqueItems`, `oneOf`, `allOf`, `not`, `patternProperties` and `$schema`",
    severity: Warning,
    who: "Gemini refuses every request that has it in `parameters` (Unknown name), with all other tools",
    remedy: "leave it out and say it in `description`, or use `enum`, `minimum`, `maximum` and `pattern`",
};

pub(crate) const PROPERTY_NAME: Rule = Rule {
    what: "an argument whose name is longer than 64 or has other characters than A-Z a-z 0-9 `_` `.` `-`",
    severity: Warning,
    who: "Anthropic refuses every request that has it, with all other tools",
    remedy: "rename the argument",
};

pub(crate) const BOOLEAN_ARGUMENT: Rule = Rule {
    what: "`true` or `false` instead of a schema, for an argument or a member of the result",
    severity: Error,
    who: "clients with the official TypeScript SDK refuse the whole list of tools",
    remedy: "write a schema such as `{}`, or better one with a `type`",
};

pub(crate) const BOOLEAN_SCHEMA: Rule = Rule {
    what: "`true` or `false` instead of a schema, further down",
    severity: Warning,
    who: "the official inspector calls it an error, since model APIs expect an object",
    remedy: "write a schema such as `{}`, or better one with a `type`",
};

pub(crate) const REMOTE_REFERENCE: Rule = Rule {
    what: "a `$ref` to another document",
    severity: Warning,
    who: "neither clients nor model APIs fetch it, so that its meaning is unknown",
    remedy: "copy what it names into `$defs`",
};

pub(crate) const RECURSIVE_SCHEMA: Rule = Rule {
    what: "a `$ref` that leads back to itself",
    severity: Warning,
    who: "LlamaIndex, mcp-use and DSPy lose all tools of the server (RecursionError)",
    remedy: "write out as many levels as are needed, and let the last be `{\"type\": \"object\"}`",
};

pub(crate) const SERVER_ICONS: Rule = Rule {
    what: "`icons` of the server that are no objects with a `src`",
    severity: Error,
    who: "clients with the official TypeScript SDK refuse the handshake",
    remedy: "write each as `{\"src\": \"https://…\"}`",
};

pub(crate) const URI_CHARACTERS: Rule = Rule {
    what: "a resource's URI with spaces, line breaks or other characters that no URI has",
    severity: Warning,
    who: "clients that parse URIs ask for it under another spelling, and receive an error that it does not exist",
    remedy: "write such characters as `%20` and the like",
};

pub(crate) const MEDIA_TYPE: Rule = Rule {
    what: "a `mimeType` that is no media type",
    severity: Warning,
    who: "clients do not know how to show the resource",
    remedy: "write it as `text/plain` or `image/png` are written",
};

/// All of them, in the order of the documentation.
#[cfg(test)]
pub(crate) const ALL: [&Rule; 26] = [
    &NAME_CHARACTERS,
    &NAME_DOT,
    &NAMES_CLASH,
    &NAME_OVER_64,
    &NAME_OVER_128,
    &NAME_START,
    &NAME_WITH_SERVER,
    &SERVER_UNDERSCORE,
    &SERVER_CHARACTERS,
    &MANY_TOOLS,
    &NO_DESCRIPTION,
    &FIRST_LINE,
    &NO_ANNOTATIONS,
    &ROOT_COMBINATOR,
    &ROOT_ENUM,
    &ARRAY_WITHOUT_ITEMS,
    &TYPE_LIST,
    &UNKNOWN_TO_GEMINI,
    &PROPERTY_NAME,
    &BOOLEAN_ARGUMENT,
    &BOOLEAN_SCHEMA,
    &REMOTE_REFERENCE,
    &RECURSIVE_SCHEMA,
    &SERVER_ICONS,
    &URI_CHARACTERS,
    &MEDIA_TYPE,
];

#[cfg(test)]
mod tests {
    use super::ALL;
    use std::path::Path;

    #[test]
    fn the_documentation_has_the_same_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validate.md");
        let page = std::fs::read_to_string(page).expect("docs/validate.md");
        let rows: Vec<String> = ALL
            .iter()
            .map(|rule| format!("| {} | {} | {} |", rule.what, rule.severity.as_str(), rule.who))
            .collect();
        let written = page.lines().filter(|line| rows.iter().any(|row| row == line)).count();
        assert_eq!(written, rows.len(), "docs/validate.md should hold these rows:\n{}", rows.join("\n"));
    }
}
