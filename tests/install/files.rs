//! `mcp-bash install` in the files of each client, as people have them: with comments, other servers, tabs and line ends of
//! Windows. All but the entry stays byte for byte, and `uninstall` gives back what was there.

use crate::harness::Home;
use mcp_bash_entries::{CLIENTS, Scope};

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
        before: r#"{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y"
      ]
    }
  },
  "globalShortcut": ""
}"#,
        change: (
            "      ]
    }
  },",
            r#"      ]
    },
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  },"#,
        ),
    },
    Case {
        client: "claude-code",
        scope: USER,
        path: ".claude.json",
        before: r#"{
  "numStartups": 12,
  "projects": {
    "/w": {
      "mcpServers": {},
      "history": ["a", "\u00e9"]
    }
  },
  "mcpServers": {}
}
"#,
        change: (
            r#""mcpServers": {}
}"#,
            r#""mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }
}"#,
        ),
    },
    Case {
        client: "claude-code",
        scope: LOCAL,
        path: ".claude.json",
        before: r#"{"numStartups":1,"mcpServers":{"x":{"command":"y"}}}"#,
        change: (
            r#"{"command":"y"}}}"#,
            r#"{"command":"y"}},"projects":{"HOME/tools-box":{"mcpServers":{"tools-box":{"command":"PROGRAM","args":["--project-root","HOME/tools-box"]}}}}}"#,
        ),
    },
    Case {
        client: "claude-code",
        scope: PROJECT,
        path: "tools-box/.mcp.json",
        before: r#"{ "mcpServers": { "a": { "type": "http", "url": "https://example.com/mcp" } } }
"#,
        change: (
            r#"/mcp" } } }"#,
            r#"/mcp" }, "tools-box": { "command": "PROGRAM", "args": ["--project-root", "HOME/tools-box"] } } }"#,
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
            r#"{
  "mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }
}"#,
        ),
    },
    Case {
        client: "vscode",
        scope: USER,
        path: ".config/Code/User/mcp.json",
        before: r#"{
	// what I use
	"inputs": [
		{ "type": "promptString", "id": "key", "password": true, },
	],
	"servers": {
		/* off: "old": {}, */
		"db": { "command": "x", "env": { "K": "${input:key}" } }, // keep
	},
}
"#,
        change: (
            "} }, // keep
",
            r#"} }, // keep
		"tools-box": {
			"type": "stdio",
			"command": "PROGRAM",
			"args": ["--project-root", "HOME/tools-box"]
		},
"#,
        ),
    },
    Case {
        client: "vscode",
        scope: PROJECT,
        path: "tools-box/.vscode/mcp.json",
        before: r#"{
    "inputs": []
}"#,
        change: (
            "[]
}",
            r#"[],
    "servers": {
        "tools-box": {
            "type": "stdio",
            "command": "PROGRAM",
            "args": ["--project-root", "HOME/tools-box"]
        }
    }
}"#,
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
        before: r#"{
   "mcpServers" : {
      "a" : { "serverUrl" : "https://example.com" }
   }
}
"#,
        change: (
            r#"example.com" }
"#,
            r#"example.com" },
      "tools-box": {
         "command": "PROGRAM",
         "args": ["--project-root", "HOME/tools-box"]
      }
"#,
        ),
    },
    Case {
        client: "zed",
        scope: USER,
        path: ".config/zed/settings.json",
        before: r#"// Zed settings
//
// For information, see the documentation
{
  "theme": "One Dark", // dark
  "vim_mode": true,
}
"#,
        change: (
            r#""vim_mode": true,
"#,
            r#""vim_mode": true,
  "context_servers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"],
      "env": {}
    }
  },
