// Version 1 of the official TypeScript library, which knows the handshake only, over any of its transports.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

export async function connect(transport, heard, answers) {
  const client = new Client({ name: "sdk-1", version: "1.0.0" }, { capabilities: answers.capabilities });
  client.onerror = (error) => heard.complaints.push(String(error));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.logs.push(params));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.updated.push(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (heard.toolChanges += 1));
  if (answers.canAsk) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicit(params));
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => answers.sample(params));
  client.setRequestHandler(ListRootsRequestSchema, () => answers.roots());
  // The library tells the version to nobody but its transport.
  let version;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (negotiated) => {
    version = negotiated;
    tell?.(negotiated);
  };
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
      const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 30_000, ...options });
      const { content, isError, structuredContent } = result;
      return { text: content.map((one) => one.text).join(""), isError, ...(structuredContent && { structuredContent }) };
    },
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    /** Wants to be told of a resource. Changes of the lists are told without being asked for. */
    async follow(uri) {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    endSession: () => transport.terminateSession(),
    close: () => client.close(),
  };
}
