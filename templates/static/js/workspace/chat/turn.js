// One turn: the message that began it, and all of the answer, in the order of the file.

import { button, fill, h, icon, mark } from "../../kit/dom.js";
import { markdown } from "../../kit/markdown.js";
import { attempt, copy } from "../../kit/toast.js";
import { withCommas, span, time } from "../../kit/words.js";
import { stateOf } from "../words.js";
import { answerLine, question } from "./asks.js";
import { pictures } from "./attach.js";
import { Calls, foldedRunbook } from "./calls.js";
import { clock } from "./clock.js";
import { planOffer } from "./mode.js";
import { outcome } from "./outcome.js";
import { senderOf } from "./senders.js";
import { facts as spent } from "./spent.js";
import { Pondering, thought } from "./thinking.js";
import { Todos, todosOf } from "./todos.js";
import { retryLine, waits } from "./waits.js";

const LONGEST = 200_000; // characters drawn as Markdown; longer text is shown as plain text
const TALL = 24; // lines of a message before it is folded

export class Turn {
  lines = [];
  open = false;
  end = null;
  calls = null;
  prompt = "";
  said = "";
  asks = new Map();
  edits = null;
  started = null;
  wait = null;
  last = false;

  constructor(id, acts) {
    this.id = id;
    this.acts = acts;
    this.changes = []; // the changes of files by its calls
    this.node = h("div", { class: "turn-block", dataset: { turn: id } });
  }

  add(data) {
    this.lines.push(data);
    if (data.type === "turn") this.state(data);
    else if (data.type === "permission") this.permission(data);
    else if (data.type === "thinking") this.thought(data);
    else if (data.role === "user") this.question(data);
    else if (data.role === "tool") this.tool(data);
    else if (data.role === "notice") this.notice(data);
    else this.say(data);
    this.moment = data.timestamp;
  }

  question({ content, sender, timestamp, offset, cut }) {
    this.prompt = content;
    const { letters, tone, name, how } = senderOf(sender, this.acts.project);
    const runbook = content.startsWith("#!runbook");
    const text = runbook ? foldedRunbook(content) : this.drawMessage(content);
    this.node.prepend(
      h(
        "article",
        { class: "msg", "aria-label": `Message of ${name}`, dataset: { at: offset } },
        h("span", { class: `face ${tone}`, "aria-hidden": "true" }, letters),
        h("p", { class: "origin" }, h("b", {}, name), how, time(timestamp)),
        h("div", { class: "asked" }, text, rest(cut)),
      ),
    );
  }

  drawMessage(content) {
    const text = drawText(content, true);
    const shots = pictures(content, this.acts.project);
    if (content.split("\n").length <= TALL && content.length < 4000) return [text, shots];
    text.classList.add("folded");
    const more = button("Show all", {
      kind: "ghost s",
      "aria-expanded": "false",
      onclick: () => {
        const shut = text.classList.toggle("folded");
        more.textContent = shut ? "Show all" : "Show less";
        more.setAttribute("aria-expanded", String(!shut));
      },
    });
    return [text, more, shots];
  }

  /** The section of the answer, made when its first part arrives. */
  body() {
    if (!this.answer) {
      this.origin = h("p", { class: "origin" });
      this.foot = h("div", { class: "turn-foot line" });
      this.answer = h(
        "article",
        { class: "msg", "aria-label": "Answer" },
        h("span", { class: "face agent", "aria-hidden": "true" }, "A"),
        this.origin,
        this.foot,
      );
      this.node.append(this.answer);
      this.head();
    }
    return this.answer;
  }

  head() {
    const busy = this.open && !this.end;
    this.answer.toggleAttribute("aria-busy", busy);
    const ended = this.end && this.end.state !== "completed";
    const asks = busy && this.asks.size > 0; // nothing runs while a question waits: the clock rests
    const now = this.wait ? "waiting" : asks ? "asks" : "running";
    const look = stateOf(this.end ? this.end.state : now);
    const goes = busy && !asks && !this.wait && this.started && clock(this.started);
    const facts = [
      busy && this.doing(asks),
      ended && look.word.toLowerCase(),
      who(this.engine, this.model),
      !busy && took(this.started, this.end?.timestamp),
      ...spent(this.end ?? {}),
    ].filter(Boolean);
    fill(
      this.origin,
      h("b", {}, "Agent"),
      (busy || ended) && mark(look, false),
      h("span", {}, facts.join(" · "), goes && [facts.length ? " · " : "", goes]),
      !busy && time(this.end?.timestamp ?? this.started),
    );
  }