"#,
        ),
    },
    Case {
        client: "zed",
        scope: PROJECT,
        path: "tools-box/.zed/settings.json",
        before: "\n",
        change: (
            "\n",
            r#"
{
  "context_servers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"],
      "env": {}
    }
  }
}
"#,
        ),
    },
    Case {
        client: "codex",
        scope: USER,
        path: ".codex/config.toml",
        before: r#"model = "o9" # the best
notify = [
  "x",
]

[mcp_servers.docs]
command = 'npx'

[mcp_servers.docs.env]
KEY = "v"

[projects."/w"]
trust_level = "trusted"
"#,
        change: (
            r#""trusted"
"#,
            r#""trusted"

[mcp_servers.tools-box]
command = "PROGRAM"
args = ["--project-root", "HOME/tools-box"]
"#,
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
        before: r#"{
  // the colours
  "ui": {"theme": "GitHub"}, /* and more */
  "mcpServers": {
    "a": {"command": "x"} // last
  }
}
"#,
        change: (
            r#"{"command": "x"} // last
"#,
            r#"{"command": "x"}, // last
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
"#,
        ),
    },
    Case {
        client: "gemini",
        scope: PROJECT,
        path: "tools-box/.gemini/settings.json",
        before: "{
}
",
        change: (
            "{
}",
            r#"{
  "mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }
}"#,
        ),
    },
    Case {
        client: "copilot",
        scope: USER,
        path: ".copilot/mcp-config.json",
        before: r#"{
  "mcpServers": {
    "gh": {
      "type": "http",
      "url": "https://example.com",
      "tools": ["*"]
    }
  }
}"#,
        change: (
            "    }
  }",
            r#"    },
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }"#,
        ),
    },
    Case {
        client: "copilot",
        scope: PROJECT,
        path: "tools-box/.github/mcp.json",
        before: r#"{"mcpServers": {}}"#,
        change: ("{}", r#"{"tools-box":{"command":"PROGRAM","args":["--project-root","HOME/tools-box"]}}"#),
    },
    Case {
        client: "goose",
        scope: USER,
        path: ".config/goose/config.yaml",
        before: "GOOSE_PROVIDER: anthropic
extensions:
  developer:
    bundled: true # built in
    enabled: true
    name: developer
    timeout: 300
    type: builtin

# the model
GOOSE_MODEL: x
",
        change: (
            "    type: builtin
",
            r#"    type: builtin
  tools-box:
    name: tools-box
    description: ""
    type: stdio
    cmd: PROGRAM
    args: ["--project-root", "HOME/tools-box"]
    timeout: 300
    enabled: true
    envs: {}
"#,
        ),
    },
    Case {
        client: "librechat",
        scope: PROJECT,
        path: "tools-box/librechat.yaml",
        before: r#"version: 1.2.1
cache: true
# mcpServers:
#   old: {}
endpoints:
  custom:
    - name: "Mistral"
      apiKey: '${KEY}'"#,
        change: (
            "'${KEY}'",
            r#"'${KEY}'
mcpServers:
  tools-box:
    type: stdio
    command: PROGRAM
    args: ["--project-root", "HOME/tools-box"]
"#,
        ),
    },
    Case {
        client: "cline",
        scope: USER,
        path: ".cline/data/settings/cline_mcp_settings.json",
        before: r#"{
  "mcpServers": {
    "a": {
      "autoApprove": [],
      "disabled": true,
      "timeout": 60,
      "type": "stdio",
      "command": "x"
    }
  }
}
"#,
        change: (
            r#""x"
    }
"#,
            r#""x"
    },
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
"#,
        ),
    },
    Case {
        client: "roo-code",
        scope: USER,
        path: ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        before: r#"{
  "mcpServers": {}
}"#,
        change: (
            "{}",
            r#"{
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }"#,
        ),
    },
    Case {
        client: "roo-code",
        scope: PROJECT,
        path: "tools-box/.roo/mcp.json",
        before: r#"{"mcpServers":{
}}"#,
        change: (
            "{
}",
            r#"{
  "tools-box": {
    "command": "PROGRAM",
    "args": ["--project-root", "HOME/tools-box"]
  }
}"#,
        ),
    },
    Case {
        client: "continue",
        scope: USER,
        path: ".continue/config.yaml",
        before: "name: Mine
version: 1.0.0
schema: v1
mcpServers:
  - name: docs
    command: npx
    args:
      - -y
      - docs # all
models:
  - name: x
",
        change: (
            "      - docs # all
",
            r#"      - docs # all
  - name: tools-box
    command: PROGRAM
    args: ["--project-root", "HOME/tools-box"]
"#,
        ),
    },
    Case {
        client: "continue",
        scope: PROJECT,
        path: "tools-box/.continue/mcpServers/mcp-bash.json",
        before: r#"{
  "mcpServers": {
    "a": {"command": "b"}
  }
}
"#,
        change: (
            r#""b"}
"#,
            r#""b"},
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
"#,
        ),
    },
    Case {
        client: "junie",
        scope: USER,
        path: ".junie/mcp/mcp.json",
        before: r#"{
  "mcpServers": {
    "a": {"command": "b"}

  }

}

"#,
        change: (
            r#""b"}

"#,
            r#""b"},
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }

