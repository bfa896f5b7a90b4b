// The Logs tab: the last lines of a service, followed and searched; scrolling up loads older ones.

import { get } from "../../kit/api.js";
import { button, fill, h, icon, settle } from "../../kit/dom.js";
import { key } from "../../kit/keys.js";
import { empty, problem } from "../../kit/parts.js";
import { late } from "../../kit/skeleton.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { withCommas, plural } from "../../kit/words.js";
import { route } from "../route.js";
import { Reader } from "./lines.js";
import { Screen } from "./screen.js";
import { store, storedValue } from "../../kit/stored.js";

const FIRST = 200; // lines
const OLDER = 1000;
const MOST = 5000; // lines in one answer at most
const KEPT = 100_000; // lines kept on the page; older ones are fetched again when needed
const EVERY_MS = 1000;
const BEHIND = 3; // full answers in a row after which only the end is loaded
const WRAP = "svc.dashboard.wrap";

export class Logs {
  told = null;
  timer = 0;
  on = false;
  ended = false;

  constructor(app, { configure }) {
    this.app = app;
    this.configure = configure;
    this.box = h("div", {
      class: "logs wrapped",
      tabindex: "0",
      role: "region",
      "aria-label": `Log of ${app.name}`,
    });
    this.screen = new Screen(this.box, (atEnd, atTop) => this.onScroll(atEnd, atTop));
    this.notice = h("div", { class: "lognotice" });
    this.news = button("", {
      icon: "down",
      kind: "s news",
      hidden: true,
      onclick: () => this.toEnd(),
    });
    this.node = h(
      "div",
      { class: "in" },
      this.bar(),
      this.notice,
      h("div", { class: "logframe" }, this.box, this.news),
    );
    this.keys = [
      key("f", "Find in the log", () => this.find.focus(), {
        group: "Drawer",
        when: () => this.on && !this.bare,
      }),
    ];
    this.forget();
  }

  forget() {
    this.from = 0;
    this.bytes = 0;
    this.older = false;
    this.unread = 0;
    this.full = 0;
    this.loaded = false;
    this.reader = new Reader();
    this.busy = false;
    this.bare = true;
  }

  bar() {
    const wrap = storedValue(WRAP) !== "no";
    this.find = h("input", {
      class: "input",
      type: "search",
      "aria-label": "Find in the log",
      autocomplete: "off",
      spellcheck: "false",
      oninput: settle(120, () => this.search()),
      onkeydown: (event) => this.onFindKey(event),
    });
    this.said = h("span", { class: "tiny quiet", role: "status" });
    const step = (by, shape, label) =>
      button("", {
        icon: shape,
        kind: "ghost s only",
        "aria-label": label,
        onclick: () => this.go(by),
      });
    this.steps = h(
      "span",
      { class: "line steps", hidden: true },
      this.said,
      step(-1, "up", "Previous hit"),
      step(1, "down", "Next hit"),
    );
    this.follow = h("input", {
      type: "checkbox",
      checked: true,
      onchange: () => this.onFollowChange(),
    });
    this.wrap = h("input", {
      type: "checkbox",
      checked: wrap,
      onchange: () => this.onWrapChange(),
    });
    this.box.classList.toggle("wrapped", wrap);
    return h(
      "div",
      { class: "logbar" },
      h("span", { class: "finder" }, this.find, this.steps),
      h("label", { class: "tick push" }, this.follow, "Follow"),
      h("label", { class: "tick" }, this.wrap, "Wrap"),
      button("", {
        icon: "copy",
        kind: "ghost only",
        "aria-label": "Copy these lines",
        onclick: (event) => attempt(event, () => this.copyLines()),
      }),
      button("", {
        icon: "download",
        kind: "ghost only",
        "aria-label": "Download the whole log",
        onclick: (event) => attempt(event, () => this.download()),
      }),
    );
  }

  // shown, hidden, updated

