#!/usr/bin/env node
import { readFileSync } from "node:fs";

const { region } = JSON.parse(readFileSync(0, "utf8"));
console.log(`Region: ${region}`);
