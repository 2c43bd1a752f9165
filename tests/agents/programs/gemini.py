"""Gemini CLI."""

import json
from agent import PROMPT, Program
from expectations import CAN_READ_ROOTS, cut_below


class Gemini(Program):
    name = client = "gemini"
    npm = {"@google/gemini-cli": "0.61.0", "node": "22.23.3"}
    list_command = ["gemini", "mcp", "list"]
    wrapping = r"^<untrusted_context>\n|\n</untrusted_context>$"
    differs = {
        # It shows the beginning and the end, and writes the rest to a file.
        "large": cut_below(50_000),
        "count_words": CAN_READ_ROOTS,
    }

    def environment(self, turn):
        return {
            "GOOGLE_GEMINI_BASE_URL": turn.model_url,
            "GEMINI_API_KEY": "dummy",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def configure(self, turn):
        # With another address it would else choose a way to sign in that it then refuses.
        file = turn.home / ".gemini/settings.json"
        settings = json.loads(file.read_text())
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
        file.write_text(json.dumps(settings))

    def command(self, turn):
        return ["gemini", "--yolo", "--model", "gemini-2.5-pro", "-p", PROMPT]


AGENT = Gemini()
