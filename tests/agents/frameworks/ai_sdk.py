"""The AI SDK."""

from agent import Framework
from expectations import WANTS_NO_PROGRESS


class AiSdk(Framework):
    name = "ai-sdk"
    npm = {"ai": "7.0.170", "@ai-sdk/mcp": "2.0.97", "@ai-sdk/openai": "4.0.115", "node": "22.23.3"}
    differs = {"slow": WANTS_NO_PROGRESS}
    script = "turn_ai_sdk.mjs"


AGENT = AiSdk()
