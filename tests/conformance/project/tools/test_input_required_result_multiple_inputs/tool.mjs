#!/usr/bin/env node
import { execFileSync } from "node:child_process";

const questions = {
  user_name: {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  },
  greeting: {
    method: "sampling/createMessage",
    params: {
      messages: [{ role: "user", content: { type: "text", text: "Generate a greeting" } }],
      maxTokens: 50,
    },
  },
  client_roots: { method: "roots/list", params: {} },
};
const said = execFileSync(process.env.MCPBASH_BIN, ["ask", "--all", JSON.stringify(questions)]);
const { user_name, greeting, client_roots } = JSON.parse(said).result;
const roots = client_roots.roots.map((root) => root.uri).join(", ");
console.log(`${greeting.content.text} ${user_name.content?.name ?? "stranger"} works in ${roots}`);
