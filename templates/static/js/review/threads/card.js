// A thread as a card: its state, the text it was written on, its comments, the reply.
//
// Of many threads only those near the viewport are whole. The others show only their comments, with
// space reserved for the rest: the browser's search finds them, Tab reaches them, and nothing moves
// when the rest is added. Once whole, a card stays whole, with the text typed into it.

import { button, fill, h, icon, keep, refill, visible } from "../../kit/dom.js";
import { draftOf, draftsUnder } from "../../kit/drafts.js";
import { typesInto } from "../../kit/keys.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { relative } from "../../kit/words.js";
import { commentNode, completeComment, isEdited, tellDeleted, writtenNode } from "./comment.js";
import { Composer } from "./composer.js";
import { mark, onPage } from "./places.js";
import { chatPage } from "../ask.js";
import { state as page, worktree } from "../state.js";
import { asMarkdown, askAbout, draftReply, reply, resolve } from "./review.js";
import { Since } from "./since.js";
import { appliable, textOf } from "./suggest.js";
import { address, comments, standing, state, quoteCaption } from "./words.js";

const REPLY = "reply ";
const replyName = (id) => REPLY + id;
const LIGHTS = { pointerenter: true, focusin: true, pointerleave: false, focusout: false };
const LIT = ":hover, :focus-within";
const keyHint = (letter) => h("span", { class: "kbd phone-hide" }, letter);

/** The state of an unresolved thread: whose turn it is, and the chat that was asked. */
function standingOf({ state: is, outdated, asked, proposed }) {
  if (is === "open") return outdated ? [] : [icon("say"), h("span", { class: "strong" }, "Open")];
  const word = is === "asked" ? "Asked" : "Answered";
  const chat = asked?.chat && asked.project && chatPage(asked.project, asked.chat);
  return [
    icon(is === "asked" ? "clock" : "carry"),
    h("span", { class: "strong" }, word),
    chat && h("a", { class: "link", href: chat }, "the chat"),
    is === "answered" && proposed && h("span", {}, `${proposed.by} thinks it is done`),
  ];
}

/** The ids of threads with an unsent reply. */
export const unsent = () =>
  draftsUnder(REPLY)
    .filter((name) => draftOf(name))
    .map((name) => name.slice(REPLY.length));

export class Card {
  whole = false;
  section = null;
  shown = []; // the comments, as drawn

  /** `ready(card)` is called once its node is made, which is on first access. */
  constructor(thread, ready) {
    this.id = thread.id;
    this.thread = thread;
    this.ready = ready;
  }

  get node() {
    if (!this.section) {
      this.begin();
      this.ready(this);
    }
    return this.section;
  }

  begin() {
    const { thread } = this;
    this.folded = thread.resolved && !draftOf(replyName(thread.id));
    this.was = h("div");
    this.list = h("div", { class: "comments" });
    this.section = h(
      "section",
      { class: "thread later", id: `thread-${thread.id}`, tabindex: "0" },
      this.was,
      this.list,
    );
    for (const [name, on] of Object.entries(LIGHTS))
      this.node.addEventListener(name, () => mark(this.thread, on || this.node.matches(LIT)));
    this.draw();
  }

  /** Add the missing parts around the comments, which are not redrawn. */
  complete() {
    if (this.whole) return;
    this.whole = true;
    this.parts();
    this.node.prepend(this.header());
    this.node.append(this.since.node, this.answer.node);
    for (const node of this.list.children) {
      const comment = this.thread.comments.find(({ id }) => String(id) === node.dataset.key);
      if (comment) completeComment(node, this.id, comment);
    }
    this.node.classList.remove("later");
    this.node.tabIndex = -1;
    this.tell(this.thread);
    this.show();
  }

  parts() {
    this.badge = h("span", { class: "badge line" }, icon("clock"), "Outdated");
    this.mark = h("span", { class: "line" });
    this.where = h("span", { class: "where" });
    this.fold = button("", { icon: "down", kind: "ghost s only fold", onclick: () => this.turn() });
    this.copy = button("Copy", {
      icon: "copy",
      kind: "ghost s",
      title: "Copy the thread as Markdown",
      onclick: (event) =>
        attempt(event, async () => copy(await asMarkdown({ thread: this.id }), "Thread copied.")),
    });
    this.asks = button("Ask", {
      icon: "send",
      kind: "ghost s",
      title: "Ask an agent to work on this thread",
      onclick: (event) => this.ask(event),
    });
    this.since = new Since(page);
    this.settle = button("", { kind: "s", onclick: () => this.toggle() });
    this.answer = new Composer({
      name: replyName(this.id),
      label: "Reply",
      placeholder: "Reply, Markdown works",
      verb: "Reply",
      small: true,
      lines: () => {
        const { line, start_line: start } = this.thread;
        return textOf({ ...this.thread, start: start ?? line });
      },
      send: (text) => reply(this.id, text),
      keep: worktree ? null : (text) => draftReply(this.id, text),
      leave: () => this.node.focus({ preventScroll: true }),
    });
  }

