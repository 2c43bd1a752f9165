// Web pages in a real browser that use a server: those that may, those that may not, and one whose name was made to point to
// this machine.

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { TOOLS, check, checkEqual, scratch } from "../checks.mjs";
import { newToken, startServer } from "../http-server.mjs";
import * as inPage from "./in-page.mjs";

// What a page is told of a request that it may not make.
const REFUSED = "TypeError: Failed to fetch";

// Any page of these names is empty.
const pages = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Empty"));
await new Promise((listening) => pages.listen(0, "127.0.0.1", listening));
const origin = (name) => `http://${name}:${pages.address().port}`;

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    // All names that end so are this machine.
    "--host-resolver-rules=MAP *.example 127.0.0.1",
    // The browser's own protection of this machine, which others do not have: the server must do without.
    "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
  ],
});
process.on("exit", () => browser.close());

/** A page of that name, and what the functions of `in-page.mjs` come to when they are called in it. */
async function open(address) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(address);
  return prepared(page);
}

async function prepared(page) {
  const script = Object.entries(inPage).map(([name, act]) => `window.${name} = ${act};`).join("\n");
  await page.addScriptTag({ content: script });
  return {
    /** What a function returns, or the error that it throws. */
    do: (name, ...args) =>
      page.evaluate(([name, args]) => window[name](...args).catch(String), [name, args]),
    close: () => page.context().close(),
  };
}

async function checkStrangers() {
  const server = await startServer();
  const url = server.url.href;
  const stranger = await open(origin("stranger.example"));
  checkEqual("a page of a stranger gets nothing", await stranger.do("listTools", url), REFUSED);
  // A request that a browser sends without asking first, and whose answer a page cannot see.
  const pidFile = join(scratch, "stranger-pid");
  checkEqual("not even blindly", await stranger.do("callBlindly", url, "slow", { pidFile }), "sent");
  const local = await open(origin("localhost"));
  checkEqual("a page of this machine is served", await local.do("listTools", url), TOOLS);
  check("what a stranger has sent had no effect", !existsSync(pidFile));

  // The name of the page has come to mean this machine: for the browser, page and server are the same place.
  const page = await (await browser.newContext()).newPage();
  const rebound = `http://rebound.example:${server.url.port}`;
  await page.route(`${rebound}/`, (route) => route.fulfill({ contentType: "text/html", body: "<p>Empty" }));
  await page.goto(`${rebound}/`);
  const attacker = await prepared(page);
  checkEqual("a page whose name points here is turned away", await attacker.do("statusOf", `${rebound}/mcp`), 421);
  for (const one of [stranger, local, attacker]) await one.close();
  await server.stop();
}

async function checkAllowed() {
  const tokens = join(scratch, "tokens");
  const token = newToken(tokens, "page");
  const server = await startServer(["--tokens", tokens, "--allow-origin", origin("friend.example")]);
  const url = server.url.href;
  const stranger = await open(origin("stranger.example"));
  checkEqual("a page that is not allowed gets nothing", await stranger.do("listTools", url, token), REFUSED);
  const friend = await open(origin("friend.example"));
  checkEqual("an allowed page is told that it needs a token", await friend.do("challenge", url), [401, "Bearer"]);
  checkEqual("with one it is served", await friend.do("listTools", url, token), TOOLS);
  checkEqual("a header for an argument is let through", await friend.do("callRoute", url, token, "west"), "To west.");
  const told = await friend.do("readSteps", url, token);
  checkEqual("progress arrives before the result", told, [1, 2, 3, 4, 5, "Took 5 steps."]);
  const session = await friend.do("haveSession", url, token);
  checkEqual("a session begins, is used and ends", session, { tools: TOOLS, stream: "text/event-stream", ended: 200, after: 404 });
  await stranger.close();
  await friend.close();
  await server.stop();
}

try {
  await checkStrangers();
  await checkAllowed();
} catch (error) {
  check("the step after the last one above can be taken", false, error);
}
await browser.close();
pages.close();
