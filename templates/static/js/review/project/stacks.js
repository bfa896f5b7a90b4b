// The stacks of one repository: cards with their commits, the top first; merged commits folded.

import { post, put } from "../../kit/api.js";
import { plusMinus } from "../../kit/bars.js";
import { button, fill, h, icon, refill, visible } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural, relative } from "../../kit/words.js";
import { askAgent } from "../ask.js";
import { commitRow } from "./commitrow.js";
import { calm } from "../live.js";
import { Note } from "./note.js";
import { unresolvedBadge } from "../projects/row.js";
import { commitOf, pageOf, route } from "../route.js";

const sum = (commits, of) => commits.reduce((total, commit) => total + of(commit), 0);
const stackTitle = (stack, alone) => stack.title ?? (alone ? "Commits" : "Other commits");

/** `+641 −122` of some commits; a landed commit counts as it landed. */
const size = (commits, bar) =>
  plusMinus(
    sum(commits, (one) => one.additions),
    sum(commits, (one) => one.deletions),
    { bar },
  );

/** All stacks of a repository. `show(repo)` brings them up to date. */
export class Stacks {
  cards = new Map();

  constructor(project, refresh) {
    this.project = project;
    this.refresh = refresh;
    this.node = h("div", { class: "stacks" });
    this.merged = new Merged(project);
    this.none = h("p", { class: "card nothing soft" });
    this.folded = h("p", { class: "says wrap folded-line" });
    this.changed = null;
    this.row = h("a", { class: "card row changesrow" });
  }

  /** Show uncommitted changes, {head, files, …} or null, as a row above the stack they are on. */
  tell(changed) {
    if (JSON.stringify(changed) === JSON.stringify(this.changed)) return;
    this.changed = changed;
    if (changed) {
      const lines = changed.additions + changed.deletions; // none in files that are not text
      this.row.href = pageOf(this.project, changed.repo, "WORKTREE");
      fill(
        this.row,
        icon("pencil"),
        h("span", { class: "strong small" }, "Not committed"),
        h("span", { class: "count" }, `· ${plural(changed.files, "file")}`),
        h("span", { class: "push" }, lines > 0 && plusMinus(changed.additions, changed.deletions)),
      );
    }
    this.show(this.repo);
  }

  show(repo) {
    this.repo = repo;
    const bySha = new Map(repo.commits.map((commit) => [commit.sha, commit]));
    const shown = [];
    for (const stack of repo.stacks) {
      const commits = stack.commits.map((sha) => bySha.get(sha));
      const open = commits.filter((commit) => commit.status !== "merged");
      if (open.length || !commits.length) shown.push({ stack, commits: open });
    }
    const titles = shown.map(({ stack }) => stackTitle(stack, shown.length === 1));
    shown.forEach(({ stack, commits }, n) => {
      const card = this.card(repo.name, stack.n);
      card.show({
        repo: repo.name,
        stack,
        commits,
        title: titles[n],
        joint: joint(stack, commits, bySha),
      });
    });
    const nodes = shown.map(({ stack }) => this.cards.get(stack.n).node);
    const on = shown.findIndex(({ stack }) => stack.commits.includes(this.changed?.head));
    if (this.changed) nodes.splice(Math.max(on, 0), 0, this.row);
    const done = repo.commits.filter((commit) => commit.status === "merged");
    this.merged.show(repo.name, done);
    const range = repo.range.text ?? "the range";
    fill(this.none, `No commit in ${range}. What is committed there is listed here at once.`);
    const empty = !repo.commits.length && !repo.errors.length;
    refill(this.folded, ...(repo.folded ? this.undoable(repo) : []));
    const last = repo.folded && this.folded;
    place(this.node, [last, ...nodes, empty && this.none, this.merged.node].filter(Boolean));
  }