  /** @param {import("./drawer.js").Log} [log] */
  async show({ lines, why } = {}) {
    this.on = true;
    if (lines) this.told = { lines, why };
    if (!this.loaded) await this.load();
    else this.screen.relaid(() => {});
    if (this.told) this.tell();
    this.next(EVERY_MS);
  }

  hide() {
    this.on = false;
    clearTimeout(this.timer);
  }

  update(app) {
    const managed = Boolean(app.service) !== Boolean(this.app.service);
    this.app = app;
    if (managed && this.on) this.load();
  }

  end() {
    this.ended = true;
    this.hide();
    this.screen.end();
    for (const takeBack of this.keys) takeBack();
  }

  // reading

  ask(query) {
    return get(`${route("apps", this.app.slug, "logs")}?${new URLSearchParams(query)}`);
  }

  async load() {
    this.forget();
    this.screen.clear();
    if (this.app.service) await this.begin();
    else fill(this.notice, this.unmanagedNotice());
    this.node.classList.toggle("bare", this.bare);
    this.count();
  }

  async begin() {
    const stop = late(this.notice, "text");
    try {
      const tail = await this.ask({ lines: FIRST });
      if (this.ended) return;
      this.from = tail.from;
      this.older = tail.truncated;
      this.loaded = true;
      fill(this.notice);
      this.take(tail);
    } catch (error) {
      fill(
        this.notice,
        error.code === "not_managed" ? this.unmanagedNotice() : this.failureNotice(error),
      );
    }
    stop();
  }

  take({ lines, partial, from, bytes }) {
    this.bytes = bytes;
    this.bare &&= !lines.length && !partial;
    const fresh = lines.map((line) => this.reader.read(line));
    if (fresh.length) this.screen.append([{ ...fresh[0], from }, ...fresh.slice(1)]);
    this.screen.partial(partial ? this.reader.glance(partial) : null);
    if (this.loaded && this.bare)
      fill(this.notice, empty("It has written nothing yet. What it prints appears here."));
    else if (lines.length && this.notice.querySelector(".nothing")) fill(this.notice);
    this.node.classList.toggle("bare", this.bare);
    const start = this.screen.stuck ? this.screen.trim(KEPT) : undefined;
    if (start !== undefined) {
      this.from = start;
      this.older = true;
    }
  }

  unmanagedNotice() {
    const words =
      "No log: this app is not started from here. Give it a service with its command, then start it here.";
    return empty(
      words,
      button("Open Config", { icon: "pencil", kind: "s", onclick: this.configure }),
    );
  }

  failureNotice(error) {
    const again = button("Try again", { kind: "s", onclick: () => this.load() });
    return [problem(error.message), again];
  }

  next(after) {
    clearTimeout(this.timer);
    if (this.on && this.follow.checked && this.loaded)
      this.timer = setTimeout(() => this.poll(), after);
  }

  async poll() {
    if (document.hidden || (!this.screen.stuck && this.screen.count > KEPT)) {
      this.next(EVERY_MS);
      return;
    }
    try {
      const tail = await this.ask({ lines: MOST, after: this.bytes });
      if (this.ended) return;
      await this.newer(tail);
    } catch (error) {
      if (error.code === "not_managed") await this.load();
    }
    this.next(this.full ? 0 : EVERY_MS);
  }

  /** Take the lines since the last answer; reload the end of a log that restarted or is fast. */
  async newer(tail) {
    if (tail.bytes < this.bytes || (tail.truncated && tail.from > this.bytes)) {
      await this.load();
      return;
    }
    this.full = tail.lines.length === MOST ? this.full + 1 : 0;
    if (this.full > BEHIND && this.screen.stuck) {
      await this.load();
      return;
    }
    if (!this.screen.stuck) this.unread += tail.lines.length;
    this.take(tail);
    if (tail.lines.length) this.count();
  }

