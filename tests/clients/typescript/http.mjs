// Sessions over HTTP, the same for every library. `connect` is given an address, what requests carry besides, what is heard
// and the answers to questions, and returns an adapter as `conversation.mjs` wants it.

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

/** A connection that breaks costs a session nothing. In the other era it ends what it was for, and nothing else. */
async function checkCutConnections(connect, version) {
  const server = await startServer();
  const proxy = await startProxy(server.url);
  const heard = new Heard();
  const client = await connect(proxy.url, {}, heard, new Answers());
  if (version < "2026") {
    const events = [];
    const onprogress = ({ progress }) => {
      events.push(progress);
      if (progress === 2) proxy.cut();
    };
    checkEqual("a call outlives its connection", await client.call("steps", {}, { onprogress }), said("Took 5 steps."));
    checkEqual("nothing of it is lost or repeated", events, [1, 2, 3, 4, 5]);
    await checkChanges(client, heard, server.project, () => proxy.cut());
  } else {
    const { outcome, pid } = await startSlowCall(client, join(scratch, "cut-pid"));
    proxy.cut();
    check("a call ends with its connection", (await outcome) instanceof Error, await outcome);
    check("and so does its script", await until(() => !alive(pid)), pid);
  }
  checkEqual("the next call works", await client.call("greet", { name: "Ada" }), said("Hello, Ada!"));
  await client.close();
  proxy.close();
  await server.stop();
}