  /** The notice of the last fold with its Undo, shown until something follows it. */
  undoable(repo) {
    const { id, branch, at } = repo.folded;
    return [
      icon("check"),
      h("span", {}, `The fixups of ${branch} were folded ${relative(at)}.`),
      button("Undo the fold", {
        icon: "restart",
        kind: "s",
        onclick: (event) => attempt(event, () => this.unfold(repo.name, id)),
      }),
    ];
  }

  async unfold(repo, id) {
    await post(route("projects", this.project, "repos", repo, "fold", "undo"), { id });
    toast("The fold was undone.");
    await this.refresh();
  }

  card(repo, n) {
    if (!this.cards.has(n)) this.cards.set(n, new Card(this.project, repo, n, this.refresh));
    return this.cards.get(n);
  }
}

/** Make these nodes, in this order, the children of the parent, moving only misplaced ones. */
function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...parent.children]) if (!wanted.has(node)) node.remove();
  nodes.forEach((node, n) => {
    if (parent.children[n] !== node) parent.insertBefore(node, parent.children[n] ?? null);
  });
}

/** The short sha of the commit on which a follow-on stack begins; null for other stacks. */
function joint(stack, commits, bySha) {
  if (!stack.follow_on || !commits.length) return null;
  const [parent] = commits[0].parents;
  return parent ? (bySha.get(parent)?.short ?? parent.slice(0, 7)) : null;
}

class Card {
  stack = null;

  constructor(project, repo, n, refresh) {
    this.project = project;
    this.refresh = refresh;
    const id = `stack-${repo}-${n}`;
    this.joint = h("p", { class: "joint" });
    this.dot = h("span", { class: "stackdot" });
    this.head = h("h2", { id, class: "cut" });
    this.facts = h("span", { class: "line" });
    this.open = h("span", { class: "line" });
    this.ask = button("Ask", {
      icon: "send",
      kind: "ghost s",
      title: "Ask an agent about the open threads of this stack",
      onclick: (event) => askAgent(event, project, { repo, stack: n }, refresh),
    });
    this.picture = h(
      "a",
      { class: "btn ghost s only", title: "Download the picture" },
      icon("download"),
    );
    this.diff = h("a", { class: "btn ghost s only", title: "Read as one diff" }, icon("review"));
    this.diff.href = pageOf(project, repo, "stacks", n);
    this.note = new Note({
      project,
      what: "note",
      compact: true,
      draftName: `note:${project}:${repo}:${n}`,
      write: async (text, title, was) => {
        const at = route("projects", project, "repos", repo, "stacks", n, "description");
        try {
          await put(at, { description: text, title, was });
        } finally {
          await refresh();
        }
      },
      now: () => ({ seen: this.stack.title, words: this.name }),
    });
    this.warning = h("p", { class: "says warn note", hidden: true });
    this.clash = h("p", { class: "says bad note", role: "alert", hidden: true });
    this.fold = button("", {
      kind: "s",
      title: "Make the fixups part of the commits they amend",
      onclick: (event) => attempt(event, () => this.squash()),
    });
    this.rows = h("ol");
    this.none = h("p", { class: "nothing soft", hidden: true }, "No commit is in this stack now.");
    this.node = h(
      "div",
      { class: "stackplace" },
      this.joint,
      h(
        "section",
        { class: "card stackcard", "aria-labelledby": id },
        h(
          "header",
          {},
          this.dot,
          this.head,
          this.facts,
          h(
            "span",
            { class: "push line" },
            this.open,
            this.ask,
            this.fold,
            this.note.edit,
            this.diff,
            this.picture,
          ),
        ),
        h("div", { class: "note" }, this.note.node),
        this.warning,
        this.clash,
        this.rows,
        this.none,
      ),
    );
    this.update = calm(this.rows, (item) => item.commit.position, commitRow);
  }

