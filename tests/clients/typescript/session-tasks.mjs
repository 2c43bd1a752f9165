// Tasks of 2025-11-25 with version 1 of the official TypeScript library.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport, getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, scratch } from "../checks.mjs";

const ASKS = `#!/bin/bash
. "$MCP_SDK/tool-sdk.sh"
mcp_elicit_string "Who?" name | jq -r '"Hello, " + .content.name'
`;

const project = join(scratch, "project");
const tool = join(project, "tools", "asks");
mkdirSync(tool, { recursive: true });
const meta = { name: "asks", description: "Greets whoever answers", execution: { taskSupport: "required" } };
writeFileSync(join(tool, "tool.meta.json"), JSON.stringify(meta));
writeFileSync(join(tool, "tool.sh"), ASKS, { mode: 0o755 });

async function connect() {
  const client = new Client({ name: "sdk-1", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
  const env = { ...getDefaultEnvironment(), MCPBASH_STORE: join(scratch, "tasks") };
  const args = ["--project-root", project];
  await client.connect(new StdioClientTransport({ command: process.argv[2], args, env }));
  return client;
}

const client = await connect();
// The library learns from the list which tools are tasks.
await client.listTools();
const seen = [];
let id, text;
for await (const message of client.experimental.tasks.callToolStream({ name: "asks", arguments: {} })) {
  seen.push(message.type === "taskStatus" ? message.task.status : message.type);
  if (message.type === "taskCreated") id = message.task.taskId;
  if (message.type === "result") text = message.result.content[0].text;
}
check("a call becomes a task", seen[0] === "taskCreated", seen);
check("its question reaches the client, and its result follows", text === "Hello, Ada", seen);
const listed = await client.experimental.tasks.listTasks();
check("it is listed", listed.tasks.length === 1 && listed.tasks[0].taskId === id, listed);
await client.close();

const later = await connect();
const task = await later.experimental.tasks.getTask(id);
check("it outlives its server", task.status === "completed", task);
const kept = await later.experimental.tasks.getTaskResult(id, CallToolResultSchema);
check("so does its result", kept.content[0].text === "Hello, Ada", kept);
let refused;
await later.experimental.tasks.cancelTask(id).catch((error) => (refused = error.code));
check("a task that has ended cannot be cancelled", refused === -32602, refused);
await later.close();
