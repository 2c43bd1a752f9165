// One whole session, the same for both libraries. `connect` gives an adapter, whose members turn what its library
// returns and throws into plain values.

import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  GREET_SCHEMA, IDENTITY, INSTRUCTIONS, TOOLS,
  alive, check, checkEqual, checkNoServerIsLeft, checkServerLeftByItself, scratch, serverCommand, until,
} from "../checks.mjs";
import { Answers, ROOT } from "./answers.mjs";

/** What the server has said without being asked, and what the library could make no sense of. */
export class Heard {
  logs = [];
  updated = [];
  toolChanges = 0;
  complaints = [];
}

export async function converse(connect, version) {
  const [command, ...args] = serverCommand();
  const [heard, answers] = [new Heard(), new Answers()];
  try {
    const client = await connect({ command, args }, heard, answers);
    await talk(client, version, heard, answers);
    await client.close();
    await checkServerLeftByItself();

    const hasty = await connect({ command, args }, heard, answers);
    await checkHastyClose(hasty, join(scratch, "last-pid"));
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
  await checkNoServerIsLeft();
}

/** What can be said over any transport. Where there is nothing but events, they may be too short for a result. */
export async function talk(client, version, heard, answers, { eventsOnly = false } = {}) {
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

  await checkContents(client);
  if (!eventsOnly) await checkLargeResult(client);
  await checkPrompts(client);
  await checkResources(client);
  await checkProgress(client);
  await checkLogging(client, heard);
  await checkQuestions(client, answers);
  await checkConsent(client, answers);
  await checkCancellation(client, join(scratch, "slow-pid"));
  checkEqual("the library understood everything", heard.complaints, []);
}

async function checkContents(client) {
  const weather = await client.call("weather", { city: "Zoë" });
  checkEqual("a result has data", weather.structuredContent, { city: "Zoë", degrees: 21 });
  checkEqual("and the same data as text", JSON.parse(weather.text), { city: "Zoë", degrees: 21 });
  for (const region of ["west", " öst ", "=?base64?x?="]) {
    const result = await client.call("route", { region });
    checkEqual(`an argument that may stand in a header arrives: ${region}`, result, said(`To ${region}.`));
  }
}

async function checkLargeResult(client) {
  const { text, isError } = await client.call("large", {});
  const whole = ["a", "b", "c"].map((letter) => letter.repeat(1_000_000)).join("");
  check("a large result is whole", text === whole && !isError, [text.length, text.slice(0, 200)]);
}

async function checkResources(client) {
  const resources = (await client.resources()).map(({ uri, mimeType, description }) => ({ uri, mimeType, description }));
  checkEqual("resources are listed", resources, [{ uri: NOTE, mimeType: "text/plain", description: "A note." }]);
  checkEqual("templates are listed", (await client.templates()).map((one) => one.uriTemplate), ["echo://{word}"]);
  const note = { uri: NOTE, mimeType: "text/plain", text: "Nothing yet.\n" };
  checkEqual("a resource is read", await client.read(NOTE), [note]);
  const echo = { uri: "echo://hi", mimeType: "text/plain", text: "hi, hi" };
  checkEqual("a resource of a template is read", await client.read("echo://hi"), [echo]);
  const refusal = await client.read("note://nowhere").catch((error) => error);
  check("an unknown resource is not found", [-32002, -32602].includes(refusal.code), refusal);
}

/** The script asks, and goes on with the answers. */
async function checkQuestions(client, answers) {
  answers.forms = [
    { action: "accept", content: { name: "Zoë" } },
    { action: "accept", content: { confirmed: true } },
  ];
  answers.asked = [];
  checkEqual("the user is asked", await client.call("introduce", {}), said("Zoë, well: true"));
  checkEqual("one question after the other", answers.asked, ["What is your name?", "Are you well, Zoë?"]);
  answers.forms = [{ action: "decline" }];
  checkEqual("the user need not answer", await client.call("introduce", {}), said("Nobody: decline"));
  answers.asked = [];
  const summary = await client.call("summarise", { text: "a long text" });
  checkEqual("the model of the client is asked", summary, said("The model says: In short."));
  checkEqual("it is asked what the script asks", answers.asked, ["Summarise: a long text"]);
  checkEqual("the folders of the client are known", await client.call("folders", {}), said(ROOT));
}

/** A tool that needs consent runs after a yes only, and the user sees what it would do. */
async function checkConsent(client, answers) {
  const wipe = () => client.call("wipe", { what: "the disk" });
  for (const no of [{ action: "decline" }, { action: "cancel" }, { action: "accept", content: { consent: "no" } }]) {
    answers.forms = [no];
    answers.asked = [];
    const { text, isError } = await wipe();
    check(`nothing runs after ${JSON.stringify(no)}`, isError && text.includes("was not run"), text);
    const [question = ""] = answers.asked;
    check("the user sees question and arguments", question.includes('Wipe "the disk"?') && question.includes('what: "the disk"'), question);
  }
  answers.forms = [{ action: "accept", content: { consent: "once" } }];
  checkEqual("the tool runs after a yes", await wipe(), said("wiped the disk"));
  answers.forms = [{ action: "decline" }];
  check("and asks again the next time", (await wipe()).isError, answers.asked);
}

/** Changes of the project reach a client that wants to hear of them, whatever `disturb` does to it before. */
export async function checkChanges(client, heard, project, disturb = () => {}) {
  const unfollow = await client.follow(NOTE);
  disturb();
  appendFileSync(join(project, "resources/today.txt"), "Something.\n");
  check("a changed resource is told", await until(() => heard.updated.includes(NOTE)), heard.updated);
  const [{ text }] = await client.read(NOTE);
  checkEqual("the changed resource is read", text, "Nothing yet.\nSomething.\n");
  heard.toolChanges = 0;
  mkdirSync(join(project, "tools/late"));
  writeFileSync(join(project, "tools/late/tool.sh"), "#!/bin/sh\necho better than never\n");
  chmodSync(join(project, "tools/late/tool.sh"), 0o755);
  check("a new tool is told", await until(() => heard.toolChanges > 0), heard);
  checkEqual("it is listed", (await client.tools()).map((tool) => tool.name).sort(), [...TOOLS, "late"].sort());
  checkEqual("it can be called", await client.call("late", {}), said("better than never"));
  await unfollow();
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

  heard.logs.length = 0;
  checkEqual("a script that logs has its result", await client.call("chatty", {}), said("Said it."));
  const told = () => heard.logs.filter((log) => log.logger === "chatty").map(({ level, data }) => [level, data]);
  await until(() => told().length === 2);
  checkEqual("what a script logs is told", told(), [["info", "first words"], ["warning", "second words"]]);
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

const NOTE = "note://today";

/**
 * Closes the connection while a call is running. A server may finish what it was asked for, until the library loses its
 * patience: in the end neither it nor the script may be left.
 */
export async function checkHastyClose(client, pidFile) {
  const { outcome, pid } = await startSlowCall(client, pidFile);
  await client.close();
  check("a call that runs when the connection closes has no result", (await outcome) instanceof Error, await outcome);
  check("the script of that call is stopped", await until(() => !alive(pid)), pid);
}

/** A call that is running for sure: what will become of it, and the process id of its script. */
export async function startSlowCall(client, pidFile, options) {
  const outcome = client.call("slow", { pidFile }, options).catch((error) => error);
  const hasStarted = () => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n");
  check("a slow script starts", await until(hasStarted));
  return { outcome, pid: Number(readFileSync(pidFile, "utf8")) };
}

/** What a call comes to when the tool says this. */
export function said(text, isError = false) {
  return { text, isError };
}
