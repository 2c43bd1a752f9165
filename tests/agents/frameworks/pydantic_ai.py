"""Pydantic AI."""

from agent import Framework
from expectations import CAN_READ_ROOTS, USER_ACCEPTS


class PydanticAi(Framework):
    name = "pydantic-ai"
    pypi = {"pydantic-ai-slim[openai,mcp]": "2.66.0", "mcp": "2.3.0"}
    differs = {"asking": USER_ACCEPTS, "count_words": CAN_READ_ROOTS}
    script = "turn_pydantic_ai.py"


AGENT = PydanticAi()
