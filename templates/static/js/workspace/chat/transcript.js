// The transcript: one block per turn, in file order. Each line is drawn once, whatever reconnects.

import { Calls, folded, shown } from "./calls.js";
import { button, fill, h, icon, mark } from "../kit/dom.js";
import { markdown } from "../kit/markdown.js";
import { attempt } from "../kit/toast.js";
import { span, time } from "../kit/words.js";
import { senderWords, stateOf } from "./words.js";

const FACES = {
  user: ["Y", ""],
  client: ["mcp", "client"],
  chat: ["C", "agent"],
  trigger: ["T", "client"],
  system: ["S", ""],
};

export class Transcript {
  constructor(lines, acts) {
    Object.assign(this, { lines, acts, turns: new Map(), seen: new Set() });
    this.top = h("div", { class: "earlier" });
    lines.append(this.top);
  }

  /** Draw what is before the last question; returns the offset the stream starts behind. */
  history(messages, next, total) {
    const start = messages.findLastIndex((message) => message.role === "user");
    const before = start < 0 ? messages : messages.slice(0, start);
    for (const message of before) this.line(message);
    this.more(next, total);
    return before.at(-1)?.offset ?? 0;
  }

  more(next) {
    fill(
      this.top,
      next &&
        button("Show earlier messages", {
          kind: "ghost",
          onclick: (event) =>
            attempt(event, async () => {
              const page = await this.acts.earlier(next);
              const later = new Transcript(h("div"), this.acts);
              for (const message of page.messages) later.line(message);
              this.top.after(...[...later.turns.values()].map((turn) => turn.node));
              this.more(page.next);
            }),
        }),
    );
  }

  clear() {
    for (const turn of this.turns.values()) turn.node.remove();
    this.turns.clear();
    this.seen.clear();
  }

  turn(id) {
    if (!this.turns.has(id)) {
      for (const earlier of this.turns.values()) earlier.again?.remove();
      const turn = new Turn(id, this.acts);
      this.turns.set(id, turn);
      this.lines.append(turn.node);
    }
    return this.turns.get(id);
  }

  line(data) {
    if (this.seen.has(data.offset)) return;
    this.seen.add(data.offset);
    this.turn(data.turnId).add(data);
  }

  delta({ turnId, text }) {
    this.turn(turnId).live(text);
  }

  running(turn) {
    for (const [id, shown] of this.turns) if (shown.open && id !== turn?.id) shown.settle();
  }

  whyHeld() {
    const ended = [...this.turns.values()].reverse().find((turn) => turn.end);
    return ended?.end.state === "stopped" ? "the last turn was stopped" : "the last turn failed";
  }
}

class Turn {
  constructor(id, acts) {
    Object.assign(this, {
      id,
      acts,
      open: false,
      end: null,
      calls: null,
      prompt: "",
      asks: new Map(),
    });
    this.node = h("div", { class: "turn-block" });
  }

  add(data) {
    if (data.type === "turn") this.state(data);
    else if (data.type === "permission") this.permission(data);
    else if (data.role === "user") this.question(data);
    else if (data.role === "tool") this.tool(data);
    else if (data.role === "notice") this.notice(data);
    else this.say(data);
  }

  question({ content, sender, timestamp }) {
    this.prompt = content;
    const [letter, tone] = FACES[sender?.kind] ?? FACES.system;
    const by = senderWords(sender);
    const runbook = content.startsWith("#!runbook");
    this.node.prepend(
      h(
        "section",
        { class: "msg", "aria-label": `Message of ${by}` },
        h("span", { class: `face ${tone}`, "aria-hidden": "true" }, letter),
        h("p", { class: "origin" }, h("b", {}, by), time(timestamp)),
        h(
          "div",
          { class: "asked" },
          runbook ? folded(content) : h("div", { class: "prose asis" }, content),
        ),
      ),
    );
  }

  /** The answer's section, made when the first thing of it arrives. */
  body() {
    if (!this.answer) {
      this.origin = h("p", { class: "origin" });
      this.answer = h(
        "section",
        { class: "msg", "aria-label": "Answer" },
        h("span", { class: "face agent", "aria-hidden": "true" }, "A"),
        this.origin,
      );
      this.node.append(this.answer);
      this.head();
    }
    return this.answer;
  }

