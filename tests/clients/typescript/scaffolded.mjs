// A session with the official TypeScript library on a project that was scaffolded: every kind, every language. The library
// checks structured results against the output schemas of their tools by itself.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "scaffolded", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args }));

const languages = ["bash", "node", "python"];
const scripts = ["provider", "tool"].flatMap((kind) => languages.map((language) => `${kind}-${language}`));
scripts.push("script-node", "script-python");
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name).sort(), ["hello", "program", ...scripts].sort());
for (const name of ["hello", ...scripts]) {
  const { structuredContent, content } = await client.callTool({ name, arguments: { name: "Zoë" } });
  const result = structuredContent ?? { message: content[0].text };
  // What a function returns is the result itself.
  const greeting = result.result ?? result;
  assert.equal(greeting.message ?? greeting, "Hello, Zoë!", name);
}
const { content } = await client.callTool({ name: "program", arguments: { words: ["one word", "$HOME"] } });
assert.equal(content[0].text, "one word $HOME");

const { prompts } = await client.listPrompts();
const names = languages.map((language) => `prompt.${language}`);
assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), names);
for (const name of names) {
  const { messages } = await client.getPrompt({ name, arguments: { subject: "a test" } });
  assert.match(messages[0].content.text, /Subject: a test\n/);
  const ref = { type: "ref/prompt", name };
  const { completion } = await client.complete({ ref, argument: { name: "subject", value: "g" } });
  assert.deepEqual(completion.values, ["gamma"], name);
}

const { resources } = await client.listResources();
assert.deepEqual(resources.map((resource) => resource.name), ["resource.manual"]);
const { contents } = await client.readResource({ uri: resources[0].uri });
assert.match(contents[0].text, /^What clients read/);
await client.close();
