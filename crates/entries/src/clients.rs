//! Client table. `docs/clients.md` documents the same for users.

use crate::client::{Client, ClientFile, Dialect, Format, LinkForm, Names, Note, Scope};
use crate::place::{ConfigLocation, On};
use crate::remote::{Reference, RemoteShape};
use crate::replaces::Replaces;
use crate::shape::Shape;
use crate::variables::supply::Supply;

const STRICT: Format = Format::Json(Dialect { comments: false, trailing_commas: false });
const COMMENTS: Format = Format::Json(Dialect { comments: true, trailing_commas: false });
/// Also for clients whose strictness is unknown: existing comments and commas stay, and none are added.
const LENIENT: Format = Format::Json(Dialect { comments: true, trailing_commas: true });

const SERVERS: &[&str] = &["mcpServers"];

const fn any(path: &'static str) -> ConfigLocation {
    ConfigLocation { on: On::Any, path }
}

const fn on(on: On, path: &'static str) -> ConfigLocation {
    ConfigLocation { on, path }
}

/// A file with `mcpServers` in it, as most clients have it.
const fn usual(scope: Scope, places: &'static [ConfigLocation], format: Format) -> ClientFile {
    ClientFile { scope, places, keys: SERVERS, format, shape: Shape::Command, beginning: "" }
}

const NOTHING: Client = Client {
    name: "",
    aliases: &[],
    title: "",
    files: &[],
    signs: &[],
    programs: &[],
    names: Names::Plain,
    inherits_environment: false,
    link: None,
    remote: None,
    reference: None,
    own_supply: None,
    replaces: Replaces::NOTHING,
    then: "",
    notes: &[],
};

const RESTART: &str = "restart it";
const LISTED: &str = "it notices by itself; the server is listed in its settings";

const fn note(text: &'static str) -> Note {
    Note { scope: None, text }
}

const fn note_for(scope: Scope, text: &'static str) -> Note {
    Note { scope: Some(scope), text }
}