  head() {
    const busy = this.open && !this.end;
    this.answer.toggleAttribute("aria-busy", busy);
    const look = this.end ? stateOf(this.end.state) : stateOf("running");
    const took =
      this.started && this.end?.timestamp
        ? span((new Date(this.end.timestamp) - new Date(this.started)) / 1000)
        : "";
    fill(
      this.origin,
      h("b", {}, "Agent"),
      (busy || (this.end && this.end.state !== "completed")) && mark(look, false),
      h(
        "span",
        {},
        [
          busy && "working",
          this.end && this.end.state !== "completed" && look.word.toLowerCase(),
          [this.engine, this.model].filter(Boolean).join(" "),
          took,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
      !busy && time(this.end?.timestamp ?? this.started),
    );
  }

  put(node) {
    const body = this.body();
    if (this.writing) this.writing.before(node);
    else body.append(node);
    return node;
  }

  say({ content }) {
    this.calls = null;
    this.writing?.remove();
    this.writing = null;
    this.put(markdown(content));
  }

  live(text) {
    this.open = true;
    const body = this.body();
    if (!this.writing) {
      this.text = "";
      this.calls = null;
      this.writing = h("div", { class: "prose" });
      body.append(this.writing);
      this.head();
    }
    this.text += text;
    const drawn = markdown(this.text);
    (drawn.lastElementChild ?? drawn).append(h("span", { class: "caret", "aria-hidden": "true" }));
    fill(this.writing, [...drawn.childNodes]);
  }

  tool({ toolCall }) {
    if (!this.calls) this.calls = new Calls(this.put(h("details", { class: "calls" })));
    this.calls.add(toolCall);
  }

  notice({ content, level }) {
    this.calls = null;
    const tone = level === "info" ? "" : level === "warn" ? "warn" : "bad";
    this.put(
      h(
        "p",
        { class: `says small notice ${tone}` },
        icon(level === "info" ? "info" : "alert"),
        h("span", {}, content),
      ),
    );
  }

  state(data) {
    if (data.state === "started") {
      Object.assign(this, {
        open: true,
        started: data.timestamp,
        engine: data.engine,
        model: data.model,
      });
      this.body();
      this.head();
      return;
    }
    this.end = data;
    this.settle();
    if (["failed", "interrupted", "stopped"].includes(data.state) && this.prompt) this.offerAgain();
  }

  settle() {
    this.open = false;
    this.writing?.querySelector(".caret")?.remove();
    for (const ask of this.asks.values()) ask.remove();
    this.asks.clear();
    if (this.answer) this.head();
  }

  offerAgain() {
    this.again = this.put(
      h(
        "div",
        { class: "line" },
        button("Run again", {
          icon: "restart",
          kind: "s",
          onclick: (event) => attempt(event, () => this.acts.again(this.prompt)),
        }),
      ),
    );
  }

  permission({ call, tool, input, state, by, reason }) {
    this.calls = null;
    if (state !== "asked") {
      const asked = this.asks.get(call);
      this.asks.delete(call);
      const look = state === "allowed" ? stateOf("completed") : stateOf("skipped");
      const words =
        by === "user" ? `You ${state} ${tool}` : `${tool} ${state}${reason ? `: ${reason}` : ""}`;
      const said = h("p", { class: "says tiny" }, mark(look, false), h("span", {}, words));
      if (asked) asked.replaceWith(said);
      else if (by !== "policy" || state === "denied") this.put(said);
      return;
    }
    this.asks.set(call, this.put(this.ask(call, tool, input)));
  }

  ask(call, tool, input) {
    const id = `ask-${call}`;
    const answer = (allow) => (event) => attempt(event, () => this.acts.answer(call, allow));
    return h(
      "div",
      { class: "ask", role: "group", "aria-labelledby": id },
      h("header", { id }, icon("shield"), `${tool} asks to run`),
      h(
        "div",
        {},
        h(
          "pre",
          { class: "codeblock", tabindex: "0", "aria-label": "What it would do" },
          shown(input),
        ),
        h(
          "div",
          { class: "line wrap" },
          h(
            "button",
            { type: "button", class: "btn primary", onclick: answer(true) },
            "Allow once ",
            h("span", { class: "kbd" }, "A"),
          ),
          h(
            "button",
            { type: "button", class: "btn danger", onclick: answer(false) },
            "Deny ",
            h("span", { class: "kbd" }, "D"),
          ),
        ),
      ),
    );
  }
}
