#!/usr/bin/env node
import { execFileSync } from "node:child_process";

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const question = (message) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: schema },
});
const questions = { first: question("The first name?"), second: question("The second name?") };
const said = execFileSync(process.env.MCPBASH_BIN, ["ask", "all", JSON.stringify(questions)]);
const { first, second } = JSON.parse(said).result;
console.log(`${first.result.content?.name} and ${second.result.content?.name}`);
