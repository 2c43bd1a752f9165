// The function that is measured, on the official TypeScript SDK over stdio.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'typescript', version: '0.1.0' });
server.registerTool(
	'add',
	{
		description: 'Adds two numbers.',
		inputSchema: { a: z.int(), b: z.int() },
		outputSchema: { result: z.int() },
	},
	({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { result: a + b } }),
);
await server.connect(new StdioServerTransport());
