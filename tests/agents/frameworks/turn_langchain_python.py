"""A turn with LangChain in Python: MODEL_URL SERVER PROJECT PROMPT."""

import asyncio
import sys
from pathlib import Path
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI
from mcp.types import ListRootsResult, Root


async def list_roots(_):
    return ListRootsResult(roots=[Root(uri=Path.cwd().as_uri())])


async def main(model_url, server, project, prompt):
    connection = {
        "transport": "stdio",
        "command": server,
        "args": ["--project-root", project],
        "session_kwargs": {"list_roots_callback": list_roots},
    }
    async with MultiServerMCPClient({"turns": connection}).session("turns") as session:
        model = ChatOpenAI(model="scripted", base_url=f"{model_url}/v1", api_key="dummy")
        agent = create_agent(model, await load_mcp_tools(session))
        answer = await agent.ainvoke({"messages": prompt}, {"recursion_limit": 100})
        print(answer["messages"][-1].content)


asyncio.run(main(*sys.argv[1:]))
