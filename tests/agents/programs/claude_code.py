"""Claude Code."""

from agent import PROMPT, Program
from expectations import CAN_READ_ROOTS, cut_below, exactly


class ClaudeCode(Program):
    name = client = "claude-code"
    npm = {"@anthropic-ai/claude-code": "2.1.325", "node": "22.23.3"}
    list_command = ["claude", "mcp", "list"]
    differs = {
        # It writes the rest to a file.
        "large": cut_below(10_000),
        "asking": exactly("The user was asked: cancel"),
        "count_words": CAN_READ_ROOTS,
    }

    def environment(self, turn):
        return {
            "ANTHROPIC_BASE_URL": turn.model_url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def command(self, turn):
        return ["claude", "-p", PROMPT, "--allowedTools", "mcp__turns", "ToolSearch"]


AGENT = ClaudeCode()
