//! Files of agents and of chat programs.

use super::case::{Case, LOCAL, PROJECT, USER};

pub(super) const CASES: &[Case] = &[
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