  /** What the turn is doing, in words. `asks`: one of its questions is open. */
  doing(asks) {
    if (this.wait) return "waits for its model's provider";
    if (asks) return "waits for your answer";
    return this.writing ? "writing" : this.pondering ? "thinking" : "working";
  }

  put(node) {
    this.body();
    (this.pondering?.node ?? this.writing ?? this.foot).before(node);
    return node;
  }

  say({ content, offset, cut }) {
    this.calls = null;
    this.writing?.remove();
    this.writing = null;
    this.said = content;
    const node = this.put(drawText(content, true));
    node.dataset.at = offset;
    if (cut) this.put(rest(cut));
  }

  /** Show finished thinking in place of the streamed text. */
  thought(data) {
    this.calls = null;
    this.rest();
    this.put(thought(data, seconds(this.moment, data.timestamp)));
    this.head();
  }

  /** Show thinking while it is streamed. */
  think(text, again) {
    this.open = true;
    this.body();
    if (!this.pondering) {
      this.calls = null;
      this.pondering = new Pondering();
      (this.writing ?? this.foot).before(this.pondering.node);
      this.head();
    }
    this.pondering.add(text, this.fresh || again);
    this.fresh = false;
  }

  rest() {
    this.pondering?.node.remove();
    this.pondering = null;
  }

