// Who may do what, and who did it: a session over HTTP with roles, a policy, consent and an audit log, the same for both
// libraries. It writes down a line for each call, question and answer, as the audit log should have it, and compares them at
// the end.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, checkEqual, scratch } from "../checks.mjs";
import { newToken, startServer } from "../http-server.mjs";
import { Answers } from "./answers.mjs";
import { Heard, said } from "./conversation.mjs";

// What `make-permissions-project.sh` writes.
const TOOLS = {
  ada: ["customers", "deploy", "introduce", "status", "wipe"],
  ben: ["deploy", "status", "wipe"],
  cleo: ["customers", "status"],
};
const SECRETS = ["hidden-by-pointer", "4929000000006789"];
const FORBIDDEN = "production-is-for-ada";
const ASKED_BY_RULE = "ask-before-staging";
const AUDIT = join(scratch, "audit.jsonl");
const ONCE = { action: "accept", content: { consent: "once" } };
const SESSION = { action: "accept", content: { consent: "session" } };
const NO = { action: "decline" };

/** The lines that the audit log should have, and what the scripts should have written. */
class Expected {
  lines = [];
  runs = [];

  constructor(isStateless) {
    this.isStateless = isStateless;
  }

  call(caller, tool, { outcome = "success", ...more } = {}) {
    this.#add("mcp.tools.call", caller, tool, { outcome, ...more });
  }

  /** A question, and its answer. Without sessions, the call ends with the question, and another one brings the answer. */
  asks(caller, tool, answer, rule) {
    this.#add("mcp.question", caller, tool, {});
    if (this.isStateless) this.call(caller, tool, { outcome: "input_required", rule });
    this.#add("mcp.answer", caller, tool, { outcome: "success", consent: answer.action });
  }

  #add(event, caller, tool, { outcome, why, rule, consent }) {
    this.lines.push(described(event, caller, "token", tool, outcome, why, rule, consent));
  }
}

const described = (...members) => members.map((member) => member ?? "-").join(" ");

/** A client of one caller, which expects what it does in the audit log. */
class Caller {
  constructor(name, client, answers, expected) {
    Object.assign(this, { name, client, answers, expected });
  }

  async sees(tools) {
    const seen = (await this.client.tools()).map((tool) => tool.name).sort();
    checkEqual(`${this.name} sees the tools that it may use`, seen, tools);
  }

  async tellsItsName() {
    checkEqual(`the script knows ${this.name}`, await this.client.call("status", {}), said(`fine, ${this.name}`));
    this.expected.call(this.name, "status");
    this.expected.runs.push(`status by ${this.name}`);
  }

  async isNotAllowed(tool, args) {
    const refusal = await this.client.call(tool, args).catch((error) => error);
    check(`${this.name} cannot call ${tool}`, refusal.code === -32602, refusal);
    this.expected.call(this.name, tool, { outcome: "refused", why: "rights" });
  }

  async isDenied() {
    const result = await this.client.call("deploy", { env: "production" });
    const isTold = result.isError && result.text.includes(`${this.name} may not deploy to production.`);
    check("the message of the rule reaches the client", isTold, result);
    this.expected.call(this.name, "deploy", { outcome: "refused", why: "policy", rule: FORBIDDEN });
  }

  /** `answer` is that of the user, if a rule asks. */
  deploys(env, answer) {
    const rule = answer && ASKED_BY_RULE;
    return this.#acts("deploy", { env }, `Deploy to ${env}?`, `deployed to ${env}`, `deploy to ${env}`, answer, rule);
  }

  wipes(what, answer) {
    return this.#acts("wipe", { what }, `what: "${what}"`, `wiped ${what}`, `wipe ${what}`, answer);
  }

  async #acts(tool, args, question, done, ran, answer, rule) {
    const { answers, expected, name } = this;
    answers.asked = [];
    answers.forms = answer ? [answer] : [];
    const result = await this.client.call(tool, args);
    check("the user is asked once if a rule or the tool wants it", answers.asked.length === (answer ? 1 : 0), answers.asked);
    check("the question says what is asked", !answer || answers.asked[0].includes(question), answers.asked);
    if (answer) expected.asks(name, tool, answer, rule);
    if (answer === NO) {
      check(`${tool} is not run after a no`, result.isError && result.text.includes("declined"), result);
      return expected.call(name, tool, { outcome: "refused", why: "consent", rule, consent: "declined" });
    }
    checkEqual(`${tool} is run`, result, said(done));
    expected.call(name, tool, { rule, consent: answer?.content.consent });
    expected.runs.push(`${ran} by ${name}`);
  }

  /** With a consent for the session, or in the stateless era one for the caller. */
  async wipesAgain(what) {
    this.answers.asked = [];
    checkEqual("the consent is remembered", await this.client.call("wipe", { what }), said(`wiped ${what}`));
    checkEqual("the user is not asked again", this.answers.asked, []);
    this.expected.call(this.name, "wipe", { consent: "remembered" });
    this.expected.runs.push(`wipe ${what} by ${this.name}`);
  }

  async cannotConsent(tool, args, rule) {
    const result = await this.client.call(tool, args);
    const isTold = result.isError && result.text.includes("consent");
    const reason = result.structuredContent?.error?.reason;
    check("a client that cannot ask receives the reason", isTold && reason === "unavailable", result);
    this.expected.call(this.name, tool, { outcome: "refused", why: "consent", rule, consent: "unavailable" });
  }

  async listsCustomers() {
    const result = await this.client.call("customers", {});
    const wanted = { rows: [{ name: "Zoë", card: "[redacted]" }], note: "paid with [redacted]" };
    checkEqual("a result has its redacted data", result.structuredContent, wanted);
    const isHidden = SECRETS.every((secret) => !JSON.stringify(result).includes(secret));
    check("nothing else of it has left the server", isHidden, result);
    this.expected.call(this.name, "customers", { rule: "hide-cards" });
    this.expected.runs.push(`customers by ${this.name}`);
  }

  async introducesItself() {
    const answer = { action: "accept", content: { name: "Zoë" } };
    this.answers.forms = [answer];
    checkEqual("a script asks its own question", await this.client.call("introduce", {}), said("Hello, Zoë!"));
    this.expected.asks(this.name, "introduce", answer);
    this.expected.call(this.name, "introduce");
    this.expected.runs.push(`introduce by ${this.name}`);
  }

  close() {
    return this.client.close();
  }
}

