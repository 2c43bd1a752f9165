// Sessions over HTTP, the same for every library. `connect` is given an address, what requests carry besides, what is heard
// and the answers to questions, and returns an adapter as `conversation.mjs` wants it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { alive, check, checkEqual, scratch, until } from "../checks.mjs";
import { startProxy, startServer } from "../http-server.mjs";
import { Answers } from "./answers.mjs";
import { Heard, checkChanges, said, startSlowCall, talk } from "./conversation.mjs";

export async function converseOverHttp(connect, version) {
  try {
    await checkSession(connect, version);
    await checkCutConnections(connect, version);
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
}

async function checkSession(connect, version) {
  const server = await startServer();
  const [heard, answers] = [new Heard(), new Answers()];
  const client = await connect(server.url, {}, heard, answers);
  await talk(client, version, heard, answers);
  await checkChanges(client, heard, server.project);
  // The same at the address with a slash at its end, and for one who has other calls in flight.
  const address = new URL(`${server.url.href}/`);
  const other = await connect(address, {}, new Heard(), answers);
  checkEqual("another client is served too", await other.call("add", { a: 1, b: 2 }), said("3"));
  await other.close();
  await client.close();
  await server.stop();
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
  const late = await client.call("slow", { pidFile }, { onprogress: () => proxy.cut() }).catch((error) => error);
  check("a call that has reported progress does too", late instanceof Error, late);
  check("with its script", await until(() => !alive(Number(readFileSync(pidFile, "utf8")))));
}
