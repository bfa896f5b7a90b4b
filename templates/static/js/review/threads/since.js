// What changed around the lines of a thread since an agent was asked about it.

import { get } from "../../kit/api.js";
import { fill, h } from "../../kit/dom.js";
import { commitOf } from "../route.js";
import { short } from "./words.js";

const WHERE = {
  commit: ({ to }) => `in this commit, now ${short(to)}`,
  stack: () => "in a commit above this one, not folded yet",
  worktree: () => "in the work tree, not committed yet",
};
const KINDS = { "+": "add", "-": "del", "@": "hunk" };

/** A figure that is filled when `show(thread)` is called for an answered thread. */
export class Since {
  constructor(place) {
    this.place = place;
    this.node = h("div", { class: "thread-since", hidden: true });
    this.shown = "";
  }

  /** Show the figure; read it again if the thread was asked or answered again or commented on. */
  async show(thread) {
    this.node.hidden = thread.state !== "answered" || !thread.asked || !thread.path;
    const key = JSON.stringify([thread.asked, thread.proposed, thread.comments.length]);
    if (this.node.hidden || key === this.shown) return;
    this.shown = key;
    const { project, repo, sha } = this.place;
    try {
      const found = await get(commitOf(project, repo, sha, "threads", thread.id, "since"));
      fill(this.node, figure(found));
    } catch (error) {
      fill(this.node, h("p", { class: "tiny quiet mended" }, error.message));
    }
  }
}

function figure(found) {
  if (!found.where)
    return h("p", { class: "tiny quiet mended" }, "Nothing changed near these lines since.");
  const caption = `Changed since it was asked, ${WHERE[found.where](found)}`;
  return h(
    "figure",
    { class: "was mended" },
    h("figcaption", {}, caption),
    h(
      "pre",
      { class: "mono", tabindex: "0", "aria-label": caption },
      found.text.split("\n").map(line),
    ),
    found.truncated && h("p", { class: "tiny quiet" }, "The rest is left out."),
  );
}

const line = (text) => h("span", { class: KINDS[text[0]] ?? "same" }, `${text}\n`);
