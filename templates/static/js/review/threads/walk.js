// Navigation between threads: the keys N and P, the list in the toolbar, URLs that end in
// #thread-…, hiding all threads, and the lists of outdated and answered ones.

import { button, fill, h, icon, refill } from "../../kit/dom.js";
import { key } from "../../kit/keys.js";
import { menu } from "../../kit/menu.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { goTo, selection } from "../diff/view.js";
import { namedBy, onNamed } from "../address.js";
import { state, worktree } from "../state.js";
import { write } from "./fresh.js";
import { following, fromTop, isAnswered } from "./order.js";
import { whole } from "./near.js";
import { Panel } from "./panel.js";
import { onPage } from "./places.js";
import { asMarkdown, askAbout } from "./review.js";
import { address, beginning, sideOf } from "./words.js";

export const COMMENT = `Comment on ${worktree ? "all that is not committed" : "the commit"}`;
const HERE = worktree ? "here" : "on this commit";
const HIDDEN = "threads-hidden"; // on <body>
const MOST = 30; // threads in the list of the toolbar

export class Walk {
  current = null;
  wanted = null;

  /** `cards` is the Map of id → Card, `general` the element above all files. */
  constructor(cards, general) {
    this.cards = cards;
    this.general = general;
    this.label = h("span");
    // Disabled until the threads are known: the menu is built once, when it opens.
    this.tools = button("", { kind: "ghost s", id: "threadlist", disabled: true });
    this.tools.append(icon("say"), this.label, icon("down"));
    this.tools.setAttribute("aria-label", "Threads: list"); // until the threads are known
    menu(this.tools, () => this.items());
    const go = (id) => this.go(id);
    this.outdated = new Panel({
      what: "outdated",
      wanted: ({ outdated }) => outdated,
      words: ({ comments }) => comments[0].body,
      go,
    });
    this.answered = new Panel({
      what: "answered",
      wanted: isAnswered,
      words: ({ comments }) => comments.at(-1).body,
      hint: "e resolves, A goes on, a asks again",
      go,
    });
    general.prepend(this.answered.node, this.outdated.node);
    document.addEventListener("focusin", (/** @type {any} */ { target }) => {
      const card = target.closest?.(".thread");
      if (card) this.current = card.id.replace("thread-", "");
    });
    onNamed((hash) => this.byHash(hash));
    this.keys();
  }

  keys() {
    const group = "Threads";
    key("N", "Next thread", () => this.step(1), { group });
    key("P", "Previous thread", () => this.step(-1), { group });
    key("r", "Reply", () => this.withCard((card) => card.replyTo()), { group });
    key("e", "Resolve or open again", () => this.withCard((card) => card.toggle()), { group });
    key("a", "Ask an agent", () => this.withCard((card) => card.ask()), { group });
    key("A", "Next answered thread", () => this.nextAnswered(), { group });
    key("h", "Hide or show threads", () => this.hide(), { group });
    key("o", "Outdated threads", () => this.listOutdated(), { group });
    key("Ctrl+Enter", "Send what you wrote", undefined, { group });
  }

  /** The threads in the order of the page, from the top. */
  get ordered() {
    const paths = (state.commit?.files ?? []).map(({ path }) => path);
    return fromTop(
      [...this.cards.values()].map(({ thread }) => thread),
      paths,
    );
  }

  step(by) {
    const all = this.ordered;
    if (!all.length) {
      toast(`No thread ${HERE} yet. c comments on a line.`);
      return;
    }
    const at = all.findIndex(({ id }) => id === this.current);
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
    this.go(all[next].id);
  }

  /** Show a thread at its place, and focus it. */
  async go(id) {
    const thread = this.cards.get(id)?.thread;
    if (!thread) return;
    this.hide(false);
    this.wanted = id;
    this.arrive();
    if (this.wanted && thread.path && onPage(thread.path))
      await goTo(thread.path, sideOf(thread), thread.line ?? 1);
    this.arrive();
  }

  /** Scroll to the wanted thread if it has been drawn. */
  arrive() {
    const card = this.wanted && this.cards.get(this.wanted);
    if (!card?.node.isConnected || !card.node.checkVisibility()) return;
    this.wanted = null;
    const { node } = whole(card);
    node.scrollIntoView({ block: "center" });
    node.focus({ preventScroll: true });
  }

