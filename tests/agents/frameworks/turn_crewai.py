"""A turn with CrewAI: MODEL_URL SERVER PROJECT PROMPT."""

import sys
from crewai import LLM, Agent, Crew, Task
from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters

model_url, server, project, prompt = sys.argv[1:]
parameters = StdioServerParameters(command=server, args=["--project-root", project])
with MCPServerAdapter(parameters) as tools:
    model = LLM(model="openai/scripted", base_url=f"{model_url}/v1", api_key="dummy")
    agent = Agent(role="Caller", goal="Call tools", backstory="Calls tools", tools=list(tools), llm=model, max_iter=40)
    task = Task(description=prompt, expected_output="The quotes", agent=agent)
    print(Crew(agents=[agent], tasks=[task]).kickoff())
