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
const said = execFileSync(process.env.MCPBASH_BIN, ["ask", "all", JSON.stringify(questions)]);
const { user_name, greeting, client_roots } = JSON.parse(said).result;
const name = user_name.result.content?.name ?? "stranger";
const roots = client_roots.result.roots.map((root) => root.uri).join(", ");
console.log(`${greeting.result.content.text} ${name}, of the roots [${roots}]`);
