//! Files of editors.

use super::case::{Case, PROJECT, USER};

pub(super) const CASES: &[Case] = &[
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
        client: "copilot-jetbrains",
        scope: USER,
        path: ".config/github-copilot/intellij/mcp.json",
        before: "{\n    \"servers\": {\n        // \"memory\": {\"command\": \"npx\"}\n    }\n}\n",
        change: (
            "{\n        // \"memory\": {\"command\": \"npx\"}\n    }",
            "{\n        // \"memory\": {\"command\": \"npx\"}\n        \"tools-box\": {\n            \"command\": \"PROGRAM\",\n            \"args\": [\"--project-root\", \"HOME/tools-box\"]\n        }\n    }",
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
];
