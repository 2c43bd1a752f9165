#!/usr/bin/env node
import { execFileSync } from "node:child_process";

const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const form = { mode: "form", message: "Please confirm", requestedSchema };
const said = execFileSync(process.env.MCPBASH_BIN, ["ask", "elicitation/create", JSON.stringify(form), "--name", "confirm"]);
console.log(`Confirmed: ${JSON.parse(said).result.content?.ok === true}`);
