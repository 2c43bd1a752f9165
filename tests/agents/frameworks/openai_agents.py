"""OpenAI Agents."""

from agent import Framework
from expectations import WANTS_NO_PROGRESS


class OpenAiAgents(Framework):
    name = "openai-agents"
    pypi = {"openai-agents": "0.24.0", "mcp": "2.3.0"}
    differs = {"slow": WANTS_NO_PROGRESS}
    script = "turn_openai_agents.py"


AGENT = OpenAiAgents()
