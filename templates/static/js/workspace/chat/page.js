// One chat: its history from the API, then its event stream, which resumes exactly where it
// stopped, also when the user comes back to the chat.

import { call, get, P, patch, post, query, remove } from "../../kit/api.js";
import { button, fill, h, visible } from "../../kit/dom.js";
import { sheet } from "../../kit/dialog.js";
import { key } from "../../kit/keys.js";
import { menu } from "../../kit/menu.js";
import { soon } from "../../kit/pace.js";
import { action } from "../../kit/palette.js";
import { late } from "../../kit/skeleton.js";
import { follow } from "../../kit/stream.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { answer, keepWaiting } from "../asks.js";
import { composer } from "../composer.js";
import { looking } from "../notify/looking.js";
import { deletedBanner, exportOf, forkOf, items, renameHere } from "./actions.js";
import { drawFacts } from "./facts.js";
import { modeChoice } from "./mode.js";
import { here, mostOf, place } from "./place.js";
import { queue } from "./queue.js";
import { Transcript } from "./transcript.js";
import { Edits } from "./undo.js";
import { Worktree } from "./worktree.js";

const GO_ON = "The plan is approved. Go on with it.";

export class ChatPage {
  over = false; // whether the chat is deleted
  /** @type {any} */
  read = null; // the reading place when the user left
  life = AbortSignal.abort(); // aborts when the user goes to another page

  /** `list`: the list of chats; `name`: shown until the chat is read. */
  constructor(list, slug, id, name) {
    const route = P(slug, "chats", id);
    this.list = list;
    this.slug = slug;
    this.id = id;
    this.name = name;
    this.route = route;
    this.place = place();
    const { dock, lines, scroller } = this.place;
    this.state = { running: false, queued: 0, rows: [], asks: [], chat: null, read: 0, most: "" };
    this.rests = []; // resolvers that wait until no turn runs
    this.transcript = new Transcript(lines, {
      project: slug,
      page: (asked) => get(query(`${route}/messages`, { ...asked, turns: 1 })),
      answer: (asked, said) => answer(this.about(asked), said).then(() => this.reload()),
      most: () => this.state.most,
      goOn: (event, mode) => attempt(event, () => this.goOn(mode)),
      again: (turn) => this.idle().then(() => post(`${route}/turns/${turn}/again`)),
      edit: (prompt) => this.write.write(prompt),
      retry: () => post(`${route}/retry`),
      fork: (turn) => forkOf({ project: slug, sessionId: id }, turn),
      edits: (turn) => this.edits.of(turn),
      asked: ({ tool }) => this.say(`${tool} asks to run. A allows it once, D denies it.`),
    });
    this.mode = modeChoice((event, mode) => attempt(event, () => this.setMode(mode)));
    this.edits = new Edits(route, () => this.transcript.drawEdits());
    this.tree = new Worktree(route);
    this.write = composer({
      key: id,
      project: slug,
      send: (message, options) => post(`${route}/messages`, message, options),
    });
    this.waiting = queue(slug, id, {
      edit: (prompt) => this.write.write(prompt),
    });
    this.stop = button("Stop", {
      icon: "stop",
      onclick: (event) => attempt(event, () => post(`${route}/stop`)),
    });
    this.status = h("p", { class: "sr", role: "status" });
    this.deleted = deletedBanner(this.about(), () => this.showRestored());
    this.archived = h("span", { class: "badge line", id: "archived", hidden: true }, "Archived");
    this.latest = button("Latest", {
      icon: "down",
      kind: "s latest",
      hidden: true,
      onclick: () => this.toEnd(),
    });
    this.write.actions.append(this.mode.node, this.stop);
    fill(dock, this.latest, this.status, ...this.waiting.nodes, this.tree.banner, this.write.node);
    this.acts = this.top();
    scroller.addEventListener("scroll", () => this.onScroll(), { passive: true });
  }

  /** Show what is known at once; read the facts again, and continue the stream. */
  async show(life, { back }) {
    const known = this.state.chat !== null;
    this.life = life;
    this.put(back ? this.read : null);
    this.keys();
    const rest = known ? () => {} : late(this.transcript.top, "text");
    if (known) this.write.refresh();
    const most = mostOf(this.slug).then(
      (allowed) => (this.state.most = allowed),
      () => {},
    );
    const facts = this.reload(most); // first: they decide the height of the dock below the lines
    const placed = soon(Promise.all([facts, this.write.ready]));
    this.opened ??= this.transcript.open(placed).catch((error) => this.failOpening(error));
    await Promise.all([this.opened, facts]).finally(rest);
    if (life.aborted) return;
    this.follow();
    this.look();
    this.reportRead();
    if (!back || !known) await this.jump();
  }