"#,
        ),
    },
    Case {
        client: "junie",
        scope: PROJECT,
        path: "tools-box/.junie/mcp/mcp.json",
        before: "{ }",
        change: (
            "{ }",
            r#"{
  "mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }
}"#,
        ),
    },
    Case {
        client: "amp",
        scope: USER,
        path: ".config/amp/settings.jsonc",
        before: r#"{
  "amp.notifications.enabled": false, // quiet
}
"#,
        change: (
            "false, // quiet
",
            r#"false, // quiet
  "amp.mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  },
"#,
        ),
    },
    Case {
        client: "amp",
        scope: PROJECT,
        path: "tools-box/.amp/settings.json",
        before: r#"{
  "amp": {"mcpServers": {}}
}"#,
        change: (
            "{}}
",
            r#"{}},
  "amp.mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }
"#,
        ),
    },
    Case {
        client: "opencode",
        scope: USER,
        path: ".config/opencode/opencode.jsonc",
        before: r#"{
  "$schema": "https://opencode.ai/config.json",
  // servers
  "mcp": {
    "a": { "type": "remote", "url": "https://example.com" },
  },
}
"#,
        change: (
            r#"example.com" },
"#,
            r#"example.com" },
    "tools-box": {
      "type": "local",
      "command": ["PROGRAM", "--project-root", "HOME/tools-box"],
      "enabled": true
    },
"#,
        ),
    },
    Case {
        client: "opencode",
        scope: PROJECT,
        path: "tools-box/.opencode/opencode.json",
        before: r#"{
  "mcp": {
    "servers": {
      "a": {}
    }
  }
}
"#,
        change: (
            r#""a": {}
"#,
            r#""a": {},
      "tools-box": {
        "type": "local",
        "command": ["PROGRAM", "--project-root", "HOME/tools-box"],
        "enabled": true
      }
"#,
        ),
    },
    Case {
        client: "qwen",
        scope: USER,
        path: ".qwen/settings.json",
        before: r#"{
  // mine
  "model": { "name": "$MODEL" },
  "mcpServers": {
    "docs": { "httpUrl": "https://example.com", "trust": true }
  }
}
"#,
        change: (
            r#""trust": true }
"#,
            r#""trust": true },
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
"#,
        ),
    },
    Case {
        client: "qwen",
        scope: PROJECT,
        path: "tools-box/.qwen/settings.json",
        before: "{}\n",
        change: (
            "{}",
            r#"{
  "mcpServers": {
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }
}"#,
        ),
    },
    Case {
        client: "vibe",
        scope: USER,
        path: ".vibe/config.toml",
        before: r#"active_model = "devstral" # mine
enabled_skills = []

[[mcp_servers]]
name = "fetch"
transport = "stdio"
command = "uvx mcp-server-fetch"

[tools.bash]
permission = "ask"
"#,
        change: (
            r#"permission = "ask"
"#,
            r#"permission = "ask"

[[mcp_servers]]
name = "tools-box"
transport = "stdio"
command = ["PROGRAM"]
args = ["--project-root", "HOME/tools-box"]
"#,
        ),
    },
    Case {
        client: "vibe",
        scope: USER,
        path: ".vibe/config.toml",
        before: r#"theme = "x"
mcp_servers = []
[session_logging]
enabled = true
"#,
        change: (
            "mcp_servers = []",
            r#"mcp_servers = [{ name = "tools-box", transport = "stdio", command = ["PROGRAM"], args = ["--project-root", "HOME/tools-box"] }]"#,
        ),
    },
    Case {
        client: "kiro",
        scope: USER,
        path: ".kiro/settings/mcp.json",
        before: r#"{
  "mcpServers": {
    "fetch": {
      "command": "uvx",
      "disabled": true,
      "autoApprove": []
    }
  },
  "powers": {"mcpServers": {}}
}
"#,
        change: (
            "[]
    }
",
            r#"[]
    },
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
"#,
        ),
    },
    Case {
        client: "kiro",
        scope: PROJECT,
        path: "tools-box/.kiro/settings/mcp.json",
        before: r#"{
  "mcpServers": {
    // none
  }
}
"#,
        change: (
            "// none
",
            r#"// none
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
"#,
        ),
    },
    Case {
        client: "lm-studio",
        scope: USER,
        path: ".lmstudio/mcp.json",
        before: r#"{
  "mcpServers": {}
}
"#,
        change: (
            "{}",
            r#"{
    "tools-box": {
      "command": "PROGRAM",
      "args": ["--project-root", "HOME/tools-box"]
    }
  }"#,
        ),
    },
];

fn with_words<'w>(words: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    words.iter().chain(more).copied().collect()
}

#[test]
fn each_file_of_each_client_is_among_these() {
    let words = |scope: Scope| if scope == Scope::User { Vec::new() } else { vec!["--scope", scope.name()] };
    for client in CLIENTS {
        for file in client.files {
            let is_of_windows = (client.name, file.scope) == ("visual-studio", Scope::User);
            let is_here =
                CASES.iter().any(|case| case.client == client.name && case.scope == words(file.scope));
            assert!(is_here || is_of_windows, "{} {:?}", client.name, file.scope);
        }
    }
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
