// Sessions over HTTP, the same for every library. `connect` is given an address, what requests carry besides, what is heard
// and the answers to questions, and returns an adapter as `conversation.mjs` wants it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TOOLS, alive, check, checkEqual, scratch, until } from "../checks.mjs";
import { certificate, newToken, startProxy, startServer } from "../http-server.mjs";
import { Answers } from "./answers.mjs";
import { Heard, checkChanges, said, startSlowCall, talk } from "./conversation.mjs";

export async function converseOverHttp(connect, version) {
  try {
    await checkSession(connect, version);
    await checkCutConnections(connect, version);
    await checkDoors(connect);
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
}

/** The same over the transport of 2024-11-05, which has one stream for everything: what is cut is gone. */
export async function converseOverOldSse(connect, version) {
  try {
    const server = await startServer(["--legacy-sse"]);
    const [heard, answers] = [new Heard(), new Answers()];
    const client = await connect(new URL("/sse", server.url), heard, answers);
    await talk(client, version, heard, answers, { eventsOnly: true });
    await checkLargeEvent(client);
    await checkChanges(client, heard, server.project);
    await client.close();
    await server.stop();

    const strict = await startServer();
    const refusal = await connect(new URL("/sse", strict.url), new Heard(), answers).catch((error) => error);
    check("without the switch it is not there", refusal instanceof Error, refusal);
    await strict.stop();
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
}

async function checkSession(connect, version) {
  const server = await startServer();
  const [heard, answers] = [new Heard(), new Answers()];
  const client = await connect(server.url, {}, heard, answers);
  await talk(client, version, heard, answers);
  await checkLargeEvent(client);
  await checkChanges(client, heard, server.project);
  // The same at the address with a slash at its end, and for one who has other calls in flight.
  const address = new URL(`${server.url.href}/`);
  const other = await connect(address, {}, new Heard(), answers);
  checkEqual("another client is served too", await other.call("add", { a: 1, b: 2 }), said("3"));
  await other.close();
  if (version < "2026") await checkEndOfSession(client);
  await client.close();
  await server.stop();
}

/** What is too long for an event is refused, where an event is all it can be, and the client goes on. */
async function checkLargeEvent(client) {
  const awaits = join(scratch, "awaited");
  const onprogress = () => writeFileSync(awaits, "");
  const refusal = await client.call("large", { awaits }, { onprogress }).catch((error) => error);
  check("a result that is too long for an event is refused with -32603", refusal.code === -32603, refusal);
  checkEqual("calls work after it", await client.call("greet", { name: "Ada" }), said("Hello, Ada!"));
}

/** A session that its client has ended is no more. */
async function checkEndOfSession(client) {
  await client.endSession();
  const refusal = await client.call("greet", { name: "Ada" }).catch((error) => error);
  check("a session that was ended is not served", refusal instanceof Error, refusal);
}

async function checkCutConnections(connect, version) {
  const server = await startServer();
  const proxy = await startProxy(server.url);
  // A client for each, because libraries come back to a stream a few times only.
  const client = await connect(proxy.url, {}, new Heard(), new Answers());
  if (version < "2026") {
    await checkResumption(client, proxy);
    const heard = new Heard();
    const listener = await connect(proxy.url, {}, heard, new Answers());
    // Nothing else is on its way when the connections are cut: the server has its answer about the folders.
    await listener.call("folders", {});
    await checkChanges(listener, heard, server.project, () => proxy.cut());
    await listener.close();
  } else {
    await checkCutCall(client, proxy);
  }
  checkEqual("the next call works", await client.call("greet", { name: "Ada" }), said("Hello, Ada!"));
  await client.close();
  proxy.close();
  await server.stop();
}

/** Only callers with a token come in, over TLS, and do what their tokens allow. */
async function checkDoors(connect) {
  const tokens = join(scratch, "tokens");
  const all = newToken(tokens, "ada");
  const some = newToken(tokens, "bob", "--tools", "add,greet");
  const words = ["--tokens", tokens, "--tls-cert", certificate("certificate.pem"), "--tls-key", certificate("key.pem")];
  const server = await startServer(words);
  checkEqual("the server speaks TLS", server.url.protocol, "https:");
  const enter = (token) =>
    connect(server.url, token ? { Authorization: `Bearer ${token}` } : {}, new Heard(), new Answers());
  for (const [who, token] of [["nobody", undefined], ["a stranger", "x".repeat(43)]]) {
    const refusal = await enter(token).catch((error) => error);
    check(`${who} is refused`, refusal instanceof Error, refusal);
  }
  const ada = await enter(all);
  checkEqual("who has a token sees all tools", (await ada.tools()).map((tool) => tool.name).sort(), TOOLS);
  checkEqual("and calls them", await ada.call("greet", { name: "Ada" }), said("Hello, Ada!"));
  const bob = await enter(some);
  const names = (await bob.tools()).map((tool) => tool.name).sort();
  checkEqual("a token for some tools sees no others", names, ["add", "greet"]);
  checkEqual("and calls those", await bob.call("add", { a: 1, b: 2 }), said("3"));
  const refusal = await bob.call("fail", {}).catch((error) => error);
  check("but no others", refusal.code === -32602, refusal);
  await bob.close();
  await ada.close();
  await server.stop();
}

/** A call of a session goes on when its connection breaks. */
async function checkResumption(client, proxy) {
  const events = [];
  const onprogress = ({ progress }) => {
    events.push(progress);
    if (progress === 2) proxy.cut();
  };
  checkEqual("a call outlives its connection", await client.call("steps", {}, { onprogress }), said("Took 5 steps."));
  checkEqual("nothing of it is lost or repeated", events, [1, 2, 3, 4, 5]);
}

/** A call without a session ends with its connection, whether its answer has begun or not. */
async function checkCutCall(client, proxy) {
  const { outcome, pid } = await startSlowCall(client, join(scratch, "cut-pid"));
  proxy.cut();
  check("a call ends with its connection", (await outcome) instanceof Error, await outcome);
  check("and so does its script", await until(() => !alive(pid)), pid);
  const pidFile = join(scratch, "cut-stream-pid");
  // The library does not notice the end of the stream, and waits for as long as it was told to.
  const impatient = { onprogress: () => proxy.cut(), timeout: 3_000 };
  const late = await client.call("slow", { pidFile }, impatient).catch((error) => error);
  check("a call that has reported progress does too", late instanceof Error, late);
  check("with its script", await until(() => !alive(Number(readFileSync(pidFile, "utf8")))));
}