  /** After an error: request the first page of messages again the next time. */
  failOpening(error) {
    this.opened = null;
    throw error;
  }

  /** Put the chat into the page until the life of this visit ends; `read`: the reading place. */
  put(read) {
    this.list.at(this.id);
    this.place.put({ facts: true });
    document.getElementById("palette").before(this.acts);
    if (this.state.chat) this.place.stand(read); // a chat shown for the first time is at its end
    this.draw();
    looking(this.slug, this.id, this.life);
    this.keep = keepWaiting(
      () => this.state.asks.map(({ call: asked }) => this.about(asked)),
      (asked, until) => this.setDeadline(asked, until),
      this.life,
    );
    this.life.addEventListener("abort", () => {
      document.querySelector(".crumbs input")?.blur(); // saves a new name
      this.read = this.place.reading();
      this.state.asks = []; // the stream sends the open questions again
      this.acts.remove();
    });
  }

  follow() {
    const { route } = this;
    const handlers = {
      open: () => {
        this.transcript.restart();
        this.showRestored();
      },
      line: (data) => this.line(data),
      delta: (data) => this.transcript.delta(data),
      thinking: (data) => this.transcript.thinking(data),
      calls: (data) => this.transcript.calls(data),
      state: (data) => {
        const known = new Set(this.state.asks.map((one) => one.call));
        Object.assign(this.state, data);
        for (const one of data.asks) this.setDeadline(one.call, one.until);
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
      deleted: () => this.showDeleted(),
      gone: () => this.showDeleted(),
      restored: () => this.showRestored(),
    };
    const after = String(Math.max(0, ...this.transcript.seen));
    follow(`${route}/events`, handlers, { after, signal: this.life });
    const onChatEvent = ({ sessionId }) => sessionId === this.id && this.reload().catch(() => {});
    follow("/api/events", { chat: onChatEvent }, { signal: this.life });
  }

  /** The chat, or its name and ids until it is read. */
  knownChat() {
    return this.state.chat ?? { project: this.slug, sessionId: this.id, name: this.name };
  }

  about(asked = undefined) {
    return { project: this.slug, sessionId: this.id, call: asked };
  }

  /** Update the time at which a question is denied. */
  setDeadline(asked, until) {
    const node = this.place.lines.querySelector(
      `.ask[data-call="${CSS.escape(asked)}"] [data-until]`,
    );
    if (node) node.dataset.until = until;
  }

  async setMode(mode) {
    await patch(this.route, { permissionMode: mode }).finally(() => this.reload());
  }

  /** Approve the plan: the next turn carries it out. */
  async goOn(mode) {
    await patch(this.route, { permissionMode: mode });
    await post(`${this.route}/messages`, { prompt: GO_ON });
    await this.reload();
  }

  async revoke(rule) {
    await remove(query(`${this.route}/allow`, { rule }));
    await this.reload();
  }

  /** Read the edits of the turns, which are known once the turns are settled. */
  look() {
    this.edits.load().catch(() => {}); // the next turn asks again
  }

  /** Wait until no turn runs: a message sent before a failed turn is settled would be held. */
  idle() {
    return this.state.running ? new Promise((go) => this.rests.push(go)) : Promise.resolve();
  }

  line(data) {
    this.transcript.line(data);
    if (data.toolCall?.name === "TodoWrite") this.draw();
    if (data.type === "turn")
      this.reload().then(
        () => this.reportRead(),
        () => {},
      ); // the connection bar says it
    this.latest.classList.toggle("news", !this.latest.hidden);
  }

  /** Read the chat again and draw it. `beside`: a promise to await before drawing. */
  async reload(/** @type {Promise<unknown> | undefined} */ beside = undefined) {
    const [{ chat, queue: rows }] = await Promise.all([get(this.route), beside]);
    Object.assign(this.state, { chat, rows });
    this.name = chat.name;
    this.tree.load(chat).catch(() => {}); // the next turn asks again
    this.draw();
  }

  draw() {
    if (this.life.aborted) return; // drawn when the user comes back
    const { running, queued, waiting, rows, chat } = this.state;
    const { lines, side, title } = this.place;
    const asked = lines.querySelector(".ask") !== null;
    const ahead = (running ? 1 : 0) + queued;
    this.stop.hidden = !running;
    this.waiting.draw(rows);
    this.write.label(ahead ? "Queue" : "Send");
    this.write.placeholder(
      ahead ? `Write a message. ${plural(ahead, "turn")} will run before it.` : "Write a message.",
    );
    const now = asked ? "Asks: " : waiting ? "Waits: " : running ? "Runs: " : "";
    here.textContent = title.textContent = visible(this.name);
    document.title = `${now}${visible(this.name)} · Workspace`;
    if (!chat) return;
    this.archived.hidden = !chat.archived;
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
    const rename = () => renameHere(this.knownChat(), here, more, after);
    const chats = `/projects/${this.slug}/chats`;
    menu(more, () =>
      items(this.knownChat(), {
        renamed: rename,
        after,
        gone: (away) => location.assign(away ? chats : `${chats}/${this.id}`),
      }),
    );
    const all = button("Chats", { icon: "menu", kind: "ghost chats-open acting" });
    const facts = button("About", { icon: "info", kind: "ghost about acting" });
    all.addEventListener("click", () => sheet("Chats", document.getElementById("chats")));
    facts.addEventListener("click", () => sheet("About this chat", this.place.side));
    this.rename = rename;
    return h("div", { class: "line acts", id: "acts" }, this.archived, all, facts, more);
  }

  keys() {
    const { scroller } = this.place;
    const here = { signal: this.life };
    const press = (selector) => () => {
      const node = document.querySelector(selector);
      node?.click();
      return node !== null;
    };
    const rename = () => this.rename();
    const fork = () => attempt(null, () => forkOf(this.knownChat()));
    const turn = (event) => this.turn(event.key === "]" ? 1 : -1);
    key("r", "Rename this chat", rename, here);
    action("Rename this chat", rename, { icon: "pencil", key: "r", ...here });
    key("f", "Fork this chat", fork, here);
    action("Fork this chat", fork, { icon: "fork", key: "f", ...here });
    key("a", "Allow what is asked, once", press(".ask .primary"), here);
    key("c", "Allow what is asked, in this chat", press(".ask .always"), here);
    key("d", "Deny what is asked", press(".ask .danger"), here);
    key("x", "Run the last turn again, which did not end well", press(".outcome .again"), here);
    key("y", "Go on with the plan", press(".planned .primary"), here);
    key("w", "Write a message", () => this.write.focus(), here);
    key("Ctrl+Enter", "Send what is written", undefined, here);
    key("s", "Stop the running turn", () => !this.stop.hidden && this.stop.click(), here);
    key(["[", "]"], "The turn before, the turn after", turn, here);
    key(["G", "End"], "To the end", () => this.toEnd(), here);
    const first = () => scroller.scrollTo({ top: -1e9 });
    key("Home", "To the first message that is shown", first, here);
    addEventListener("visibilitychange", () => this.reportRead(), here);
    addEventListener("hashchange", () => this.jump(), here);
  }

  onScroll() {
    this.latest.hidden = this.place.scroller.scrollTop > -400;
    if (this.latest.hidden) this.latest.classList.remove("news");
  }

  toEnd() {
    this.place.scroller.scrollTo({ top: 0 });
    this.latest.hidden = true;
  }

  /** Scroll the message of the next turn (`by` > 0) or of the previous one to the top. */
  turn(by) {
    const { lines, scroller } = this.place;
    const top = scroller.getBoundingClientRect().top;
    const turns = [...lines.querySelectorAll(".turn-block")];
    const at = (node) => node.getBoundingClientRect().top - top;
    const next =
      by > 0 ? turns.find((node) => at(node) > 24) : turns.reverse().find((node) => at(node) < -4);
    next?.scrollIntoView({ block: "start" });
  }

  /** Go to the message that the URL names, as a search hit does. */
  async jump() {
    const [, offset] = /^#m(\d+)$/.exec(location.hash) ?? [];
    if (!offset) return;
    const node = await this.transcript.reach(Number(offset));
    if (!node) {
      toast("That message is no longer in this chat.", { bad: true });
      return;
    }
    for (let up = node; up && up !== this.place.lines; up = up.parentElement)
      if (up.tagName === "DETAILS") up.open = true;
    node.scrollIntoView({ block: "center" });
    node.classList.add("found");
  }

  /** Report the chat as read up to here, if the page is visible. */
  async reportRead() {
    const offset = Math.max(0, ...this.transcript.seen);
    if (document.hidden || offset <= this.state.read) return;
    this.state.read = offset;
    await call("POST", `${this.route}/read`, { offset }).catch(() => {}); // sent with the next turn
  }

  say(words) {
    this.status.textContent = words;
  }

  /** Say that the chat is deleted, above the message box, whose text and focus stay. */
  showDeleted() {
    this.over = true;
    if (!this.deleted.isConnected) this.place.dock.prepend(this.deleted);
  }

  /** The chat is back, also when another window restored it. */
  showRestored() {
    if (!this.over) return;
    this.over = false;
    this.deleted.remove();
    this.reload().catch(() => {}); // the connection bar says it
  }
}