  header() {
    const tools = h("span", { class: "push line" }, this.asks, this.copy, this.settle);
    return h("header", {}, this.fold, this.badge, this.mark, this.where, tools);
  }

  /**
   * Redraw the card from the current `thread`. Only differences are touched, so that the caret, a
   * selection and open boxes stay.
   */
  draw() {
    if (!this.section) return;
    const { thread } = this;
    const said = JSON.stringify(thread);
    if (said === this.said) return;
    this.said = said;
    this.node.classList.toggle("outdated", thread.outdated);
    this.node.classList.toggle("resolved", thread.resolved);
    this.node.classList.toggle("done", !appliable(thread));
    const where = this.placeWords(thread);
    this.node.setAttribute("aria-label", visible(`Thread, ${state(thread)}: ${where}`));
    fill(this.was, this.quote(thread));
    if (this.whole) this.tell(thread);
    keep(
      this.list,
      this.comments(),
      (one) => one.id,
      (one) => (this.whole ? commentNode : writtenNode)(thread.id, one),
    );
    this.show();
  }

  /** The comments, and those deleted elsewhere while the user edits them. */
  comments() {
    const { comments } = this.thread;
    const here = new Set(comments.map(({ id }) => id));
    const edited = this.shown.filter(({ id }) => !here.has(id) && isEdited(id));
    edited.forEach(tellDeleted);
    this.shown = [...comments, ...edited];
    return this.shown;
  }

  /** Redraw the head, and the changes since the agent was asked. */
  tell(thread) {
    this.badge.hidden = !thread.outdated;
    fill(this.mark, ...this.stateWords(thread));
    fill(
      this.where,
      onPage(thread.path) || !thread.line ? standing(thread) : this.placeWords(thread),
    );
    refill(
      this.settle,
      icon(thread.resolved ? "restart" : "check"),
      thread.resolved ? "Reopen " : "Resolve ",
      keyHint("E"),
    );
    this.asks.lastChild.textContent = thread.asked ? "Ask again" : "Ask";
    this.asks.hidden = thread.resolved;
    this.since.show(thread);
  }

  placeWords(thread) {
    return thread.line ? `${standing(thread)}, ${thread.path}` : standing(thread);
  }

  stateWords(thread) {
    const { resolved, resolved_by_name: by, resolved_at: at } = thread;
    if (!resolved) return standingOf(thread);
    const who = [by && `by ${by}`, at && relative(at)].filter(Boolean).join(", ");
    return [icon("check"), h("span", { class: "strong" }, "Resolved"), who];
  }

  /** A quote of the lines the thread is about, when the page does not show them at its place. */
  quote(thread) {
    const away = thread.outdated || !thread.line || !onPage(thread.path);
    if (!away || !thread.anchor_text) return null;
    return h(
      "figure",
      { class: "was" },
      h("figcaption", {}, quoteCaption(thread)),
      h("pre", {}, thread.anchor_text),
    );
  }

  turn(folded = !this.folded) {
    this.folded = folded;
    this.show();
  }

  show() {
    const { folded, thread } = this;
    this.node.classList.toggle("folded", folded);
    for (const part of [this.was, this.list]) part.hidden = folded;
    if (!this.whole) return;
    this.fold.hidden = !thread.resolved && !folded;
    fill(this.fold, icon(folded ? "right" : "down"));
    this.fold.setAttribute("aria-expanded", String(!folded));
    const what = `${comments(thread.comments.length)} on ${address(thread)}`;
    this.fold.setAttribute("aria-label", visible(`${folded ? "Show" : "Hide"} ${what}`));
    this.answer.node.hidden = folded;
    this.since.node.classList.toggle("folded", folded);
  }

  /** Resolve or reopen; a thread folds when its reader resolves it, never by itself. */
  toggle() {
    const resolved = !this.thread.resolved;
    const typed = this.answer.text.trim() !== "";
    resolve(this.id, resolved);
    this.turn(resolved && !typed);
  }

  ask(event = null) {
    if (!this.thread.resolved) return askAbout({ thread: this.id }, event);
    toast("This thread is resolved: e opens it again.");
    return null;
  }

  /** Whether there is an unsent reply or edit, or a field has the focus: its keys are text. */
  get writing() {
    if (this.answer?.text.trim() || this.shown.some(({ id }) => isEdited(id))) return true;
    const active = document.activeElement;
    return typesInto(active) && Boolean(this.section?.contains(active));
  }

  /** Mark the thread as gone from here while the user was writing in it: the text stays. */
  markDeleted() {
    this.node.classList.add("gone");
    this.settle.disabled = this.copy.disabled = true;
    const word = worktree ? "Taken over by a commit, or deleted" : "Deleted";
    fill(this.mark, icon("trash"), h("span", { class: "strong" }, word));
  }

  replyTo() {
    this.turn(false);
    this.answer.focus();
  }
}
