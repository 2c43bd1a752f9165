"""Goose."""

import platform
from agent import PROMPT, Program
from expectations import CAN_READ_ROOTS

PACKAGE = f"@aaif/goose-binary-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}"


class Goose(Program):
    name = client = "goose"
    npm = {PACKAGE: "1.52.0"}
    ends_when_asked = "no interactive terminal is available"
    differs = {"count_words": CAN_READ_ROOTS}

    def environment(self, turn):
        return {
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "gpt-4o",
            "GOOSE_MODE": "auto",
            "GOOSE_DISABLE_KEYRING": "1",
            "OPENAI_HOST": turn.model_url,
            "OPENAI_API_KEY": "dummy",
        }

    def command(self, turn):
        # The link in `.bin` has another name in each version.
        program = turn.installed / "node_modules" / PACKAGE / "bin/goose"
        return [str(program), "run", "--no-session", "--text", PROMPT]


AGENT = Goose()
