// The stacks of one repository: cards with their commits, the top first; merged ones folded.

import { put } from "../../kit/api.js";
import { plusMinus } from "../../kit/bars.js";
import { fill, h, icon, visible } from "../../kit/dom.js";
import { plural } from "../../kit/words.js";
import { commitRow } from "./commitrow.js";
import { calm } from "../live.js";
import { Note } from "./note.js";
import { unresolved } from "../projects/row.js";
import { commitOf, pageOf, route } from "../route.js";

const sum = (commits, of) => commits.reduce((total, commit) => total + of(commit), 0);
const titled = (stack, alone) => stack.title ?? (alone ? "Commits" : "Other commits");

/** `+641 −122` of some commits; a landed one counts as it landed. */
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
  }

  show(repo) {
    const bySha = new Map(repo.commits.map((commit) => [commit.sha, commit]));
    const shown = [];
    for (const stack of repo.stacks) {
      const commits = stack.commits.map((sha) => bySha.get(sha));
      const open = commits.filter((commit) => commit.status !== "merged");
      if (open.length || !commits.length) shown.push({ stack, commits: open });
    }
    const titles = shown.map(({ stack }) => titled(stack, shown.length === 1));
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
    const done = repo.commits.filter((commit) => commit.status === "merged");
    this.merged.show(repo.name, done);
    const range = repo.range.text ?? "the range";
    fill(this.none, `No commit in ${range}. What is committed there is listed here at once.`);
    const empty = !repo.commits.length && !repo.errors.length;
    place(this.node, [...nodes, empty && this.none, this.merged.node].filter(Boolean));
  }

  card(repo, n) {
    if (!this.cards.has(n)) this.cards.set(n, new Card(this.project, repo, n, this.refresh));
    return this.cards.get(n);
  }
}

/** Put these nodes into the parent in this order, moving only what stands elsewhere. */
function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...parent.children]) if (!wanted.has(node)) node.remove();
  nodes.forEach((node, n) => {
    if (parent.children[n] !== node) parent.insertBefore(node, parent.children[n] ?? null);
  });
}

/** Where a follow-on stack begins: the commit its lowest one stands on. */
function joint(stack, commits, bySha) {
  if (!stack.follow_on || !commits.length) return null;
  const [parent] = commits[0].parents;
  return parent ? (bySha.get(parent)?.short ?? parent.slice(0, 7)) : null;
}

class Card {
  stack = null;

  constructor(project, repo, n, refresh) {
    this.project = project;
    const id = `stack-${repo}-${n}`;
    this.joint = h("p", { class: "joint" });
    this.dot = h("span", { class: "stackdot" });
    this.head = h("h2", { id, class: "cut" });
    this.facts = h("span", { class: "line" });
    this.open = h("span", { class: "line" });
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
      write: async (text, title) => {
        const at = route("projects", project, "repos", repo, "stacks", n, "description");
        try {
          await put(at, { description: text, title });
        } finally {
          await refresh();
        }
      },
      now: () => ({ seen: this.stack.title, words: this.name }),
    });
    this.warning = h("p", { class: "says warn note", hidden: true });
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
          h("span", { class: "push line" }, this.open, this.note.edit, this.diff, this.picture),
        ),
        h("div", { class: "note" }, this.note.node),
        this.warning,
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
    fill(
      this.facts,
      h("span", { class: "count" }, plural(commits.length, "commit")),
      size(commits, false),
    );
    const waiting = sum(commits, (commit) => commit.unresolved);
    fill(this.open, waiting ? unresolvedWords(waiting) : null);
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
}

const unresolvedWords = (count) => h("span", { class: "badge warn" }, `${count} unresolved`);
export const sentence = (text) =>
  text && text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** @type {Intl.DateTimeFormatOptions} */
const DAY = { day: "numeric", month: "long" };

/** The commits that landed, folded into one line. */
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
        waiting ? unresolved(waiting) : null,
        h("span", { class: "phone-hide" }, size(commits, true)),
      ),
    );
    this.draw();
  }

  draw() {
    if (this.node.open) this.update(this.items);
  }
}
