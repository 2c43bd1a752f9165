"""Goose."""

from agent import PROMPT, Program
from expectations import cut_below


class Goose(Program):
    name = client = "goose"
    npm = {"@aaif/goose-binary-linux-x64": "0.20.2"}
    differs = {
        # It writes all of it to a file, and tells the path.
        "large": cut_below(1_000),
    }

    def environment(self, turn):
        return {
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "scripted",
            "GOOSE_MODE": "auto",
            "GOOSE_DISABLE_KEYRING": "1",
            "OPENAI_HOST": turn.model_url,
            "OPENAI_API_KEY": "dummy",
        }

    def command(self, turn):
        return ["goose", "run", "--no-session", "--text", PROMPT]


AGENT = Goose()
