// A session with version 2 of the official TypeScript client, when it is told to find out what the server speaks. It
// asks one server process that question, ends it, and starts another one for the session.

import { Client, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { converse } from "./conversation.mjs";

async function connect(server, heard) {
  const client = new Client(
    { name: "session-stateless", version: "1.0.0" },
    { versionNegotiation: { mode: "auto" } },
  );
  client.onerror = (error) => heard.complaints.push(String(error));
  client.setNotificationHandler("notifications/message", ({ params }) => void heard.logs.push(params));
  await client.connect(new StdioClientTransport(server));
  let meta = {};
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    server: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    // Without a session to remember the level, every request has to say it.
    logAt: (level) => (meta = { [LOG_LEVEL_META_KEY]: level }),
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
      const { content, isError } = await client.callTool(
        { name, arguments: args, _meta: meta },
        { timeout: 30_000, ...options },
      );
      return { text: content[0].text, isError };
    },
    close: () => client.close(),
  };
}

await converse(connect, "2026-07-28");