  async more() {
    if (!this.older || this.busy) return;
    this.busy = true;
    try {
      const tail = await this.ask({ lines: OLDER, before: this.from });
      if (this.ended) return;
      const reader = new Reader();
      this.from = tail.from;
      this.older = tail.truncated;
      if (tail.lines.length) this.screen.prepend(tail.lines.map((line) => reader.read(line)));
      this.count();
    } catch (error) {
      toast(error.message, { bad: true });
    }
    this.busy = false;
  }

  // scrolling

  onScroll(atEnd, atTop) {
    if (atEnd) this.unread = 0;
    if (atTop && this.loaded) this.more();
    this.count();
  }

  toEnd() {
    this.unread = 0;
    this.screen.toEnd();
    this.count();
    this.box.focus({ preventScroll: true });
  }

  count() {
    this.find.placeholder = `Find in ${plural(this.screen.count, "line")}`;
    this.news.hidden = this.screen.stuck || this.bare;
    const words = this.unread ? plural(this.unread, "new line") : "To the end";
    if (this.news.lastChild.textContent !== words) this.news.lastChild.textContent = words;
    if (this.screen.query) this.hits();
  }

  onFollowChange() {
    if (this.follow.checked) this.toEnd();
    this.next(0);
  }

  onWrapChange() {
    store(WRAP, this.wrap.checked ? "yes" : "no");
    this.screen.relaid(() => this.box.classList.toggle("wrapped", this.wrap.checked));
  }

  // finding

  onFindKey(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      this.search().then(() => this.go(event.shiftKey ? -1 : 1));
    } else if (event.key === "Escape" && this.find.value) {
      event.preventDefault();
      event.stopPropagation();
      this.find.value = "";
      this.search();
    }
  }

  async search() {
    const query = this.find.value;
    if (query.toLowerCase() === this.screen.query) return;
    this.number = 0;
    this.steps.hidden = !query;
    if (!(await this.screen.search(query))) return;
    if (query) this.go(-1);
    this.hits();
  }

  go(step) {
    this.number = this.screen.go(step);
    this.hits();
    this.count();
  }

  hits() {
    const { total, more } = this.screen.tally;
    if (more) this.said.textContent = `${withCommas(total)}+`;
    else this.said.textContent = total ? `${this.number || "–"} of ${total}` : "None";
  }

  // the lines of an action, copies

  /** Show the lines that an action returned: marked in the log if they are in it, else above it. */
  tell() {
    const { lines, why } = this.told;
    this.told = null;
    const reader = new Reader();
    const place = lines.length && this.screen.place(lines.map((line) => reader.read(line).text));
    const shown = place
      ? null
      : h("pre", { tabindex: "0", "aria-label": "Its last lines" }, lines.join("\n"));
    if (why)
      fill(
        this.notice,
        h(
          "div",
          { class: "banner bad", role: "alert" },
          icon("alert"),
          h("div", {}, why, lines.length ? shown : null),
        ),
      );
    if (!place) return;
    this.screen.show(place[0]);
    for (const { chunk, n } of place) chunk.node.children[n]?.classList.add("told");
  }

  async copyLines() {
    const chosen = getSelection();
    const inside = !chosen.isCollapsed && this.box.contains(chosen.anchorNode);
    const text = inside ? String(chosen) : this.screen.text();
    await copy(
      text,
      inside ? "Copied what is selected" : `Copied ${plural(this.screen.count, "line")}`,
    );
  }

  /** Download the whole log up to its present end: some services write faster than can be read. */
  async download() {
    const { bytes: end } = await this.ask({ lines: 1 });
    const parts = [];
    let after = 0;
    for (;;) {
      const { lines, partial, bytes } = await this.ask({ lines: MOST, after });
      if (lines.length) parts.push(`${lines.join("\n")}\n`);
      if (bytes >= end || bytes === after) {
        if (partial) parts.push(partial);
        break; // an answer of long lines may end before MOST, so that only `bytes` shows the end
      }
      after = bytes;
    }
    const url = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
    h("a", { href: url, download: `${this.app.slug}.log` }).click();
    setTimeout(() => URL.revokeObjectURL(url), EVERY_MS);
  }
}
