// A session about the functions of `functions/tools`, with version 2 of the official TypeScript client in any of its modes.
// Both languages have the same functions, whose names begin with the language. The library checks structured results against
// the output schemas of their tools by itself.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { alive, check, checkEqual, scratch, until } from "../checks.mjs";
import { Answers, CAPABILITIES, ROOT } from "./answers.mjs";

const LANGUAGES = ["node", "py"];
const TOOLS = [
  "add", "ask_both", "contents", "count", "echo", "fail", "folders", "introduce", "place", "steps", "summarise", "talk", "wait",
];
const PIXEL = "iVBORw0KGgoAAAANSUhEUg==";

export async function converse(mode, version) {
  const [command, ...args] = process.argv.slice(2);
  const project = args[args.indexOf("--project-root") + 1];
  const [answers, logs, complaints] = [new Answers(), [], []];
  const client = new Client({ name: "functions", version: "1.0.0" }, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.onerror = (error) => complaints.push(String(error));
  client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params));
  client.setRequestHandler("elicitation/create", ({ params }) => answers.elicit(params));
  client.setRequestHandler("sampling/createMessage", ({ params }) => answers.sample(params));
  client.setRequestHandler("roots/list", () => answers.roots());
  try {
    await client.connect(new StdioClientTransport({ command, args }));
    checkEqual("the protocol version is the newest of the era", client.getNegotiatedProtocolVersion(), version);
    checkEqual("each file says what the model should know", client.getInstructions(), "Node.js is here.\n\nPython is here.");
    await checkLists(client);
    for (const language of LANGUAGES) {
      // Both take the same steps, told apart by the name of the language.
      const call = (name, args = {}, options = {}, meta = {}) =>
        client.callTool({ name: `${language}_${name}`, arguments: args, _meta: meta }, { timeout: 60_000, ...options });
      const text = async (...words) => (await call(...words)).content[0].text;
      await checkResults(language, call);
      await checkProgress(language, call);
      await checkLogs(client, language, call, logs);
      await checkQuestions(language, text, call, answers);
      await checkCancellation(language, text, call);
      await checkResources(client, language);
      await checkPrompts(client, language);
      const counts = [await text("count"), await text("count"), await text("count")];
      checkEqual(`${language}: what is kept outlives a call`, counts, ["1", "2", "3"]);
    }
    await checkMany(client);
    checkEqual("the library understood everything", complaints, []);
    await client.close();
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
  for (const language of LANGUAGES) {
    const ended = join(project, `${language}-ended`);
    check(`${language}: what is kept was ended with the server`, await until(() => existsSync(ended)));
  }
}

async function checkLists(client) {
  const { tools } = await client.listTools();
  const wanted = LANGUAGES.flatMap((language) => TOOLS.map((name) => `${language}_${name}`));
  checkEqual("all functions are tools", tools.map((tool) => tool.name).sort(), wanted.sort());
  for (const language of LANGUAGES) {
    const of = (name) => tools.find((tool) => tool.name === `${language}_${name}`);
    const { description, annotations, inputSchema } = of("add");
    checkEqual(`${language}: a description`, description, "Adds two numbers.");
    checkEqual(`${language}: a hint`, annotations, { readOnlyHint: true });
    checkEqual(`${language}: what is required`, inputSchema.required, ["a"]);
    const { minimum, default: usual } = inputSchema.properties.b;
    checkEqual(`${language}: a parameter with bounds`, [minimum, usual], [0, 1]);
    const { degrees } = of("place").outputSchema.properties;
    checkEqual(`${language}: an output schema`, degrees, { type: "number" });
    checkEqual(`${language}: a tool that promises no shape`, of("contents").outputSchema, undefined);
  }
}

async function checkResults(language, call) {
  const sum = await call("add", { a: 40, b: 2 });
  checkEqual(`${language}: a typed result`, [sum.content[0].text, sum.structuredContent], ["42", { result: 42 }]);
  const { structuredContent } = await call("place", { name: "Zoë", unit: "F" });
  checkEqual(`${language}: data`, structuredContent, { name: "Zoë", degrees: 70.7, tags: ["warm"] });
  const refused = await call("add", { a: "x" });
  check(`${language}: refused arguments`, refused.isError && refused.content[0].text.includes("must be an integer"), refused);

  const [said, image, audio, embedded, link] = (await call("contents")).content;
  checkEqual(`${language}: text`, said, { type: "text", text: "a text" });
  checkEqual(`${language}: an image`, image, { type: "image", mimeType: "image/png", data: PIXEL });
  checkEqual(`${language}: audio`, [audio.type, audio.mimeType], ["audio", "audio/wav"]);
  const resource = { uri: "note://embedded", mimeType: "text/plain", text: "an embedded text" };
  checkEqual(`${language}: an embedded resource`, embedded, { type: "resource", resource });
  checkEqual(`${language}: a link`, [link.type, link.uri, link.name], ["resource_link", "note://linked", "linked"]);

  const failed = await call("fail", { how: "raise" });
  const isLine = /^\w+Error: there is no such month \(.*features\.\w+:\d+\)$/.test(failed.content[0].text);
  check(`${language}: an exception is one line`, failed.isError && isLine, failed);
  const advised = await call("fail", { how: "advise" });
  const advice = [true, "there is no such day. Hint: use YYYY-MM-DD"];
  checkEqual(`${language}: an error with advice`, [advised.isError, advised.content[0].text], advice);
}

async function checkProgress(language, call) {
  const events = [];
  const onprogress = ({ progress, total, message }) => events.push([progress, total, message]);
  const { content } = await call("steps", { count: 4 }, { onprogress });
  checkEqual(`${language}: a call with progress has its result`, content[0].text, "Took 4 steps.");
  checkEqual(`${language}: progress`, events, [1, 2, 3, 4].map((step) => [step, 4, `step ${step}`]));
}

