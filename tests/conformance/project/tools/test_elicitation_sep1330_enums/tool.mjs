#!/usr/bin/env node
import { execFileSync } from "node:child_process";

const titled = (names) => names.map((title, index) => ({ const: `value${index + 1}`, title }));
const options = ["option1", "option2", "option3"];
const properties = {
  untitledSingle: { type: "string", description: "Select one option", enum: options },
  titledSingle: {
    type: "string",
    description: "Select one option with titles",
    oneOf: titled(["First Option", "Second Option", "Third Option"]),
  },
  legacyEnum: {
    type: "string",
    description: "Select one option (legacy)",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: {
    type: "array",
    description: "Select several options",
    minItems: 1,
    maxItems: 3,
    items: { type: "string", enum: options },
  },
  titledMulti: {
    type: "array",
    description: "Select several options with titles",
    minItems: 1,
    maxItems: 3,
    items: { anyOf: titled(["First Choice", "Second Choice", "Third Choice"]) },
  },
};
const form = {
  mode: "form",
  message: "Please select options from the enum fields",
  requestedSchema: { type: "object", properties, required: [] },
};
const said = execFileSync(process.env.MCPBASH_BIN, ["ask", "elicitation/create", JSON.stringify(form)]);
const { action, content } = JSON.parse(said).result;
console.log(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
