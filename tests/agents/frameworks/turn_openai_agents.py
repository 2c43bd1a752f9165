"""A turn with OpenAI Agents: MODEL_URL SERVER PROJECT PROMPT."""

import asyncio
import sys
from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI

# It waits 5 seconds for an answer unless it is told otherwise.
CALL_SECS = 60


async def main(model_url, server, project, prompt):
    set_tracing_disabled(True)
    model = OpenAIResponsesModel("scripted", AsyncOpenAI(base_url=f"{model_url}/v1", api_key="dummy"))
    params = {"command": server, "args": ["--project-root", project]}
    async with MCPServerStdio(params, client_session_timeout_seconds=CALL_SECS) as turns:
        answer = await Runner.run(Agent("turns", mcp_servers=[turns], model=model), prompt, max_turns=30)
    print(answer.final_output)


asyncio.run(main(*sys.argv[1:]))
