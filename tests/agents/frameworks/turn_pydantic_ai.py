"""A turn with Pydantic AI: MODEL_URL SERVER PROJECT PROMPT."""

import asyncio
import sys
from pathlib import Path
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def accept(*_):
    return {"confirmed": True}


async def main(model_url, server, project, prompt):
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{model_url}/v1", api_key="dummy"))
    transport = StdioTransport(command=server, args=["--project-root", project], keep_alive=False)
    toolset = MCPToolset(transport, roots=[Path.cwd().as_uri()], elicitation_handler=accept)
    agent = Agent(model, toolsets=[toolset])
    async with agent:
        answer = await agent.run(prompt)
    print(answer.output)


asyncio.run(main(*sys.argv[1:]))
