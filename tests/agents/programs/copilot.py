"""Copilot CLI."""

from agent import PROMPT, Program
from expectations import cut_below, exactly, no_picture


class Copilot(Program):
    name = client = "copilot"
    npm = {"@github/copilot": "1.0.102", "node": "22.23.3"}
    list_command = ["copilot", "mcp", "list"]
    differs = {
        # It writes the rest to a file.
        "large": cut_below(10_000),
        "asking": exactly("The user was asked: decline"),
        "picture": no_picture(),
    }
    kills_all = True

    def environment(self, turn):
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{turn.model_url}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
        }

    def command(self, turn):
        return ["copilot", "-p", PROMPT, "--allow-all-tools"]


AGENT = Copilot()
