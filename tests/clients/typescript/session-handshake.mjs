// A session with version 1 of the official TypeScript library, which knows the handshake only.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { converse } from "./conversation.mjs";

async function connect(server, heard) {
  const client = new Client({ name: "session-handshake", version: "1.0.0" });
  client.onerror = (error) => heard.complaints.push(String(error));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.logs.push(params));
  const transport = new StdioClientTransport(server);
  // The library tells the version to nobody but its transport.
  let version;
  transport.setProtocolVersion = (negotiated) => (version = negotiated);
  await client.connect(transport);
  return {
    version: () => version,
    server: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    ping: () => client.ping(),
    logAt: (level) => client.setLoggingLevel(level),
    tools: async () => (await client.listTools()).tools,
    prompts: async () => (await client.listPrompts()).prompts,
    async prompt(name, args) {
      const { messages } = await client.getPrompt({ name, arguments: args });
      return messages[0].content.text;
    },
    async complete(name, argument, value) {
      const ref = { type: "ref/prompt", name };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion.values;
    },
    async call(name, args, options) {
      const { content, isError } = await client.callTool({ name, arguments: args }, undefined, {
        timeout: 30_000,
        ...options,
      });
      return { text: content[0].text, isError };
    },
    close: () => client.close(),
  };
}

await converse(connect, "2025-11-25");
