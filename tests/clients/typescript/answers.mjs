// What the sessions answer when the server asks them something.

import { pathToFileURL } from "node:url";
import { scratch } from "../checks.mjs";

export const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };

/** The only folder that the sessions have open. */
export const ROOT = pathToFileURL(scratch).href;

/** Remembers what was asked. Forms are answered with `forms`, one after the other. */
export class Answers {
  asked = [];
  forms = [];

  /** `canAsk` says whether the client can show forms. */
  constructor(canAsk = true) {
    this.canAsk = canAsk;
    this.capabilities = canAsk ? CAPABILITIES : { ...CAPABILITIES, elicitation: undefined };
  }

  async elicit(params) {
    this.asked.push(params.message);
    return this.forms.shift() ?? { action: "cancel" };
  }

  async sample(params) {
    const [{ content }] = params.messages;
    // Version 1 has one piece of content, version 2 may have several.
    this.asked.push([content].flat()[0].text);
    return { role: "assistant", model: "none", content: { type: "text", text: "In short." } };
  }

  async roots() {
    return { roots: [{ uri: ROOT }] };
  }
}
