// A turn with LangChain in JavaScript: MODEL_URL SERVER PROJECT PROMPT.
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'

const [modelUrl, server, project, prompt] = process.argv.slice(2)
const client = new MultiServerMCPClient({
	mcpServers: { turns: { transport: 'stdio', command: server, args: ['--project-root', project] } },
})
try {
	const model = new ChatOpenAI({ model: 'scripted', apiKey: 'dummy', configuration: { baseURL: `${modelUrl}/v1` } })
	const agent = createAgent({ model, tools: await client.getTools() })
	const answer = await agent.invoke({ messages: [{ role: 'user', content: prompt }] }, { recursionLimit: 100 })
	console.log(answer.messages.at(-1).text)
} finally {
	await client.close()
}
