//! `mcp-bash install` in the files of each client, as people have them: with comments, other servers, tabs and line ends of
//! Windows. All but the entry stays byte for byte, and `uninstall` gives back what was there.

use crate::harness::Home;

/// A file of a client, and what it becomes.
struct Case {
    client: &'static str,
    /// More words for the command line.
    scope: &'static [&'static str],
    path: &'static str,
    before: &'static str,
    /// A piece of the text, and the same piece with the entry.
    change: (&'static str, &'static str),
}

const USER: &[&str] = &[];
const PROJECT: &[&str] = &["--scope", "project"];
const LOCAL: &[&str] = &["--scope", "local"];

const CASES: &[Case] = &[
    Case {
        client: "claude-desktop",
        scope: USER,
        path: ".config/Claude/claude_desktop_config.json",
        before: "{\n  \"mcpServers\": {\n    \"filesystem\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\"\n      ]\n    }\n  },\n  \"globalShortcut\": \"\"\n}",
        change: (
            "      ]\n    }\n  },",
            "      ]\n    },\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  },",
        ),
    },
    Case {
        client: "claude-code",
        scope: USER,
        path: ".claude.json",
        before: "{\n  \"numStartups\": 12,\n  \"projects\": {\n    \"/w\": {\n      \"mcpServers\": {},\n      \"history\": [\"a\", \"\\u00e9\"]\n    }\n  },\n  \"mcpServers\": {}\n}\n",
        change: (
            "\"mcpServers\": {}\n}",
            "\"mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }\n}",
        ),
    },
    Case {
        client: "claude-code",
        scope: LOCAL,
        path: ".claude.json",
        before: "{\"numStartups\":1,\"mcpServers\":{\"x\":{\"command\":\"y\"}}}",
        change: (
            "{\"command\":\"y\"}}}",
            "{\"command\":\"y\"}},\"projects\":{\"HOME/tools-box\":{\"mcpServers\":{\"tools-box\":{\"command\":\"PROGRAM\",\"args\":[\"--project-root\",\"HOME/tools-box\"]}}}}}",
        ),
    },
    Case {
        client: "claude-code",
        scope: PROJECT,
        path: "tools-box/.mcp.json",
        before: "{ \"mcpServers\": { \"a\": { \"type\": \"http\", \"url\": \"https://example.com/mcp\" } } }\n",
        change: (
            "/mcp\" } } }",
            "/mcp\" }, \"tools-box\": { \"command\": \"PROGRAM\", \"args\": [\"--project-root\", \"HOME/tools-box\"] } } }",
        ),
    },
    Case {
        client: "cursor",
        scope: USER,
        path: ".cursor/mcp.json",
        before: "{\r\n\t\"mcpServers\": {\r\n\t\t\"gh\": {\r\n\t\t\t\"url\": \"https://example.com\"\r\n\t\t}\r\n\t}\r\n}\r\n",
        change: (
            "\t\t}\r\n\t}",
            "\t\t},\r\n\t\t\"tools-box\": {\r\n\t\t\t\"command\": \"PROGRAM\",\r\n\t\t\t\"args\": [\"--project-root\", \"HOME/tools-box\"]\r\n\t\t}\r\n\t}",
        ),
    },
    Case {
        client: "cursor",
        scope: PROJECT,
        path: "tools-box/.cursor/mcp.json",
        before: "{}",
        change: (
            "{}",
            "{\n  \"mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }\n}",
        ),
    },
    Case {
        client: "vscode",
        scope: USER,
        path: ".config/Code/User/mcp.json",
        before: "{\n\t// what I use\n\t\"inputs\": [\n\t\t{ \"type\": \"promptString\", \"id\": \"key\", \"password\": true, },\n\t],\n\t\"servers\": {\n\t\t/* off: \"old\": {}, */\n\t\t\"db\": { \"command\": \"x\", \"env\": { \"K\": \"${input:key}\" } }, // keep\n\t},\n}\n",
        change: (
            "} }, // keep\n",
            "} }, // keep\n\t\t\"tools-box\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"PROGRAM\",\n\t\t\t\"args\": [\"--project-root\", \"HOME/tools-box\"]\n\t\t},\n",
        ),
    },
    Case {
        client: "vscode",
        scope: PROJECT,
        path: "tools-box/.vscode/mcp.json",
        before: "{\n    \"inputs\": []\n}",
        change: (
            "[]\n}",
            "[],\n    \"servers\": {\n        \"tools-box\": {\n            \"type\": \"stdio\",\n            \"command\": \"PROGRAM\",\n            \"args\": [\"--project-root\", \"HOME/tools-box\"]\n        }\n    }\n}",
        ),
    },
    Case {
        client: "visual-studio",
        scope: PROJECT,
        path: "tools-box/.vs/mcp.json",
        before: "\u{feff}{\r\n  \"servers\": {\r\n  }\r\n}",
        change: (
            "{\r\n  }",
            "{\r\n    \"tools-box\": {\r\n      \"type\": \"stdio\",\r\n      \"command\": \"PROGRAM\",\r\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\r\n    }\r\n  }",
        ),
    },
    Case {
        client: "windsurf",
        scope: USER,
        path: ".codeium/windsurf/mcp_config.json",
        before: "{\n   \"mcpServers\" : {\n      \"a\" : { \"serverUrl\" : \"https://example.com\" }\n   }\n}\n",
        change: (
            "example.com\" }\n",
            "example.com\" },\n      \"tools-box\": {\n         \"command\": \"PROGRAM\",\n         \"args\": [\"--project-root\", \"HOME/tools-box\"]\n      }\n",
        ),
    },
    Case {
        client: "zed",
        scope: USER,
        path: ".config/zed/settings.json",
        before: "// Zed settings\n//\n// For information, see the documentation\n{\n  \"theme\": \"One Dark\", // dark\n  \"vim_mode\": true,\n}\n",
        change: (
            "\"vim_mode\": true,\n",
            "\"vim_mode\": true,\n  \"context_servers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"],\n      \"env\": {}\n    }\n  },\n",
        ),
    },
    Case {
        client: "zed",
        scope: PROJECT,
        path: "tools-box/.zed/settings.json",
        before: "\n",
        change: (
            "\n",
            "\n{\n  \"context_servers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"],\n      \"env\": {}\n    }\n  }\n}\n",
        ),
    },
    Case {
        client: "codex",
        scope: USER,
        path: ".codex/config.toml",
        before: "model = \"o9\" # the best\nnotify = [\n  \"x\",\n]\n\n[mcp_servers.docs]\ncommand = 'npx'\n\n[mcp_servers.docs.env]\nKEY = \"v\"\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
        change: (
            "\"trusted\"\n",
            "\"trusted\"\n\n[mcp_servers.tools-box]\ncommand = \"PROGRAM\"\nargs = [\"--project-root\", \"HOME/tools-box\"]\n",
        ),
    },
    Case {
        client: "codex",
        scope: PROJECT,
        path: "tools-box/.codex/config.toml",
        before: "# ours\r\n[features]\r\nx = true",
        change: (
            "true",
            "true\r\n\r\n[mcp_servers.tools-box]\r\ncommand = \"PROGRAM\"\r\nargs = [\"--project-root\", \"HOME/tools-box\"]",
        ),
    },
    Case {
        client: "gemini",
        scope: USER,
        path: ".gemini/settings.json",
        before: "{\n  // the colours\n  \"ui\": {\"theme\": \"GitHub\"}, /* and more */\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // last\n  }\n}\n",
        change: (
            "{\"command\": \"x\"} // last\n",
            "{\"command\": \"x\"}, // last\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n",
        ),
    },
    Case {
        client: "gemini",
        scope: PROJECT,
        path: "tools-box/.gemini/settings.json",
        before: "{\n}\n",
        change: (
            "{\n}",
            "{\n  \"mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }\n}",
        ),
    },
    Case {
        client: "copilot",
        scope: USER,
        path: ".copilot/mcp-config.json",
        before: "{\n  \"mcpServers\": {\n    \"gh\": {\n      \"type\": \"http\",\n      \"url\": \"https://example.com\",\n      \"tools\": [\"*\"]\n    }\n  }\n}",
        change: (
            "    }\n  }",
            "    },\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }",
        ),
    },
    Case {
        client: "copilot",
        scope: PROJECT,
        path: "tools-box/.github/mcp.json",
        before: "{\"mcpServers\": {}}",
        change: (
            "{}",
            "{\"tools-box\":{\"command\":\"PROGRAM\",\"args\":[\"--project-root\",\"HOME/tools-box\"]}}",
        ),
    },
    Case {
        client: "goose",
        scope: USER,
        path: ".config/goose/config.yaml",
        before: "GOOSE_PROVIDER: anthropic\nextensions:\n  developer:\n    bundled: true # built in\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n\n# the model\nGOOSE_MODEL: x\n",
        change: (
            "    type: builtin\n",
            "    type: builtin\n  tools-box:\n    name: tools-box\n    description: \"\"\n    type: stdio\n    cmd: PROGRAM\n    args: [\"--project-root\", \"HOME/tools-box\"]\n    timeout: 300\n    enabled: true\n    envs: {}\n",
        ),
    },
    Case {
        client: "librechat",
        scope: PROJECT,
        path: "tools-box/librechat.yaml",
        before: "version: 1.2.1\ncache: true\n# mcpServers:\n#   old: {}\nendpoints:\n  custom:\n    - name: \"Mistral\"\n      apiKey: '${KEY}'",
        change: (
            "'${KEY}'",
            "'${KEY}'\nmcpServers:\n  tools-box:\n    type: stdio\n    command: PROGRAM\n    args: [\"--project-root\", \"HOME/tools-box\"]\n",
        ),
    },
    Case {
        client: "cline",
        scope: USER,
        path: ".cline/data/settings/cline_mcp_settings.json",
        before: "{\n  \"mcpServers\": {\n    \"a\": {\n      \"autoApprove\": [],\n      \"disabled\": true,\n      \"timeout\": 60,\n      \"type\": \"stdio\",\n      \"command\": \"x\"\n    }\n  }\n}\n",
        change: (
            "\"x\"\n    }\n",
            "\"x\"\n    },\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n",
        ),
    },
    Case {
        client: "roo-code",
        scope: USER,
        path: ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        before: "{\n  \"mcpServers\": {}\n}",
        change: (
            "{}",
            "{\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }",
        ),
    },
    Case {
        client: "roo-code",
        scope: PROJECT,
        path: "tools-box/.roo/mcp.json",
        before: "{\"mcpServers\":{\n}}",
        change: (
            "{\n}",
            "{\n  \"tools-box\": {\n    \"command\": \"PROGRAM\",\n    \"args\": [\"--project-root\", \"HOME/tools-box\"]\n  }\n}",
        ),
    },
    Case {
        client: "continue",
        scope: USER,
        path: ".continue/config.yaml",
        before: "name: Mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: docs\n    command: npx\n    args:\n      - -y\n      - docs # all\nmodels:\n  - name: x\n",
        change: (
            "      - docs # all\n",
            "      - docs # all\n  - name: tools-box\n    command: PROGRAM\n    args: [\"--project-root\", \"HOME/tools-box\"]\n",
        ),
    },
    Case {
        client: "continue",
        scope: PROJECT,
        path: "tools-box/.continue/mcpServers/mcp-bash.json",
        before: "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"}\n  }\n}\n",
        change: (
            "\"b\"}\n",
            "\"b\"},\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n",
        ),
    },
    Case {
        client: "junie",
        scope: USER,
        path: ".junie/mcp/mcp.json",
        before: "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"}\n\n  }\n\n}\n\n",
        change: (
            "\"b\"}\n\n",
            "\"b\"},\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n\n",
        ),
    },
    Case {
        client: "junie",
        scope: PROJECT,
        path: "tools-box/.junie/mcp/mcp.json",
        before: "{ }",
        change: (
            "{ }",
            "{\n  \"mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }\n}",
        ),
    },
    Case {
        client: "amp",
        scope: USER,
        path: ".config/amp/settings.jsonc",
        before: "{\n  \"amp.notifications.enabled\": false, // quiet\n}\n",
        change: (
            "false, // quiet\n",
            "false, // quiet\n  \"amp.mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  },\n",
        ),
    },
    Case {
        client: "amp",
        scope: PROJECT,
        path: "tools-box/.amp/settings.json",
        before: "{\n  \"amp\": {\"mcpServers\": {}}\n}",
        change: (
            "{}}\n",
            "{}},\n  \"amp.mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }\n",
        ),
    },
    Case {
        client: "opencode",
        scope: USER,
        path: ".config/opencode/opencode.jsonc",
        before: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // servers\n  \"mcp\": {\n    \"a\": { \"type\": \"remote\", \"url\": \"https://example.com\" },\n  },\n}\n",
        change: (
            "example.com\" },\n",
            "example.com\" },\n    \"tools-box\": {\n      \"type\": \"local\",\n      \"command\": [\"PROGRAM\", \"--project-root\", \"HOME/tools-box\"],\n      \"enabled\": true\n    },\n",
        ),
    },
    Case {
        client: "opencode",
        scope: PROJECT,
        path: "tools-box/.opencode/opencode.json",
        before: "{\n  \"mcp\": {\n    \"servers\": {\n      \"a\": {}\n    }\n  }\n}\n",
        change: (
            "\"a\": {}\n",
            "\"a\": {},\n      \"tools-box\": {\n        \"type\": \"local\",\n        \"command\": [\"PROGRAM\", \"--project-root\", \"HOME/tools-box\"],\n        \"enabled\": true\n      }\n",
        ),
    },
    Case {
        client: "kiro",
        scope: USER,
        path: ".kiro/settings/mcp.json",
        before: "{\n  \"mcpServers\": {\n    \"fetch\": {\n      \"command\": \"uvx\",\n      \"disabled\": true,\n      \"autoApprove\": []\n    }\n  },\n  \"powers\": {\"mcpServers\": {}}\n}\n",
        change: (
            "[]\n    }\n",
            "[]\n    },\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n",
        ),
    },
    Case {
        client: "kiro",
        scope: PROJECT,
        path: "tools-box/.kiro/settings/mcp.json",
        before: "{\n  \"mcpServers\": {\n    // none\n  }\n}\n",
        change: (
            "// none\n",
            "// none\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n",
        ),
    },
    Case {
        client: "lm-studio",
        scope: USER,
        path: ".lmstudio/mcp.json",
        before: "{\n  \"mcpServers\": {}\n}\n",
        change: (
            "{}",
            "{\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }",
        ),
    },
];

