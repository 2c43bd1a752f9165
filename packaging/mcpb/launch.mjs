// Starts the server of an unpacked bundle as a client does: the official library fills in the manifest, the official client
// calls a tool.
//
//   node launch.mjs FOLDER TOOL EXPECTED [KEY=VALUE...]     the answers to what the manifest asks for

import { readFileSync } from "node:fs";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [folder, tool, expected, ...answers] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8"));
const configuration = await getMcpConfigForManifest({
	manifest,
	extensionPath: folder,
	systemDirs: {},
	userConfig: Object.fromEntries(answers.map((answer) => answer.split("="))),
	pathSeparator: "/",
});
if (!configuration) throw new Error("the manifest lacks answers");
const transport = new StdioClientTransport({
	command: configuration.command,
	args: configuration.args,
	env: { PATH: "/usr/bin:/bin", HOME: process.env.HOME, ...configuration.env },
	cwd: "/",
});
const client = new Client({ name: "launch", version: "1.0.0" });
await client.connect(transport);
const listed = (await client.listTools()).tools.map((tool) => tool.name);
const promised = manifest.tools.map((tool) => tool.name);
if (JSON.stringify(listed) !== JSON.stringify(promised)) throw new Error(`${listed} is not ${promised}`);
const result = await client.callTool({ name: tool, arguments: {} });
const text = result.content[0]?.text?.trim();
await client.close();
if (text !== expected) throw new Error(`expected ${expected}: ${JSON.stringify(result)}`);
