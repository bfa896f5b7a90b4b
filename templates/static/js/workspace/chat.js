// A chat: its history from the API, then its event stream, which resumes exactly where it stopped.

import { call, get, P, patch, post, query, remove } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { sheet } from "../kit/dialog.js";
import { key } from "../kit/keys.js";
import { menu } from "../kit/menu.js";
import { action } from "../kit/palette.js";
import { problem } from "../kit/parts.js";
import { onChange, where } from "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { follow } from "../kit/stream.js";
import { attempt, toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { exportOf, forkOf, items, renameHere } from "./chat/actions.js";
import { answer, keepWaiting } from "./asks.js";
import { drawFacts } from "./chat/facts.js";
import { chatList } from "./chat/list.js";
import { modeChoice } from "./chat/mode.js";
import { queue } from "./chat/queue.js";
import { Edits } from "./chat/undo.js";
import { Transcript } from "./chat/transcript.js";
import { Worktree, worktreeBox } from "./chat/worktree.js";
import { composer } from "./composer.js";

const { project: slug, chat: id } = where;
const route = P(slug, "chats", id);
const dock = document.getElementById("dock");
const lines = document.getElementById("lines");
const side = document.getElementById("side");
const nav = document.getElementById("chats");
const here = document.getElementById("here");
const list = chatList(nav, slug, id);
const GO_ON = "The plan is approved. Go on with it.";
/** What the project lets an agent do unasked: no chat of it has more. */
const most = async () => (await get(P(slug))).project.permissionMode;

function newChat() {
  const tree = worktreeBox(slug);
  const write = composer({
    key: `new:${slug}`,
    project: slug,
    label: "Start chat",
    send: async ({ prompt, model, attachments }) => {
      const body = {
        prompt,
        ...(model && { model }),
        ...(attachments && { attachments }),
        ...(mode.node.value && { permissionMode: mode.node.value }),
        ...tree.asked(),
      };
      const { chat } = await post(P(slug, "chats"), body);
      location.assign(`/projects/${slug}/chats/${chat.sessionId}`);
    },
  });
  const mode = modeChoice(() => {});
  most().then(
    (found) => mode.update(null, found),
    () => {}, // it is not offered then
  );
  write.actions.append(mode.node, tree.node);
  write.placeholder("Write a message to start a chat.");
  dock.append(write.node);
  fill(
    lines,
    h(
      "div",
      { class: "empty" },
      h("h2", { class: "big" }, "A new chat"),
      h("p", {}, "Choose a chat at the left, or write the first message below."),
    ),
  );
  side.hidden = true;
  document.getElementById("chat").classList.add("no-side");
  key("w", "Write a message", () => write.focus());
  if (!matchMedia("(hover: none)").matches) write.focus(); // on a phone the keyboard would open
}

class ChatPage {
  constructor() {
    this.state = { running: false, queued: 0, rows: [], asks: [], chat: null, read: 0, most: "" };
    this.rests = []; // what waits until no turn runs
    this.transcript = new Transcript(lines, {
      project: slug,
      page: (asked) => get(query(`${route}/messages`, { ...asked, turns: 1 })),
      answer: (asked, said) => answer(this.about(asked), said).then(() => this.reload()),
      most: () => this.state.most,
      goOn: (event, mode) => attempt(event, () => this.goOn(mode)),
      again: (prompt) => this.idle().then(() => post(`${route}/messages`, { prompt })),
      edit: (prompt) => this.write.write(prompt),
      retry: () => post(`${route}/retry`),
      fork: (turn) => forkOf({ project: slug, sessionId: id }, turn),
      edits: (turn) => this.edits.of(turn),
      asked: ({ tool }) => this.say(`${tool} asks to run. A allows it once, D denies it.`),
    });
    this.keep = keepWaiting(
      () => this.state.asks.map(({ call: asked }) => this.about(asked)),
      (asked, until) => this.denied(asked, until),
    );
    this.mode = modeChoice((event, mode) => attempt(event, () => this.setMode(mode)));
    this.edits = new Edits(route, () => this.transcript.edited());
    this.tree = new Worktree(route);
    this.write = composer({
      key: id,
      project: slug,
      send: ({ prompt, model, attachments }) =>
        post(`${route}/messages`, {
          prompt,
          ...(model && { model }),
          ...(attachments && { attachments }),
        }),
    });
    this.waiting = queue(slug, id, {
      edit: (prompt) => this.write.write(prompt),
      why: () => this.transcript.whyHeld(),
    });
    this.stop = button("Stop", {
      icon: "stop",
      onclick: (event) => attempt(event, () => post(`${route}/stop`)),
    });
    this.status = h("p", { class: "sr", role: "status" });
    this.latest = button("Latest", {
      icon: "down",
      kind: "s latest",
      hidden: true,
      onclick: () => this.toEnd(),
    });
    this.write.actions.append(this.mode.node, this.stop);
    fill(dock, this.latest, this.status, ...this.waiting.nodes, this.tree.banner, this.write.node);
  }

  async open() {
    this.top();
    this.keys();
    const rest = late(this.transcript.top, "text");
    this.state.most = await most().catch(() => "");
    const [from] = await Promise.all([this.transcript.open(), this.reload()]).finally(rest);
    this.follow(from);
    this.look();
    this.seen();
    await this.jump();
  }

  follow(from) {
    const handlers = {
      open: () => this.transcript.restart(),
      line: (data) => this.line(data),
      delta: (data) => this.transcript.delta(data),
      thinking: (data) => this.transcript.thinking(data),
      calls: (data) => this.transcript.calls(data),
      state: (data) => {
        const known = new Set(this.state.asks.map((one) => one.call));
        Object.assign(this.state, data);
        for (const one of data.asks) this.denied(one.call, one.until);
        if (data.asks.some((one) => !known.has(one.call))) this.keep();
        this.transcript.running(data.turn);
        if (!data.running) this.look();
        if (!data.running) for (const go of this.rests.splice(0)) go();
        this.draw();
      },
      queue: (data) => {
        this.state.rows = data.queue;
        this.draw();
      },
      resync: () => this.transcript.clear(),
      deleted: () => {
        end();
        this.gone();
      },
    };
    const end = follow(`${route}/events`, handlers, { after: from });
    const renamed = ({ sessionId }) => sessionId === id && this.reload().catch(() => {});
    follow("/api/events", { chat: renamed });
  }

  about(asked) {
    return { project: slug, sessionId: id, call: asked };
  }

  /** A question is denied at another time than it was. */
  denied(asked, until) {
    const node = lines.querySelector(`.ask[data-call="${CSS.escape(asked)}"] [data-until]`);
    if (node) node.dataset.until = until;
  }

  async setMode(mode) {
    await patch(route, { permissionMode: mode }).finally(() => this.reload());
  }

  /** The plan is approved: the next turn does it. */
  async goOn(mode) {
    await patch(route, { permissionMode: mode });
    await post(`${route}/messages`, { prompt: GO_ON });
    await this.reload();
  }

  async revoke(rule) {
    await remove(query(`${route}/allow`, { rule }));
    await this.reload();
  }

  /** What turns changed is known once they are settled. */
  look() {
    this.edits.load().catch(() => {}); // the next turn asks again
  }

  /** A message sent before the failed turn is settled would be held with all that wait. */
  idle() {
    return this.state.running ? new Promise((go) => this.rests.push(go)) : Promise.resolve();
  }

  line(data) {
    this.transcript.line(data);
    if (data.toolCall?.name === "TodoWrite") this.draw();
    if (data.type === "turn")
      this.reload().then(
        () => this.seen(),
        () => {},
      ); // the bar says it
    this.latest.classList.toggle("news", !this.latest.hidden);
  }

  async reload() {
    const { chat, queue: rows } = await get(route);
    Object.assign(this.state, { chat, rows });
    here.textContent = chat.name;
    this.tree.load(chat).catch(() => {}); // the next turn asks again
    this.draw();
  }

  draw() {
    const { running, queued, waiting, rows, chat } = this.state;
    const asked = lines.querySelector(".ask") !== null;
    const ahead = (running ? 1 : 0) + queued;
    this.stop.hidden = !running;
    this.waiting.draw(rows);
    this.write.label(ahead ? "Queue" : "Send");
    this.write.placeholder(
      ahead ? `Write a message. ${plural(ahead, "turn")} will run before it.` : "Write a message.",
    );
    if (!chat) return;
    const now = asked ? "Asks: " : waiting ? "Waits: " : running ? "Runs: " : "";
    document.title = `${now}${chat.name} · Workspace`;
    document.getElementById("archived").hidden = !chat.archived;
    if (this.state.most) this.mode.update(chat.permissionMode, this.state.most);
    drawFacts(side, chat, {
      files: this.transcript.changes(),
      todos: this.transcript.todos(),
      whole: this.transcript.next === null,
      worktree: this.tree.node,
      acts: {
        fork: (event) => attempt(event, () => forkOf(chat)),
        exportAs: (format) => exportOf(chat, format),
        revoke: (event, rule) => attempt(event, () => this.revoke(rule)),
      },
    });
  }

  /** The buttons of the top bar: chats and facts as sheets on a narrow screen, and the menu. */
  top() {
    const more = button("", {
      icon: "more",
      kind: "ghost only",
      "aria-label": "More for this chat",
    });
    const after = () => this.reload();
    const rename = () => renameHere(this.state.chat, here, more, after);
    const about = { project: slug, sessionId: id, name: here.textContent };
    menu(more, () =>
      items(this.state.chat ?? about, {
        renamed: rename,
        after,
        gone: (away) => (away ? location.assign(`/projects/${slug}/chats`) : location.reload()),
      }),
    );
    const chats = button("Chats", { icon: "menu", kind: "ghost chats-open acting" });
    const facts = button("About", { icon: "info", kind: "ghost about acting" });
    chats.addEventListener("click", () => sheet("Chats", nav));
    facts.addEventListener("click", () => sheet("About this chat", side));
    const badge = h("span", { class: "badge line", id: "archived", hidden: true }, "Archived");
    document
      .getElementById("palette")
      .before(h("div", { class: "line acts", id: "acts" }, badge, chats, facts, more));
    key("r", "Rename this chat", () => this.state.chat && rename());
    action("Rename this chat", rename, { icon: "pencil", key: "r" });
    action("Fork this chat", () => attempt(null, () => forkOf(this.state.chat)), { icon: "fork" });
  }

  keys() {
    const scroller = lines.parentElement;
    const press = (selector) => () => {
      const node = document.querySelector(selector);
      node?.click();
      return node !== null;
    };
    key("a", "Allow what is asked, once", press(".ask .primary"));
    key("c", "Allow what is asked, in this chat", press(".ask .always"));
    key("d", "Deny what is asked", press(".ask .danger"));
    key("w", "Write a message", () => this.write.focus());
    key("Ctrl+Enter", "Send what is written");
    key("s", "Stop the running turn", () => !this.stop.hidden && this.stop.click());
    key(["[", "]"], "The turn before, the turn after", (event) =>
      this.turn(event.key === "]" ? 1 : -1),
    );
    key(["G", "End"], "To the end", () => this.toEnd());
    key("Home", "To the first message that is shown", () => scroller.scrollTo({ top: -1e9 }));
    scroller.addEventListener(
      "scroll",
      () => {
        this.latest.hidden = scroller.scrollTop > -400;
        if (this.latest.hidden) this.latest.classList.remove("news");
      },
      { passive: true },
    );
    addEventListener("visibilitychange", () => this.seen());
    addEventListener("hashchange", () => this.jump());
  }

  toEnd() {
    lines.parentElement.scrollTo({ top: 0 });
    this.latest.hidden = true;
  }

  /** Bring the question of the next turn to the top of what is seen. */
  turn(by) {
    const top = lines.parentElement.getBoundingClientRect().top;
    const turns = [...lines.querySelectorAll(".turn-block")];
    const at = (node) => node.getBoundingClientRect().top - top;
    const next =
      by > 0 ? turns.find((node) => at(node) > 24) : turns.reverse().find((node) => at(node) < -4);
    next?.scrollIntoView({ block: "start" });
  }

  /** The message that the address names, as a search gives it. */
  async jump() {
    const [, offset] = /^#m(\d+)$/.exec(location.hash) ?? [];
    if (!offset) return;
    const node = await this.transcript.reach(Number(offset));
    if (!node) {
      toast("That message is no longer in this chat.", { bad: true });
      return;
    }
    for (let up = node; up && up !== lines; up = up.parentElement)
      if (up.tagName === "DETAILS") up.open = true;
    node.scrollIntoView({ block: "center" });
    node.classList.add("found");
  }

  /** Tell that a person saw it, when one looks. */
  async seen() {
    const offset = Math.max(0, ...this.transcript.seen);
    if (document.hidden || offset <= this.state.read) return;
    this.state.read = offset;
    await call("POST", `${route}/read`, { offset }).catch(() => {}); // the next turn tells it again
  }

  say(words) {
    this.status.textContent = words;
  }

  gone() {
    fill(
      dock,
      h(
        "div",
        { class: "banner warn", role: "alert" },
        icon("trash"),
        h("div", {}, "This chat is deleted."),
        button("Restore", {
          onclick: (event) =>
            attempt(event, async () => {
              await post(`${route}/restore`);
              location.reload();
            }),
        }),
      ),
    );
  }
}

/** Out of a field; a search lets go of its words; from the page into the list. */
function leave({ target }) {
  if (target === list.search && target.value) {
    target.value = "";
    list.refresh();
  }
  if (target.matches("input, textarea, select")) target.blur();
  else list.step(0);
}

if (id) new ChatPage().open().catch((error) => fill(lines, problem(error.message)));
else newChat();
onChange(list.refresh);
key(
  ["j", "k"],
  "The next chat, the chat before",
  (event) => list.step(event.key === "j" ? 1 : -1),
  {
    group: "Chats",
  },
);
key("/", "Search chats", () => list.search.focus(), { group: "Chats" });
key("Escape", "Leave the field; else to the list", leave, { group: "Chats", typing: true });
key("n", "New chat", () => location.assign(`/projects/${slug}/chats`), { group: "Chats" });
