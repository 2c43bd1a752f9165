"""Codex."""

from agent import PROMPT, Program
from expectations import cut_below, exactly

PROVIDER = """\
model = "scripted"
model_provider = "scripted"
{rest}
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""


class Codex(Program):
    name = client = "codex"
    npm = {"@openai/codex": "0.166.0"}
    list_command = ["codex", "mcp", "list"]
    wrapping = r"^Wall time: [\d.]+ seconds\nOutput:\n"
    differs = {
        "large": cut_below(15_000),
        "asking": exactly("The user was asked: decline"),
    }

    def environment(self, turn):
        return {"SCRIPTED_KEY": "dummy"}

    def configure(self, turn):
        file = turn.home / ".codex/config.toml"
        file.write_text(PROVIDER.format(url=turn.model_url, rest=file.read_text()))

    def command(self, turn):
        return ["codex", "exec", "--skip-git-repo-check", PROMPT]


AGENT = Codex()
