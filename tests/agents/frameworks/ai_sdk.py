"""The AI SDK."""

from agent import Framework


class AiSdk(Framework):
    name = "ai-sdk"
    npm = {"ai": "7.0.170", "@ai-sdk/mcp": "2.0.97", "@ai-sdk/openai-compatible": "3.0.90", "node": "22.23.3"}
    script = "turn_ai_sdk.mjs"


AGENT = AiSdk()