/// Every known client, in the order in which they are shown.
pub const CLIENTS: &[Client] = &[
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        files: &[usual(
            Scope::User,
            &[
                on(
                    On::Windows,
                    "$LOCALAPPDATA/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
                ),
                any("$CONFIG/Claude/claude_desktop_config.json"),
            ],
            STRICT,
        )],
        signs: &[
            any("$CONFIG/Claude"),
            on(On::MacOs, "/Applications/Claude.app"),
            on(On::Windows, "$LOCALAPPDATA/Packages/Claude_*"),
        ],
        programs: &["claude-desktop"],
        then: "quit it completely and start it again",
        notes: &[note("Servers get a short PATH and few variables.")],
        ..NOTHING
    },
    Client {
        name: "claude-code",
        aliases: &["claude-cli", "claude"],
        title: "Claude Code",
        files: &[
            usual(Scope::User, CLAUDE_CODE, STRICT),
            usual(Scope::Project, &[any(".mcp.json")], STRICT),
            ClientFile { keys: &["projects", "*", "mcpServers"], ..usual(Scope::Local, CLAUDE_CODE, STRICT) },
        ],
        signs: &[any("$CLAUDE_CONFIG_DIR"), any("~/.claude.json"), any("~/.claude")],
        programs: &["claude"],
        inherits_environment: true,
        remote: Some(RemoteShape::Typed("http")),
        reference: Some(Reference::Braces),
        replaces: Replaces::BRACES,
        then: "start a new session; `/mcp` lists its servers",
        notes: &[note_for(
            Scope::Project,
            "An interactive session asks before it uses a server of a project; `claude -p` uses it at once.",
        )],
        ..NOTHING
    },
    Client {
        name: "cursor",
        title: "Cursor",
        files: &[
            usual(Scope::User, &[any("~/.cursor/mcp.json")], LENIENT),
            usual(Scope::Project, &[any(".cursor/mcp.json")], LENIENT),
        ],
        signs: &[any("~/.cursor"), on(On::MacOs, "/Applications/Cursor.app")],
        programs: &["cursor"],
        link: Some(LinkForm::Cursor),
        remote: Some(RemoteShape::Url),
        replaces: Replaces::BRACES,
        then: LISTED,
        notes: &[note(
            "Names of server and tool have less than 60 characters together, or the tool is hidden.",
        )],
        ..NOTHING
    },
    Client {
        name: "vscode",
        aliases: &["vs-code", "code"],
        title: "VS Code",
        files: &[
            ClientFile {
                keys: &["servers"],
                shape: Shape::Stdio,
                ..usual(Scope::User, &[any("$CONFIG/Code/User/mcp.json")], LENIENT)
            },
            ClientFile {
                keys: &["servers"],
                shape: Shape::Stdio,
                ..usual(Scope::Project, &[any(".vscode/mcp.json")], LENIENT)
            },
        ],
        signs: &[any("$CONFIG/Code"), on(On::MacOs, "/Applications/Visual Studio Code.app")],
        programs: &["code"],
        link: Some(LinkForm::VsCode),
        remote: Some(RemoteShape::Typed("http")),
        own_supply: Some(Supply::Prompt),
        replaces: Replaces::BRACES,
        then: "start the server with `MCP: List Servers`",
        notes: &[note_for(Scope::User, "Each profile, and each remote machine, has a file of its own.")],
        ..NOTHING
    },
    Client {
        name: "visual-studio",
        title: "Visual Studio",
        files: &[
            ClientFile {
                keys: &["servers"],
                shape: Shape::Stdio,
                ..usual(Scope::User, &[on(On::Windows, "~/.mcp.json")], LENIENT)
            },
            ClientFile {
                keys: &["servers"],
                shape: Shape::Stdio,
                ..usual(Scope::Project, &[any(".vs/mcp.json")], LENIENT)
            },
        ],
        signs: &[on(On::Windows, "$LOCALAPPDATA/Microsoft/VisualStudio")],
        link: Some(LinkForm::VisualStudio),
        remote: Some(RemoteShape::Url),
        replaces: Replaces::BRACES,
        then: "open the tools of Copilot Chat and start the server",
        notes: &[note("Only on Windows, from 17.14 on.")],
        ..NOTHING
    },
    Client {
        name: "copilot-jetbrains",
        aliases: &["jetbrains-copilot", "copilot-intellij"],
        title: "Copilot for JetBrains",
        files: &[ClientFile { keys: &["servers"], ..usual(Scope::User, COPILOT_JETBRAINS, LENIENT) }],
        signs: &[
            on(On::Unix, "~/.config/github-copilot/intellij"),
            on(On::Windows, "$LOCALAPPDATA/github-copilot/intellij"),
        ],
        replaces: Replaces::BRACES,
        then: "start the server from the tools of Copilot Chat, in agent mode",
        notes: &[note("All JetBrains IDEs of a user share the file; a project has none.")],
        ..NOTHING
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        files: &[usual(Scope::User, &[any("~/.codeium/windsurf/mcp_config.json")], LENIENT)],
        signs: &[any("~/.codeium/windsurf"), on(On::MacOs, "/Applications/Windsurf.app")],
        programs: &["windsurf"],
        remote: Some(RemoteShape::ServerUrl),
        replaces: Replaces::BRACES,
        then: "refresh the list of servers in its settings",
        notes: &[note("At most 100 tools of all servers together.")],
        ..NOTHING
    },
    Client {
        name: "zed",
        title: "Zed",
        files: &[
            ClientFile {
                keys: &["context_servers"],
                shape: Shape::CommandAndEnv,
                ..usual(Scope::User, ZED, LENIENT)
            },
            ClientFile {
                keys: &["context_servers"],
                shape: Shape::CommandAndEnv,
                ..usual(Scope::Project, &[any(".zed/settings.json")], LENIENT)
            },
        ],
        signs: &[
            on(On::Unix, "$XDG/zed"),
            on(On::Windows, "$CONFIG/Zed"),
            on(On::MacOs, "/Applications/Zed.app"),
        ],
        programs: &["zed", "zeditor"],
        inherits_environment: true,
        remote: Some(RemoteShape::UrlAndHeaders),
        then: LISTED,
        notes: &[
            note("Tools and prompts only."),
            note_for(Scope::Project, "These settings count when you trust the folder."),
        ],
        ..NOTHING
    },
    Client {
        name: "codex",
        title: "Codex",
        files: &[
            ClientFile {
                keys: &["mcp_servers"],
                ..usual(
                    Scope::User,
                    &[any("$CODEX_HOME/config.toml"), any("~/.codex/config.toml")],
                    Format::Toml,
                )
            },
            ClientFile {
                keys: &["mcp_servers"],
                ..usual(Scope::Project, &[any(".codex/config.toml")], Format::Toml)
            },
        ],
        signs: &[any("$CODEX_HOME"), any("~/.codex")],
        programs: &["codex"],
        remote: Some(RemoteShape::Url),
        reference: Some(Reference::Key("bearer_token_env_var")),
        own_supply: Some(Supply::Passed),
        then: "start a new session; `codex mcp list` lists its servers",
        notes: &[
            note("Servers get few variables (`env_vars` passes more)."),
            note("`codex exec` refuses tools without annotations."),
            note_for(Scope::Project, "This file counts when you trust the folder."),
        ],
        ..NOTHING
    },
    Client {
        name: "gemini",
        aliases: &["gemini-cli"],
        title: "Gemini CLI",
        files: &[
            usual(
                Scope::User,
                &[any("$GEMINI_CLI_HOME/.gemini/settings.json"), any("~/.gemini/settings.json")],
                COMMENTS,
            ),
            usual(Scope::Project, &[any(".gemini/settings.json")], COMMENTS),
        ],
        signs: &[any("$GEMINI_CLI_HOME/.gemini"), any("~/.gemini")],
        programs: &["gemini"],
        names: Names::WithoutUnderscore,
        remote: Some(RemoteShape::Typed("http")),
        reference: Some(Reference::Dollar),
        replaces: Replaces::DOLLAR,
        then: "start a new session; `/mcp` lists its servers",
        notes: &[
            note("Variables whose names look like secrets reach a server only from its entry."),
            note("No server runs in a folder that you do not trust."),
            note("`gemini -p` hides the tools without `--yolo`, or `\"trust\": true` in the entry."),
        ],
        ..NOTHING
    },
    Client {
        name: "qwen",
        aliases: &["qwen-code"],
        title: "Qwen Code",
        files: &[
            usual(Scope::User, &[any("~/.qwen/settings.json")], COMMENTS),
            usual(Scope::Project, &[any(".qwen/settings.json")], COMMENTS),
        ],
        signs: &[any("~/.qwen")],
        programs: &["qwen"],
        remote: Some(RemoteShape::HttpUrl),
        reference: Some(Reference::Braces),
        replaces: Replaces::DOLLAR,
        then: "start a new session; `/mcp` lists its servers",
        notes: &[
            note("Without a user it refuses tools unless the entry has `\"trust\": true`."),
            note("It shows the model the first line of a description."),
        ],
        ..NOTHING
    },
    Client {
        name: "copilot",
        aliases: &["copilot-cli", "github-copilot"],
        title: "Copilot CLI",
        files: &[
            usual(
                Scope::User,
                &[any("$COPILOT_HOME/mcp-config.json"), any("~/.copilot/mcp-config.json")],
                LENIENT,
            ),
            usual(Scope::Project, &[any(".mcp.json"), any(".github/mcp.json")], LENIENT),
        ],
        signs: &[any("$COPILOT_HOME"), any("~/.copilot")],
        programs: &["copilot"],
        inherits_environment: true,
        remote: Some(RemoteShape::Url),
        reference: Some(Reference::Braces),
        replaces: Replaces::DOLLAR,
        then: "start a new session; `/mcp` lists its servers",
        notes: &[
            note("`copilot -p` runs only tools with `readOnlyHint`, unless you pass `--allow-all-tools`."),
            note_for(Scope::Project, "This file counts when you trust the folder."),
        ],
        ..NOTHING
    },
    Client {
        name: "goose",
        title: "Goose",
        files: &[ClientFile {
            keys: &["extensions"],
            shape: Shape::Goose,
            ..usual(
                Scope::User,
                &[
                    on(On::Unix, "$XDG/goose/config.yaml"),
                    on(On::Windows, "$CONFIG/Block/goose/config/config.yaml"),
                ],
                Format::Yaml,
            )
        }],
        signs: &[on(On::Unix, "$XDG/goose"), on(On::Windows, "$CONFIG/Block/goose")],
        programs: &["goose"],
        inherits_environment: true,
        remote: Some(RemoteShape::Goose),
        reference: Some(Reference::Listed("env_keys")),
        replaces: Replaces::DOLLAR_IN_REMOTES,
        then: "start a new session",
        notes: &[note("An entry cannot set PATH, TEMP, PYTHONPATH, NODE_OPTIONS and the like.")],
        ..NOTHING
    },
    Client {
        name: "librechat",
        title: "LibreChat",
        files: &[ClientFile {
            shape: Shape::Stdio,
            beginning: "version: 1.2.1\n",
            ..usual(Scope::Project, &[any("librechat.yaml")], Format::Yaml)
        }],
        remote: Some(RemoteShape::Typed("streamable-http")),
        reference: Some(Reference::Braces),
        replaces: Replaces::BRACES_AND_MUSTACHE,
        then: "restart its server",
        notes: &[note("Its file lies in its own folder: run `install` there.")],
        ..NOTHING
    },
    Client {
        name: "cline",
        title: "Cline",
        files: &[usual(
            Scope::User,
            &[any("$CLINE_MCP_SETTINGS_PATH"), any("~/.cline/data/settings/cline_mcp_settings.json")],
            LENIENT,
        )],
        signs: &[any("$CLINE_MCP_SETTINGS_PATH"), any("~/.cline")],
        programs: &["cline"],
        remote: Some(RemoteShape::Typed("streamableHttp")),
        then: LISTED,
        notes: &[note("A call may take 60 seconds; `timeout` (seconds) in the entry changes that.")],
        ..NOTHING
    },
    Client {
        name: "roo-code",
        aliases: &["roo"],
        title: "Roo Code",
        files: &[
            usual(
                Scope::User,
                &[any(
                    "$CONFIG/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
                )],
                STRICT,
            ),
            usual(Scope::Project, &[any(".roo/mcp.json")], STRICT),
        ],
        signs: &[any("$CONFIG/Code/User/globalStorage/rooveterinaryinc.roo-cline")],
        remote: Some(RemoteShape::Typed("streamable-http")),
        reference: Some(Reference::Env),
        replaces: Replaces::BRACES,
        then: LISTED,
        notes: &[
            note("Names of server and tool are cut at 64 characters together."),
            note("A call may take 60 seconds; `timeout` (seconds) in the entry changes that."),
        ],
        ..NOTHING
    },
    Client {
        name: "vibe",
        aliases: &["mistral-vibe", "mistral"],
        title: "Vibe",
        files: &[ClientFile {
            keys: &["mcp_servers"],
            shape: Shape::Vibe,
            ..usual(Scope::User, &[any("$VIBE_HOME/config.toml"), any("~/.vibe/config.toml")], Format::Toml)
        }],
        signs: &[any("$VIBE_HOME"), any("~/.vibe")],
        programs: &["vibe"],
        remote: Some(RemoteShape::Vibe),
        reference: Some(Reference::Key("api_key_env")),
        then: "start a new session",
        notes: &[note(
            "A call may take 60 seconds, the start 10; `tool_timeout_sec` and `startup_timeout_sec` in the entry change that.",
        )],
        ..NOTHING
    },
    Client {
        name: "continue",
        title: "Continue",
        files: &[
            ClientFile {
                shape: Shape::Named,
                beginning: "name: Local Config\nversion: 1.0.0\nschema: v1\n",
                ..usual(Scope::User, &[any("~/.continue/config.yaml")], Format::Yaml)
            },
            usual(Scope::Project, &[any(".continue/mcpServers/mcp-bash.json")], STRICT),
        ],
        signs: &[any("~/.continue")],
        programs: &["cn"],
        remote: Some(RemoteShape::Named),
        reference: Some(Reference::Secret),
        replaces: Replaces::SECRETS,
        then: "reload its window",
        notes: &[
            note("Servers get few variables, and must be there within 20 seconds."),
            note_for(
                Scope::Project,
                "`cn`, its command line, does not read this file: it needs `--scope user`.",
            ),
        ],
        ..NOTHING
    },
    Client {
        name: "junie",
        title: "Junie",
        files: &[
            usual(Scope::User, &[any("~/.junie/mcp/mcp.json")], LENIENT),
            usual(Scope::Project, &[any(".junie/mcp/mcp.json")], LENIENT),
        ],
        signs: &[any("~/.junie")],
        programs: &["junie"],
        replaces: Replaces::BRACES,
        then: RESTART,
        ..NOTHING
    },
    Client {
        name: "amp",
        title: "Amp",
        files: &[
            ClientFile {
                keys: &["amp.mcpServers"],
                ..usual(
                    Scope::User,
                    &[any("~/.config/amp/settings.json"), any("~/.config/amp/settings.jsonc")],
                    LENIENT,
                )
            },
            ClientFile {
                keys: &["amp.mcpServers"],
                ..usual(Scope::Project, &[any(".amp/settings.json")], LENIENT)
            },
        ],
        signs: &[any("~/.config/amp")],
        programs: &["amp"],
        remote: Some(RemoteShape::Url),
        replaces: Replaces::BRACES,
        then: "start a new session",
        notes: &[note_for(Scope::Project, "Servers of a project wait until you approve them.")],
        ..NOTHING
    },
    Client {
        name: "opencode",
        title: "opencode",
        files: &[
            ClientFile {
                keys: &["mcp"],
                shape: Shape::OpenCode,
                ..usual(
                    Scope::User,
                    &[any("$XDG/opencode/opencode.json"), any("$XDG/opencode/opencode.jsonc")],
                    LENIENT,
                )
            },
            ClientFile {
                keys: &["mcp"],
                shape: Shape::OpenCode,
                ..usual(
                    Scope::Project,
                    &[
                        any("opencode.json"),
                        any("opencode.jsonc"),
                        any(".opencode/opencode.json"),
                        any(".opencode/opencode.jsonc"),
                    ],
                    LENIENT,
                )
            },
        ],
        signs: &[any("$XDG/opencode")],
        programs: &["opencode"],
        inherits_environment: true,
        remote: Some(RemoteShape::OpenCode),
        reference: Some(Reference::Tag),
        replaces: Replaces::TAGS,
        then: "start a new session; `opencode mcp list` lists its servers",
        notes: &[note(
            "A call may take 60 seconds, and each progress report starts that time again; `timeout` (milliseconds) in the entry changes it.",
        )],
        ..NOTHING
    },
    Client {
        name: "kiro",
        title: "Kiro",
        files: &[
            usual(Scope::User, &[any("~/.kiro/settings/mcp.json")], LENIENT),
            usual(Scope::Project, &[any(".kiro/settings/mcp.json")], LENIENT),
        ],
        signs: &[any("~/.kiro")],
        programs: &["kiro", "kiro-cli"],
        link: Some(LinkForm::Kiro),
        remote: Some(RemoteShape::Url),
        replaces: Replaces::BRACES,
        then: LISTED,
        ..NOTHING
    },
    Client {
        name: "lm-studio",
        title: "LM Studio",
        files: &[usual(Scope::User, &[any("~/.lmstudio/mcp.json")], LENIENT)],
        signs: &[any("~/.lmstudio")],
        programs: &["lms"],
        link: Some(LinkForm::LmStudio),
        remote: Some(RemoteShape::Url),
        replaces: Replaces::BRACES,
        then: LISTED,
        ..NOTHING
    },
    Client {
        name: "warp",
        title: "Warp",
        remote: Some(RemoteShape::Url),
        replaces: Replaces::BRACES,
        then: "paste it into Settings, MCP servers",
        notes: &[note("Has no file for servers; it also reads those of Claude Code and Codex.")],
        ..NOTHING
    },
    Client {
        name: "raycast",
        title: "Raycast",
        link: Some(LinkForm::Raycast),
        replaces: Replaces::BRACES,
        then: "paste it into Install Server, or open what `mcp-bash config --link raycast` prints",
        notes: &[note("Has no file for servers.")],
        ..NOTHING
    },
    Client {
        name: "ai-assistant",
        aliases: &["jetbrains"],
        title: "AI Assistant",
        replaces: Replaces::BRACES,
        then: "paste it into Settings, Tools, AI Assistant, Model Context Protocol",
        notes: &[note("Has no stable file for servers.")],
        ..NOTHING
    },
];

const CLAUDE_CODE: &[ConfigLocation] = &[any("$CLAUDE_CONFIG_DIR/.claude.json"), any("~/.claude.json")];
const COPILOT_JETBRAINS: &[ConfigLocation] = &[
    on(On::Unix, "~/.config/github-copilot/intellij/mcp.json"),
    on(On::Windows, "$LOCALAPPDATA/github-copilot/intellij/mcp.json"),
];
const ZED: &[ConfigLocation] =
    &[on(On::Unix, "$XDG/zed/settings.json"), on(On::Windows, "$CONFIG/Zed/settings.json")];