  /** Show a part of an unfinished answer; `again`: the text streamed before is void. Unchanged
   *  blocks are not touched. */
  live(text, again) {
    this.open = true;
    this.body();
    if (!this.writing) {
      this.text = "";
      this.calls = null;
      this.writing = h("div", { class: "prose" });
      this.foot.before(this.writing);
      this.head();
    }
    this.text = this.again || again ? text : this.text + text;
    this.again = false;
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      if (this.writing) follow(this.writing, drawText(this.text, true));
    });
  }

  tool({ toolCall, offset }) {
    const todos = todosOf(toolCall);
    if (todos) {
      this.plan(todos, offset);
      return;
    }
    const change = this.group().add(toolCall, offset);
    if (change) this.changes.push(change);
  }

  plan(todos, offset) {
    if (!this.todos) {
      this.calls = null;
      this.todos = new Todos();
      this.put(this.todos.node);
    }
    this.todos.update(todos, offset);
  }

  /** The group of calls since the last text; made if there is none. */
  group() {
    if (!this.calls) {
      this.calls = new Calls();
      this.put(this.calls.node);
    }
    return this.calls;
  }

  /** Show the running calls; `all` is the complete list. */
  showRunning(all) {
    const before = this.busy;
    const running = all.filter(({ name }) => name !== "TodoWrite"); // drawn when it has written
    this.busy = running.length ? this.group() : null;
    this.busy?.showRunning(running);
    if (!before || before === this.busy) return;
    before.showRunning([]);
    if (before.list.length) return;
    before.node.remove();
    if (before === this.calls) this.calls = null;
  }

  notice({ content, level, code }) {
    this.calls = null;
    const tone = level === "info" ? "" : level === "warn" ? "warn" : "bad";
    const shape = icon(level === "info" ? "info" : "alert");
    const node = h("p", { class: `says small notice ${tone}` }, shape, h("span", {}, content));
    this.told = { content, code, node: this.put(node) };
  }

  state(data) {
    this.body();
    this.endWait();
    if (data.state === "waiting") {
      this.wait = { data, node: waits(data, this.acts.retry) };
      this.put(this.wait.node);
      this.head();
      return;
    }
    if (data.state === "started") {
      this.open = true;
      this.started = data.timestamp;
      this.engine = data.engine;
      this.mode = data.mode;
      this.model = data.model;
      this.head();
      return;
    }
    this.end = data;
    this.model = data.model ?? this.model;
    this.settle();
    this.finish();
  }

  /** The wait for the provider is over. */
  endWait() {
    this.wait?.node.replaceWith(retryLine(this.wait.data));
    this.wait = null;
  }

  /** End the turn: unfinished text stays as it is, unanswered questions are removed. */
  settle() {
    this.open = false;
    this.writing?.querySelector(".caret")?.remove();
    this.rest();
    this.showRunning([]);
    for (const ask of this.asks.values()) ask.remove();
    this.asks.clear();
    if (this.answer) this.head();
  }

  /** Draw the foot of a finished turn: why it did not complete, the next step, and the actions. */
  finish() {
    this.outcome?.remove();
    this.outcome = outcome(this, this.acts) ?? this.plannedOnly();
    if (this.outcome) this.foot.before(this.outcome);
    this.drawEdits();
    const fork = (event) => attempt(event, () => this.acts.fork(this.id));
    fill(
      this.foot,
      this.said &&
        button("Copy", { icon: "copy", kind: "ghost s", onclick: () => copy(this.said, "Copied") }),
      button("Fork from here", { icon: "fork", kind: "ghost s", onclick: fork }),
    );
  }

  /** The offer to carry out the plan, under a last turn in plan mode; null for any other. */
  plannedOnly() {
    const { most, goOn } = this.acts;
    const done = this.last && this.mode === "plan" && this.said && most?.();
    return done ? planOffer(done, goOn) : null;
  }

  /** Draw the changes in the working directory, if they are known. */
  drawEdits() {
    const line = this.end && this.acts.edits?.(this.id);
    if (line === this.edits) return;
    this.edits?.remove();
    this.edits = line;
    if (line) this.foot.before(line);
  }

  /** Set whether this is the last turn of the chat: only that can be run again. */
  setLast(last) {
    if (this.last === last) return;
    this.last = last;
    if (this.end) this.finish();
  }

  permission(data) {
    this.calls = null;
    const { call, state, by } = data;
    if (state === "asked") {
      this.asks.set(call, this.put(question(data, this.acts.answer)));
      this.head();
      this.acts.asked?.(data);
      return;
    }
    const asked = this.asks.get(call);
    this.asks.delete(call);
    if (this.answer) this.head();
    const said = answerLine(data);
    if (asked) asked.replaceWith(said);
    else if (by !== "policy" || state === "denied") this.put(said);
  }
}

function drawText(text, breaks) {
  if (text.length > LONGEST) return h("div", { class: "prose asis" }, text);
  return markdown(text, { breaks });
}

/** Bring a growing block in line with `fresh`, starting at the first difference. */
function follow(node, fresh) {
  (lastBlock(fresh) ?? fresh).append(h("span", { class: "caret", "aria-hidden": "true" }));
  const old = [...node.childNodes];
  const next = [...fresh.childNodes];
  let n = 0;
  while (n < old.length && n < next.length && old[n].isEqualNode(next[n])) n += 1;
  for (const gone of old.slice(n)) gone.remove();
  node.append(...next.slice(n));
}

function lastBlock(node) {
  const last = node.lastElementChild;
  if (!last || !last.matches("p, ul, ol, li, blockquote, h2, h3, h4, h5, h6")) return null;
  return lastBlock(last) ?? last;
}

/** Engine and model: "builtin local:m", but "claude-opus-5-5", which contains its engine. */
const who = (engine, model) =>
  (model?.startsWith(`${engine}-`) ? [model] : [engine, model]).filter(Boolean).join(" ");
const seconds = (from, to) =>
  from && to ? (new Date(to).getTime() - new Date(from).getTime()) / 1000 : 0;
const took = (from, to) => (from && to ? span(seconds(from, to)) : "");

/** The hint that only the beginning of a text is shown, and where the whole is. */
const rest = (cut) =>
  cut &&
  h(
    "p",
    { class: "hint wrap-anywhere" },
    `Only the beginning of ${withCommas(cut.bytes)} bytes is shown. The whole text is in .chats/${cut.file}.`,
  );
