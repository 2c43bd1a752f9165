// Version 2 of the official TypeScript client, over any of its transports. It finds out what the server speaks where the mode
// is `auto`, and uses the handshake where it is `legacy`.

import { Client, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";

export async function connect(transport, heard, answers, mode) {
  const client = new Client(
    { name: "client-2", version: "1.0.0" },
    { capabilities: answers.capabilities, versionNegotiation: { mode } },
  );
  client.onerror = (error) => heard.complaints.push(String(error));
  client.setNotificationHandler("notifications/message", ({ params }) => void heard.logs.push(params));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.updated.push(params.uri));
  client.setNotificationHandler("notifications/tools/list_changed", () => void (heard.toolChanges += 1));
  if (answers.canAsk) client.setRequestHandler("elicitation/create", ({ params }) => answers.elicit(params));
  client.setRequestHandler("sampling/createMessage", ({ params }) => answers.sample(params));
  client.setRequestHandler("roots/list", () => answers.roots());
  await client.connect(transport);
  const isStateless = client.getNegotiatedProtocolVersion() >= "2026";
  let meta = {};
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    server: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    ping: () => client.ping(),
    logAt(level) {
      // Without a session to remember the level, every request has to say it.
      if (!isStateless) return client.setLoggingLevel(level);
      meta = { [LOG_LEVEL_META_KEY]: level };
    },
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
      const request = { name, arguments: args, ...(isStateless && { _meta: meta }) };
      const { content, isError, structuredContent } = await client.callTool(request, { timeout: 30_000, ...options });
      return { text: content.map((one) => one.text).join(""), isError, ...(structuredContent && { structuredContent }) };
    },
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    /** Wants to be told of a resource, and of changes of the list of tools. */
    async follow(uri) {
      if (isStateless) {
        const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
        return () => subscription.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    endSession: () => transport.terminateSession(),
    close: () => client.close(),
  };
}
