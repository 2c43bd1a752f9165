// The authorization server as a program, for clients in other languages: issue.mjs RESOURCE
//
// Prints where it is. Then it logs in at each address that comes on standard input, and prints what the client gets back.
// Everything is a line of JSON. It ends with its input.

import { createInterface } from "node:readline";
import { REDIRECT, logIn, startIssuer } from "./issuer.mjs";

// Standard output is for the lines alone.
console.log = console.info = console.warn = console.error;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const { issuer } = await startIssuer(process.argv[2]);
say({ issuer, redirect: REDIRECT });
for await (const address of createInterface({ input: process.stdin })) {
  say(Object.fromEntries(await logIn(address)));
}
process.exit(0);
