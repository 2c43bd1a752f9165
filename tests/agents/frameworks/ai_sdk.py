"""The AI SDK."""

from agent import Framework
from expectations import USER_ACCEPTS, WANTS_NO_PROGRESS


class AiSdk(Framework):
    name = "ai-sdk"
    npm = {"ai": "7.0.170", "@ai-sdk/mcp": "2.0.97", "@ai-sdk/openai": "4.0.115", "node": "22.23.3"}
    differs = {"asking": USER_ACCEPTS, "slow": WANTS_NO_PROGRESS}
    script = "turn_ai_sdk.mjs"


AGENT = AiSdk()
