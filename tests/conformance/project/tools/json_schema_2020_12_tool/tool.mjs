#!/usr/bin/env node
import { readFileSync } from "node:fs";

console.log(`JSON Schema 2020-12 tool called with: ${JSON.stringify(JSON.parse(readFileSync(0, "utf8")))}`);
