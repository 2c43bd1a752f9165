#!/usr/bin/env node
// Completes arguments of __TARGET__: prints the possible values as a JSON array.

import { readFileSync } from "node:fs";

const VALUES = { subject: ["alpha", "beta", "gamma"] };

const { argument } = JSON.parse(readFileSync(0, "utf8"));
const values = VALUES[argument.name] ?? [];
console.log(JSON.stringify(values.filter((value) => value.startsWith(argument.value))));
