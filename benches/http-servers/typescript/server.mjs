// A server on the official TypeScript SDK over HTTP, with one tool that runs a script.
//
//   node server.mjs SCRIPT
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

const run = promisify(execFile);
const script = process.argv[2];

function makeServer() {
	const server = new McpServer({ name: 'typescript', version: '0.1.0' });
	server.registerTool('hi', { description: 'Says hi' }, async () => {
		const { stdout } = await run(script);
		return { content: [{ type: 'text', text: stdout }] };
	});
	return server;
}

const server = createServer(toNodeHandler(createMcpHandler(makeServer)));
// As many connections as the others accept without refusing any.
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => {
	console.error(`Serving at http://127.0.0.1:${server.address().port}/mcp`);
});