async function checkLogs(client, language, call, logs) {
  // Without a session to remember the level, every request has to say it.
  const isStateless = client.getNegotiatedProtocolVersion() >= "2026";
  if (!isStateless) await client.setLoggingLevel("info");
  logs.length = 0;
  const { content } = await call("talk", {}, {}, isStateless ? { [LOG_LEVEL_META_KEY]: "info" } : {});
  checkEqual(`${language}: a function that logs has its result`, content[0].text, "Said it.");
  const told = () => logs.filter(({ logger }) => !logger.startsWith("mcp.")).map(({ level, data }) => [level, data]);
  await until(() => told().length === 3);
  const second = { message: "second words", number: 2 };
  checkEqual(`${language}: logs`, told(), [["info", "printed words"], ["info", "first words"], ["warning", second]]);
  if (!isStateless) await client.setLoggingLevel("error");
}

async function checkQuestions(language, text, call, answers) {
  const accept = (content) => ({ action: "accept", content });
  const both = () => [accept({ value: "Zoë" }), accept({ confirmed: true })];
  answers.asked = [];
  answers.forms = both();
  checkEqual(`${language}: the user is asked`, await text("introduce"), "Zoë, well: yes");
  checkEqual(`${language}: one after the other`, answers.asked, ["What is your name?", "Are you well, Zoë?"]);
  answers.forms = [{ action: "decline" }];
  checkEqual(`${language}: the user may decline`, await text("introduce"), "Nobody.");
  answers.forms = both();
  checkEqual(`${language}: two questions at once`, await text("ask_both"), "Zoë yes");
  checkEqual(`${language}: the model is asked`, await text("summarise", { text: "a long text" }), "The model says: In short.");
  checkEqual(`${language}: what it is asked`, answers.asked.at(-1), "Summarise: a long text");
  checkEqual(`${language}: the folders`, (await call("folders")).structuredContent, { result: [ROOT] });
}

async function checkCancellation(language, text, call) {
  const file = join(scratch, `${language}-wait`);
  const impatience = new AbortController();
  const outcome = call("wait", { file }, { signal: impatience.signal }).catch((error) => error);
  const hasStarted = () => existsSync(file) && readFileSync(file, "utf8").endsWith("\n");
  check(`${language}: a function that waits begins`, await until(hasStarted));
  impatience.abort("waited long enough");
  check(`${language}: the client gives up`, (await outcome) instanceof Error, await outcome);
  check(`${language}: the function ends`, await until(() => existsSync(`${file}.ended`)));
  check(`${language}: and its worker goes on`, alive(Number(readFileSync(file, "utf8"))));
  checkEqual(`${language}: calls work after it`, await text("echo", { word: "after" }), "after");
}

async function checkResources(client, language) {
  const { resources } = await client.listResources();
  const { name, description, mimeType } = resources.find(({ uri }) => uri === `${language}://config`);
  checkEqual(`${language}: a resource is listed`, [name, description, mimeType], [
    `${language}_config`, "The configuration.", "application/json",
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
  check(`${language}: a template is listed`, templates.includes(`${language}://greeting/{name}`), templates);

  const read = async (path) => (await client.readResource({ uri: `${language}://${path}` })).contents;
  const [config] = await read("config");
  checkEqual(`${language}: a resource is read`, JSON.parse(config.text)["zoë"], true);
  const [picture] = await read("bytes");
  checkEqual(`${language}: bytes are read`, [picture.blob, picture.mimeType], [PIXEL, "image/png"]);
  const [greeting] = await read("greeting/Ada");
  checkEqual(`${language}: a template is read`, [greeting.uri, greeting.text], [`${language}://greeting/Ada`, "Hello, Ada!"]);
  for (const path of ["greeting/nobody", "nowhere"]) {
    const refusal = await read(path).catch((error) => error);
    check(`${language}: what is not there is not found`, [-32002, -32602].includes(refusal.code), refusal);
  }
}

async function checkPrompts(client, language) {
  const name = `${language}_letter`;
  const { prompts } = await client.listPrompts();
  const listed = prompts.find((prompt) => prompt.name === name).arguments.map((one) => [one.name, one.required]);
  checkEqual(`${language}: a prompt is listed`, listed, [["name", true], ["tone", false]]);
  for (const [args, tone] of [[{ name: "Zoë" }, "kind"], [{ name: "Zoë", tone: "stern" }, "stern"]]) {
    const { messages } = await client.getPrompt({ name, arguments: args });
    const said = messages.map(({ role, content }) => [role, content.text]);
    checkEqual(`${language}: a prompt is filled in`, said, [["user", `Write a ${tone} letter to Zoë.`], ["assistant", "Dear Zoë,"]]);
  }
  const refusal = await client.getPrompt({ name, arguments: {} }).catch((error) => error);
  checkEqual(`${language}: a prompt needs its arguments`, refusal.code, -32602);
  const ref = { type: "ref/prompt", name };
  const { completion } = await client.complete({ ref, argument: { name: "tone", value: "st" } });
  checkEqual(`${language}: an argument is completed`, completion.values, ["stern"]);
}

/** Calls of both languages at once, each with its own result. */
async function checkMany(client) {
  const words = Array.from({ length: 50 }, (_, number) => [LANGUAGES[number % 2], `word ${number}`]);
  const results = await Promise.all(
    words.map(([language, word]) => client.callTool({ name: `${language}_echo`, arguments: { word } }, { timeout: 60_000 })),
  );
  const said = results.map(({ content }) => content[0].text);
  checkEqual("calls at once have each their own result", said, words.map(([, word]) => word));
}
