// One whole session, the same for both libraries. `connect` gives an adapter, whose members turn what its library
// returns and throws into plain values.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  GREET_SCHEMA, IDENTITY, INSTRUCTIONS, TOOLS,
  alive, check, checkEqual, checkNoServerIsLeft, checkServerLeftByItself, scratch, serverCommand, until,
} from "../checks.mjs";

export async function converse(connect, version) {
  const [command, ...args] = serverCommand();
  const heard = { logs: [], complaints: [] };
  try {
    const client = await connect({ command, args }, heard);
    await talk(client, version, heard);
    await client.close();
    await checkServerLeftByItself();

    const hasty = await connect({ command, args }, heard);
    await checkHastyClose(hasty, join(scratch, "last-pid"));
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
  await checkNoServerIsLeft();
}

async function talk(client, version, heard) {
  checkEqual("the protocol version is the newest of the era", client.version(), version);
  checkEqual("the server says who it is", client.server(), IDENTITY);
  checkEqual("the instructions are the project's", client.instructions(), INSTRUCTIONS);
  // The stateless era has no ping.
  if (version < "2026") {
    await client.ping();
    check("ping is answered", true);
  }

  const tools = await client.tools();
  checkEqual("all tools are listed", tools.map((tool) => tool.name).sort(), TOOLS);
  checkEqual("a tool has its input schema", tools.find((tool) => tool.name === "greet").inputSchema, GREET_SCHEMA);

  checkEqual("a call has its result", await client.call("greet", { name: "Zoë" }), said("Hello, Zoë!"));
  checkEqual("a provided tool has its result", await client.call("add", { a: 40, b: 2 }), said("42"));
  const names = Array.from({ length: 8 }, (_, number) => `caller ${number}`);
  const results = await Promise.all(names.map((name) => client.call("greet", { name })));
  const wanted = names.map((name) => said(`Hello, ${name}!`));
  checkEqual("calls at the same time have each their own result", results, wanted);

  checkEqual("a failing tool is an error result", await client.call("fail", {}), said("this tool always fails", true));
  const refusal = await client.call("no-such-tool", {}).catch((error) => error);
  check("an unknown tool is refused with -32602", refusal.code === -32602, refusal);

  await checkPrompts(client);
  await checkProgress(client);
  await checkLogging(client, heard);
  await checkCancellation(client, join(scratch, "slow-pid"));
  checkEqual("the library understood everything", heard.complaints, []);
}

async function checkPrompts(client) {
  const prompts = (await client.prompts()).map(({ name, arguments: args }) => [name, args.map((one) => one.name)]);
  checkEqual("prompts are listed with their arguments", prompts, [["letter", ["name", "tone"]]]);
  const text = await client.prompt("letter", { name: "Zoë" });
  checkEqual("a prompt is filled in", text, "Write a kind letter to Zoë.");
  const refusal = await client.prompt("letter", {}).catch((error) => error);
  check("a prompt without what it needs is refused with -32602", refusal.code === -32602, refusal);
  checkEqual("an argument is completed", await client.complete("letter", "tone", "st"), ["stern"]);
}

async function checkProgress(client) {
  const events = [];
  const result = await client.call("steps", {}, { onprogress: (event) => events.push(event.progress) });
  const inTime = [...events];
  checkEqual("a call with progress has its result", result, said("Took 5 steps."));
  check("at least three progress events came before the result", inTime.length >= 3, inTime);
  check("progress only rises", inTime.every((value, index) => index === 0 || value > inTime[index - 1]), inTime);
  // Whatever comes before the answer to another call would be late.
  await client.call("greet", { name: "Ada" });
  checkEqual("no progress comes after the result", events, inTime);
}

async function checkLogging(client, heard) {
  const ended = () =>
    heard.logs.filter((log) => log.level === "debug" && log.logger === "mcp.tools").map((log) => log.data.tool);
  await client.logAt("debug");
  heard.logs.length = 0;
  await client.call("greet", { name: "Ada" });
  check("at level debug the end of a call is told", await until(() => ended().includes("greet")), heard.logs);

  await client.logAt("error");
  heard.logs.length = 0;
  await client.call("greet", { name: "Ada" });
  // What is told of the call after it comes after whatever is told of this one.
  await client.logAt("debug");
  await client.call("add", { a: 40, b: 2 });
  await until(() => ended().length > 0);
  checkEqual("at level error it is not", ended(), ["add"]);
  await client.logAt("error");
}

async function checkCancellation(client, pidFile) {
  const impatience = new AbortController();
  const { outcome, pid } = await startSlowCall(client, pidFile, { signal: impatience.signal });
  impatience.abort("waited long enough");
  check("the client can give up on a slow call", (await outcome) instanceof Error, await outcome);
  check("the script of the cancelled call is stopped", await until(() => !alive(pid)), pid);
  checkEqual("calls work after a cancelled one", await client.call("greet", { name: "Ada" }), said("Hello, Ada!"));

  // The clock of the client has the same effect.
  const late = await client.call("slow", {}, { timeout: 500 }).catch((error) => error);
  check("a call that takes too long is given up", late instanceof Error, late);
  checkEqual("calls work after that too", await client.call("greet", { name: "Ada" }), said("Hello, Ada!"));
}

/**
 * Closes the connection while a call is running. A server may finish what it was asked for, until the library loses its
 * patience: in the end neither it nor the script may be left.
 */
async function checkHastyClose(client, pidFile) {
  const { outcome, pid } = await startSlowCall(client, pidFile);
  await client.close();
  check("a call that runs when the connection closes has no result", (await outcome) instanceof Error, await outcome);
  check("the script of that call is stopped", await until(() => !alive(pid)), pid);
}

/** A call that is running for sure: what will become of it, and the process id of its script. */
async function startSlowCall(client, pidFile, options) {
  const outcome = client.call("slow", { pidFile }, options).catch((error) => error);
  const hasStarted = () => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n");
  check("a slow script starts", await until(hasStarted));
  return { outcome, pid: Number(readFileSync(pidFile, "utf8")) };
}

/** What a call comes to when the tool says this. */
function said(text, isError = false) {
  return { text, isError };
}
