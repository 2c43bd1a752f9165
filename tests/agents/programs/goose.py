"""Goose."""

import platform
from agent import PROMPT, Program
from expectations import CAN_READ_ROOTS, cut_below

ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), "x64")


class Goose(Program):
    name = client = "goose"
    npm = {f"@aaif/goose-binary-linux-{ARCHITECTURE}": "0.20.2"}
    differs = {
        # It writes all of it to a file, and tells the path.
        "large": cut_below(1_000),
        "count_words": CAN_READ_ROOTS,
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
