// Beside the stacks: a picture of them, and the list of repositories.

import { button, fill, h, icon, keep, mark } from "../../kit/dom.js";
import { plural } from "../../kit/words.js";
import { openForm } from "./open.js";
import { tilde } from "../paths.js";
import { route } from "../route.js";

const FOREIGN = /[\u0700-\u1dff\u2e80-\uffff]/; // scripts that the service ships no font for
const SHOWN = 12; // missing characters that are listed
const MOST = 200; // commits in a picture that is legible in a column; else download only

/** The picture of all stacks, drawn by the service; fetched again when they change. */
export class Picture {
  constructor(project) {
    const at = (kind) => route("projects", project, `stack.${kind}`);
    const load = (kind) =>
      h(
        "a",
        {
          class: "btn s",
          href: `${at(kind)}?download=1`,
          "aria-label": `Download the picture as ${kind.toUpperCase()}`,
        },
        icon("download"),
        kind.toUpperCase(),
      );
    this.address = `${at("svg")}?title=0`;
    this.narrow = `${this.address}&narrow=1`;
    this.image = h("img", { class: "picture", loading: "lazy" });
    this.frame = h(
      "a",
      { class: "picbox", href: this.address, target: "_blank", title: "Open the whole picture" },
      this.image,
    );
    this.png = at("png");
    this.boxes = h("p", { class: "small soft boxes", hidden: true });
    this.node = h(
      "section",
      { class: "card", "aria-label": "Picture" },
      h(
        "header",
        {},
        h("h2", {}, "Picture"),
        h("span", { class: "push line" }, load("svg"), load("png")),
      ),
      this.frame,
      this.boxes,
    );
  }

  /** List the characters that are boxes in the PNG, for lack of a font on the service's machine. */
  async tellBoxes() {
    const { headers } = await fetch(this.png, { method: "HEAD" });
    const missing = [...decodeURIComponent(headers.get("Missing-Characters") ?? "")];
    this.boxes.hidden = !missing.length;
    const some = missing.slice(0, SHOWN).join(" ") + (missing.length > SHOWN ? " …" : "");
    const words = `The PNG shows boxes for ${some}: no font of the service's machine has them. Install one there.`;
    fill(this.boxes, missing.length ? words : null);
  }

  show(project) {
    const commits = project.repos.flatMap((repo) => repo.commits);
    const stacks = project.repos.flatMap((repo) => repo.stacks);
    this.node.hidden = !commits.length;
    this.frame.hidden = commits.length > MOST;
    if (this.frame.hidden) return;
    this.image.alt = `${plural(commits.length, "commit")} in ${plural(stacks.length, "stack")}`;
    const said = JSON.stringify([project.title, project.repos.map(pictureContent)]);
    if (said === this.said) return;
    this.said = said;
    this.version = (this.version ?? 0) + 1;
    this.image.src = `${this.narrow}&v=${this.version}`;
    if (FOREIGN.test(said)) this.tellBoxes().catch(() => {});
  }
}

const pictureContent = ({ name, stacks, commits }) => [
  name,
  stacks.map(({ title, color, commits: shas }) => [title, color, shas]),
  commits.map(({ pr_title: title, status, additions, deletions }) => [
    title,
    status,
    additions,
    deletions,
  ]),
];

const FULL = /\b([0-9a-f]{7})[0-9a-f]{33,57}\b/g; // shas
const FINE = { shape: "up", tone: "up", word: "Readable" };
const BAD = { shape: "down", tone: "down", word: "Cannot be shown" };

/** The repositories, and the form that adds one. */
export class Repositories {
  constructor(project, refresh) {
    this.project = project;
    this.refresh = refresh;
    this.rows = h("ul", { class: "rows" });
    this.add = button("Add", {
      icon: "plus",
      kind: "ghost s push",
      "aria-label": "Add a repository",
      "aria-expanded": "false",
      onclick: () => this.toggle(this.place.hidden),
    });
    this.place = h("div", { class: "inside", hidden: true });
    this.none = h(
      "p",
      { class: "nothing soft" },
      "No repository yet. Open one to see its commits.",
    );
    this.node = h(
      "section",
      { class: "card", "aria-label": "Repositories" },
      h("header", {}, h("h2", {}, "Repositories"), this.add),
      this.rows,
      this.none,
      this.place,
    );
  }

  toggle(open) {
    this.place.hidden = !open;
    this.add.setAttribute("aria-expanded", String(open));
    const done = () => {
      this.toggle(false);
      this.add.focus();
      this.refresh();
    };
    const closeForm = () => (this.toggle(false), this.add.focus());
    fill(this.place, open ? openForm(this.project, { done, left: closeForm }) : null);
    this.place.querySelector("input")?.focus();
  }

  show(repos) {
    this.none.hidden = repos.length > 0;
    const items = repos.map(({ name, path, trunk, range, errors, commits }) => {
      const span = range.text?.replace(FULL, "$1");
      const bad = errors.length > 0;
      const facts = [trunk && `trunk ${trunk}`, span, !bad && plural(commits.length, "commit")];
      return { name, path, bad, facts: facts.filter(Boolean).join(" · ") };
    });
    keep(this.rows, items, (item) => item.name, repoRow);
  }
}

const repoRow = ({ name, path, bad, facts }) =>
  h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark(bad ? BAD : FINE),
      h(
        "div",
        {},
        h("span", { class: "small strong wrap-anywhere" }, name),
        h("span", { class: "tiny quiet wrap-anywhere" }, tilde(path)),
        h("span", { class: "tiny quiet wrap-anywhere" }, facts),
      ),
    ),
  );
