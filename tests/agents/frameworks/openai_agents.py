"""OpenAI Agents."""

from agent import Framework
from expectations import WANTS_NO_PROGRESS, exactly


class OpenAiAgents(Framework):
    name = "openai-agents"
    pypi = {"openai-agents": "0.24.0", "mcp": "2.3.0"}
    differs = {
        "slow": WANTS_NO_PROGRESS,
        # It has no roots, and hides the message of a protocol error from the model.
        "count_words": exactly("An error occurred while running the tool. Please try again."),
    }
    script = "turn_openai_agents.py"


AGENT = OpenAiAgents()
