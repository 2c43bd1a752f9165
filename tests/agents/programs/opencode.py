"""opencode."""

import json
from agent import PROMPT, Program
from expectations import CAN_READ_ROOTS, cut_below

SEES_PICTURES = {"input": ["text", "image"], "output": ["text"]}


class OpenCode(Program):
    name = client = "opencode"
    npm = {"opencode-ai": "1.18.33"}
    list_command = ["opencode", "mcp", "list"]
    differs = {
        # It writes the rest to a file.
        "large": cut_below(60_000),
        "count_words": CAN_READ_ROOTS,
    }

    def environment(self, turn):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def configure(self, turn):
        file = turn.home / ".config/opencode/opencode.json"
        settings = json.loads(file.read_text())
        settings["provider"] = {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{turn.model_url}/v1", "apiKey": "dummy"},
                "models": {"scripted": {"tool_call": True, "attachment": True, "modalities": SEES_PICTURES}},
            }
        }
        settings["permission"] = "allow"
        file.write_text(json.dumps(settings))

    def command(self, turn):
        return ["opencode", "run", "--model", "scripted/scripted", PROMPT]


AGENT = OpenCode()
