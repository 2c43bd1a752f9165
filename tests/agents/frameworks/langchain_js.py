"""LangChain in JavaScript."""

from agent import Framework
from expectations import WANTS_NO_PROGRESS, says


class LangChainJs(Framework):
    name = "langchain-js"
    npm = {
        "@langchain/mcp-adapters": "1.1.4",
        "@langchain/core": "1.2.13",
        "@langchain/langgraph": "1.4.13",
        "@langchain/openai": "1.6.0",
        "langchain": "1.5.14",
        "node": "22.23.3",
    }
    differs = {
        "slow": WANTS_NO_PROGRESS,
        # It keeps embedded files from the model, as an artifact of the call.
        "text_and_file": says("The report is ready"),
    }
    script = "turn_langchain_js.mjs"


AGENT = LangChainJs()