  byHash(hash) {
    const id = /^thread-(.+)$/.exec(namedBy(hash))?.[1];
    if (id) this.go(id);
  }

  /** Reset until the threads of the next commit are known. */
  forget() {
    this.current = this.wanted = null;
    for (const { node } of [this.answered, this.outdated]) fill(node).hidden = true;
    document.body.classList.remove(HIDDEN);
    this.tools.disabled = true;
    this.say();
  }

  /** Call `act` for the thread with the focus, else on the chosen line, else visited last. */
  withCard(act) {
    const near = document.activeElement?.closest?.(".thread")?.id.replace("thread-", "");
    const at = selection();
    const here =
      at &&
      this.ordered.find(
        (one) => one.path === at.path && one.line === at.end && sideOf(one) === at.side,
      );
    const card = this.cards.get(near ?? here?.id ?? this.current);
    if (card) act(whole(card));
    else toast("Choose a thread first: N goes to the next one.");
  }

  hide(yes = !document.body.classList.contains(HIDDEN)) {
    if (yes === document.body.classList.contains(HIDDEN)) return;
    document.body.classList.toggle(HIDDEN, yes);
    this.say();
    if (yes) toast("Threads in files are hidden.", { action: "Show", act: () => this.hide(false) });
  }

  // -- lists -----------------------------------------------------------------------------------

  say() {
    const all = this.ordered;
    const open = all.filter(({ resolved }) => !resolved).length;
    const hidden = document.body.classList.contains(HIDDEN);
    const words = open ? plural(open, "open thread") : all.length ? "All resolved" : "No threads";
    const [first, ...rest] = (hidden ? `${words}, hidden` : words).split(" ");
    const short = open ? first : h("span", { class: "phone-hide" }, first);
    refill(this.label, short, h("span", { class: "phone-hide" }, ` ${rest.join(" ")}`));
    this.tools.setAttribute("aria-label", `${hidden ? `${words}, hidden` : words}: list`);
    this.outdated.draw(all);
    this.answered.draw(all);
  }

  items() {
    const all = this.ordered;
    const open = all.filter(({ resolved }) => !resolved);
    const files = [...new Set(all.map(({ path }) => path).filter(Boolean))];
    return [
      ...open.slice(0, MOST).map((thread) => ({
        label: `${address(thread)}  ${beginning(thread.comments[0].body, 48)}`,
        icon: "say",
        act: () => this.go(thread.id),
      })),
      open.length > 0 && "-",
      { label: COMMENT, icon: "plus", act: () => write({}) },
      {
        label: "Copy all open threads",
        icon: "copy",
        disabled: !open.length,
        why: "None is open",
        act: () => this.copyThreads({ unresolved: 1 }, plural(open.length, "open thread")),
      },
      ...files.slice(0, MOST).map((path) => ({
        label: `Copy the threads of ${path}`,
        icon: "copy",
        act: () => this.copyThreads({ path }, `The threads of ${path}`),
      })),
      "-",
      { label: "Hide or show threads", icon: "eye", key: "h", act: () => this.hide() },
      { label: "Outdated threads", icon: "clock", key: "o", act: () => this.listOutdated() },
      { label: "Answered threads", icon: "say", key: "A", act: () => this.nextAnswered() },
      {
        label: "Ask an agent about all open threads",
        icon: "send",
        disabled: !open.length,
        why: "None is open",
        act: () => askAbout({}),
      },
    ].filter(Boolean);
  }

  copyThreads(wanted, what) {
    attempt(null, async () => copy(await asMarkdown(wanted), `${what}: copied as Markdown.`));
  }

  listOutdated() {
    this.outdated.toggle(this.ordered);
  }

  /** Go to the next thread that an agent answered, and open the list of all of them. */
  nextAnswered() {
    const { ordered } = this;
    const current = ordered.find(({ id }) => id === this.current);
    const next = following(ordered, current, isAnswered);
    if (!next) {
      toast(`No thread ${HERE} is answered.`);
      return;
    }
    this.answered.open(ordered);
    this.go(next.id);
  }
}