export async function conversePermissions(connect, isStateless) {
  try {
    const expected = new Expected(isStateless);
    const tokens = join(scratch, "tokens");
    const tokenOf = Object.fromEntries(Object.keys(TOOLS).map((name) => [name, newToken(tokens, name)]));
    const server = await startServer(["--tokens", tokens, "--audit", AUDIT]);
    const bearer = (token) => ({ Authorization: `Bearer ${token}` });
    const enter = async (name, canAsk = true) => {
      const answers = new Answers(canAsk);
      const client = await connect(server.url, bearer(tokenOf[name]), new Heard(), answers);
      return new Caller(name, client, answers, expected);
    };

    const stranger = connect(server.url, bearer("x".repeat(43)), new Heard(), new Answers());
    const refusal = await stranger.catch((error) => error);
    check("a stranger is refused", refusal instanceof Error, refusal);
    const callers = await Promise.all(Object.keys(TOOLS).map((name) => enter(name)));
    await converse(callers);
    for (const caller of callers) await caller.close();

    const ben = await enter("ben", false);
    await ben.cannotConsent("wipe", { what: "the cupboard" });
    await ben.cannotConsent("deploy", { env: "staging" }, ASKED_BY_RULE);
    if (isStateless) await ben.wipesAgain("the tape");
    else await ben.cannotConsent("wipe", { what: "the tape" });
    await ben.close();
    await server.stop();
    checkRecords(server.project, expected);
  } catch (error) {
    check("the step after the last one above can be taken", false, error);
  }
}

async function converse([ada, ben, cleo]) {
  for (const caller of [ada, ben, cleo]) {
    await caller.sees(TOOLS[caller.name]);
    await caller.tellsItsName();
  }
  await cleo.isNotAllowed("deploy", { env: "test" });
  await ben.isNotAllowed("customers", {});
  await ben.isDenied();
  await ada.deploys("production");
  await cleo.listsCustomers();
  await ada.introducesItself();
  await ben.deploys("test");
  await ben.deploys("staging", NO);
  await ben.deploys("staging", ONCE);
  await ben.deploys("staging", ONCE);
  await ben.wipes("the disk", NO);
  await ben.wipes("the disk", ONCE);
  await ben.wipes("the tape", SESSION);
  await ben.wipesAgain("the tape");
  // The consent of one is none of another.
  await ada.wipes("the tape", NO);
  await ben.wipesAgain("the tape");
  // At once: each call has its own caller.
  await Promise.all([ada, ben, cleo, ada, ben, cleo].map((caller) => caller.tellsItsName()));
}

/** What is left of a list without the members of another, each taken away once. */
function without(list, others) {
  const left = [...list];
  for (const other of others) if (left.includes(other)) left.splice(left.indexOf(other), 1);
  return left;
}

/** What the command prints. It fails if the log was altered. */
function audit(...words) {
  return execFileSync(process.argv[2], ["audit", ...words], { encoding: "utf8" });
}

function checkRecords(project, expected) {
  const runs = readFileSync(join(project, "runs"), "utf8").trim().split("\n");
  checkEqual("the scripts have run for their callers, and only those", runs.sort(), expected.runs.sort());
  check("audit verify succeeds", audit("verify", AUDIT));
  const shown = audit("show", AUDIT, "--json").trim().split("\n").map((line) => JSON.parse(line));
  const strangers = shown.filter((line) => line["event.name"] === "mcp.login.failed");
  const hasNoName = strangers.length > 0 && strangers.every((line) => !("caller.name" in line));
  check("the stranger has a line, and no name", hasNoName, strangers);
  const others = ["mcp.server.start", "mcp.server.end", "mcp.login.failed"];
  const lines = shown.filter((line) => !others.includes(line["event.name"]));
  const names = ["event.name", "caller.name", "caller.known_by", "gen_ai.tool.name", "outcome", "error.type", "policy.rule", "consent"];
  const found = lines.map((line) => described(...names.map((name) => line[name]))).sort();
  const wanted = expected.lines.sort();
  const notExpected = without(found, wanted), missing = without(wanted, found);
  const isSame = notExpected.length === 0 && missing.length === 0;
  check("each call, refusal, question and answer has its one line", isSame, { notExpected, missing });
  const ids = lines.map((line) => line["event.id"]);
  checkEqual("the lines have ids of their own", new Set(ids).size, ids.length);
  const calls = new Map(lines.map((line) => [line["event.id"], line]));
  const parts = lines.filter((line) => ["mcp.question", "mcp.answer"].includes(line["event.name"]));
  const belong = parts.every((line) => calls.get(line["call.id"])?.["caller.name"] === line["caller.name"]);
  check("questions and answers name a call of their caller", belong, parts);
  const text = readFileSync(AUDIT, "utf8");
  check("the log has nothing that was redacted", SECRETS.every((secret) => !text.includes(secret)), text);
}