fn with_words<'w>(words: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    words.iter().chain(more).copied().collect()
}

#[test]
fn the_entry_is_added_to_the_file_of_each_client_and_taken_out_again() {
    for Case { client, scope, path, before, change: (piece, changed) } in CASES {
        let home = Home::new();
        home.write(path, before);
        let expected = before.replacen(piece, changed, 1);
        assert_ne!(&expected, before, "{client}: {piece:?} is part of the text");

        let said = home.run(&with_words(&["install", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client} {path}");
        assert_eq!(home.read(path).unwrap(), expected, "{client} {path}");
        let backup = format!("{path}.bak");
        assert_eq!(home.read(&backup).as_deref(), Some(*before), "{client} {path}");

        // As it is.
        let said = home.run(&with_words(&["install", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        assert!(said.out.contains("is already installed in HOME/"), "{}", said.out);
        assert_eq!(home.read(path).unwrap(), expected, "{client}");
        assert_eq!(home.read(&format!("{backup}2")), None, "{client}");

        let said = home.run(&with_words(&["uninstall", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        assert_eq!(home.read(path).as_deref(), Some(*before), "{client} {path}");
    }
}

#[test]
fn a_file_that_its_client_wrote_meanwhile_loses_the_entry_alone() {
    for Case { client, scope, path, before, .. } in CASES {
        let home = Home::new();
        home.write(path, before);
        home.run(&with_words(&["install", client], scope));
        std::fs::remove_file(home.path(&format!("{path}.bak"))).unwrap();
        let said = home.run(&with_words(&["uninstall", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        // Only whole files of nothing go.
        let Some(after) = home.read(path) else {
            assert!(before.trim().len() < 30, "{client}: {before}");
            continue;
        };
        assert!(!after.contains("--project-root"), "{client}: {after}");
        // All that was there is there, in its order; and what is new is at most what leads to the servers.
        let mut rest = &*after;
        for part in before.split_whitespace() {
            let part = part.trim_end_matches(',').trim_matches(['{', '}']);
            let at = rest.find(part).unwrap_or_else(|| panic!("{client}: {part} in {after}"));
            rest = &rest[at + part.len()..];
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_made_and_goes_again() {
    let home = Home::new();
    let places: Vec<(&str, &[&str])> = CASES.iter().map(|case| (case.client, case.scope)).collect();
    for (client, scope) in places {
        let before = home.files("");
        let said = home.run(&with_words(&["install", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        let made: Vec<String> = home.files("").into_iter().filter(|file| !before.contains(file)).collect();
        assert_eq!(made.len(), 1, "{client} {scope:?}: {made:?}");
        let said = home.run(&with_words(&["uninstall", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        assert_eq!(home.files(""), before, "{client} {scope:?}");
    }
}
