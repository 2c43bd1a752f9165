#!/usr/bin/env node
// The tool __NAME__.
//
// Its arguments are a JSON object on standard input, and what it prints on standard output is its result. A JSON object
// is structured content; any other text is text. What it takes stands in tool.meta.json.

import { readFileSync } from "node:fs";

const { name = "World" } = JSON.parse(readFileSync(0, "utf8"));
if (name.includes("\n")) {
  // Whatever stands on standard error when a tool fails is what the model gets to read.
  console.error("The name has more than one line: give a name without line breaks");
  process.exit(1);
}
console.log(JSON.stringify({ message: `Hello, ${name}!` }));
