"""LangChain in Python."""

from agent import Framework
from expectations import CAN_READ_ROOTS, WANTS_NO_PROGRESS


class LangChainPython(Framework):
    name = "langchain-python"
    pypi = {"langchain-mcp-adapters": "0.3.2", "langchain": "1.4.7", "langchain-openai": "1.7.3", "mcp": "1.30.0"}
    differs = {"slow": WANTS_NO_PROGRESS, "count_words": CAN_READ_ROOTS}
    script = "turn_langchain_python.py"


AGENT = LangChainPython()
