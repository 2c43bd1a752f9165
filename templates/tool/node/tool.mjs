#!/usr/bin/env node
// The tool __NAME__.
//
// Its arguments are a JSON object on standard input, and its standard output is its result. A JSON object
// becomes structured content; any other text is text. The arguments are declared in tool.meta.json.

import { readFileSync } from "node:fs";

const { name = "World" } = JSON.parse(readFileSync(0, "utf8"));
if (name.includes("\n")) {
  // If a tool fails, the model reads its standard error.
  console.error("The name has more than one line: give a name without line breaks");
  process.exit(1);
}
console.log(JSON.stringify({ message: `Hello, ${name}!` }));
