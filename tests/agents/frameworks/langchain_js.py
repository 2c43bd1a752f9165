"""LangChain in JavaScript."""

from agent import Framework


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
    script = "turn_langchain_js.mjs"


AGENT = LangChainJs()
