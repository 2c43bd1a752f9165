// A turn with the AI SDK: MODEL_URL SERVER PROJECT PROMPT.
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs } from 'ai'

const [modelUrl, server, project, prompt] = process.argv.slice(2)
const transport = new StdioMCPTransport({ command: server, args: ['--project-root', project] })
const client = await createMCPClient({ transport, capabilities: { elicitation: {} } })
client.onElicitationRequest(ElicitationRequestSchema, async () => ({ action: 'accept', content: { confirmed: true } }))
try {
	const provider = createOpenAI({ baseURL: `${modelUrl}/v1`, apiKey: 'dummy' })
	const tools = await client.tools()
	const { text } = await generateText({ model: provider('scripted'), tools, prompt, stopWhen: stepCountIs(30) })
	console.log(text)
} finally {
	await client.close()
}