  show({ repo, stack, commits, title, joint: from }) {
    this.stack = stack;
    this.name = title;
    this.head.textContent = visible(title);
    this.dot.style.background = stack.color;
    this.node.querySelector(".stackcard").classList.toggle("follow", Boolean(stack.follow_on));
    this.joint.hidden = !stack.follow_on;
    fill(this.joint, "Follows on", from && [" from ", h("span", { class: "mono" }, from)]);
    refill(
      this.facts,
      h("span", { class: "count" }, plural(commits.length, "commit")),
      size(commits, false),
      stack.chat && h("a", { class: "link tiny", href: stack.chat }, "Chat"),
    );
    this.note.edit.hidden = Boolean(stack.branch);
    const waiting = sum(commits, (commit) => commit.unresolved);
    fill(this.open, waiting ? unresolvedWords(waiting) : null);
    this.repo = repo;
    this.tips(commits, stack.fixups ?? 0);
    this.ask.hidden = !waiting;
    this.ask.setAttribute("aria-label", visible(`Ask an agent about ${title}`));
    this.picture.hidden = !commits.length;
    if (commits.length)
      this.picture.href = `${commitOf(this.project, repo, commits.at(-1).sha, "stack.svg")}?scope=stack&download=1`;
    this.picture.setAttribute("aria-label", visible(`Download the picture of ${title}`));
    this.diff.hidden = commits.length < 2;
    this.diff.setAttribute("aria-label", visible(`Read ${title} as one diff`));
    this.note.what = `note of ${title}`;
    this.note.show({ text: stack.description, html: stack.description_html, seen: stack.title });
    this.warning.hidden = !stack.warning;
    fill(this.warning, icon("alert"), h("span", {}, sentence(stack.warning ?? "")));
    this.none.hidden = commits.length > 0;
    const items = commits.map((commit) => ({ project: this.project, repo, commit }));
    this.update(items.reverse());
  }

  /** Offer Fold while there are fixups; the reason of a refusal stays until the tip changes. */
  tips(commits, fixups) {
    const tip = commits.at(-1)?.sha;
    if (tip !== this.tip) this.clash.hidden = true;
    this.tip = tip;
    this.fold.hidden = !fixups;
    fill(this.fold, icon("carry"), `Fold ${plural(fixups, "fixup")}`);
  }

  async squash() {
    const at = route("projects", this.project, "repos", this.repo, "stacks", this.stack.n, "fold");
    this.clash.hidden = true;
    try {
      const { folded } = await post(at, {});
      toast(`${plural(folded, "fixup")} folded.`);
    } catch (error) {
      if (error.status !== 409) throw error;
      this.clash.hidden = false;
      fill(this.clash, icon("alert"), h("span", {}, error.message));
    } finally {
      await this.refresh();
    }
  }
}

const unresolvedWords = (count) => h("span", { class: "badge warn" }, `${count} unresolved`);
export const sentence = (text) =>
  text && text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** @type {Intl.DateTimeFormatOptions} */
const DAY = { day: "numeric", month: "long" };

/** The landed commits, folded into one line. */
class Merged {
  constructor(project) {
    this.project = project;
    this.head = h("summary", { class: "row" });
    this.rows = h("ol");
    this.node = h("details", { class: "card folded-card" }, this.head, this.rows);
    this.update = calm(this.rows, (item) => item.commit.sha, commitRow);
    this.node.addEventListener("toggle", () => this.draw());
  }

  show(repo, commits) {
    this.node.hidden = !commits.length;
    this.items = commits.toReversed().map((commit) => ({ project: this.project, repo, commit }));
    const last = commits
      .map((commit) => commit.landed?.at ?? "")
      .sort()
      .at(-1);
    const when = last ? `, last on ${new Date(last).toLocaleDateString("en-GB", DAY)}` : "";
    const waiting = sum(commits, (commit) => commit.unresolved);
    fill(
      this.head,
      icon("right"),
      h("span", { class: "strong small" }, "Merged"),
      h("span", { class: "count" }, `${plural(commits.length, "commit")}${when}`),
      h(
        "span",
        { class: "push line" },
        waiting ? unresolvedBadge(waiting) : null,
        h("span", { class: "phone-hide" }, size(commits, true)),
      ),
    );
    this.draw();
  }

  draw() {
    if (this.node.open) this.update(this.items);
  }
}
