// The measured function, and a script, on the official TypeScript SDK over stdio.
//
//   node server.mjs SCRIPT
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const run = promisify(execFile);
const script = process.argv[2];
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
server.registerTool('hi', { description: 'Says hi' }, async () => {
	const { stdout } = await run(script);
	return { content: [{ type: 'text', text: stdout }] };
});
await server.connect(new StdioServerTransport());
