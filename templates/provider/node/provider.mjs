#!/usr/bin/env node
// mcp: {"provider": true}
// Provides tools: `list` prints their definitions; any other word is the name of a tool to call.

import { readFileSync } from "node:fs";

const TOOLS = [
  {
    name: "__NAME__",
    description: "Greets somebody by name. Say here what the tool does and when a model should use it.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "Who is greeted, for example Ada", default: "World" },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
];

const word = process.argv[2] ?? "";
if (word === "list") {
  for (const tool of TOOLS) console.log(JSON.stringify(tool));
} else if (word === "__NAME__") {
  const { name = "World" } = JSON.parse(readFileSync(0, "utf8"));
  console.log(JSON.stringify({ content: [{ type: "text", text: `Hello, ${name}!` }] }));
} else if (word !== "instructions") {
  console.error(`there is no tool ${word}`);
  process.exit(1);
}
