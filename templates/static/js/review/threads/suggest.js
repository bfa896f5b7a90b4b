// Suggestion blocks of comments: each can be applied, and all open ones of the commit together.

import { button, h } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { worktree } from "../state.js";
import { viewOf } from "./places.js";
import { apply } from "./review.js";
import { isOld, short } from "./words.js";

/** Whether the thread is on lines of the new text, which a suggestion can replace. */
export const appliable = ({ line, side, outdated, resolved }) =>
  Boolean(line) && !isOld(side) && !outdated && !resolved;

const hasSuggestion = (thread) =>
  appliable(thread) && thread.comments.some((comment) => comment.suggestions);

/**
 * The lines of the new text from `start` to `line`, with the line ends of a text field. If the file
 * is not loaded, the lines that the thread recorded.
 */
export function textOf({ path, side, line, start, anchor_text: known }) {
  const view = viewOf(path);
  const all = Array.from({ length: line - start + 1 }, (_, n) => view?.lineText(side, start + n));
  const text = all.every((one) => typeof one === "string") ? all.join("\n") : (known ?? "");
  return text.replace(/\r$/gm, "");
}

/** A suggestion block of these lines in three parts: the opening fence, the lines, the end. */
export function suggestionBlock(lines) {
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}suggestion\n`, lines, `\n${fence}\n`];
}

/** The text of a comment with its suggestions marked, each with a button. */
export function suggestions(said, thread, comment) {
  const found = said.querySelectorAll(":scope > pre > code.language-suggestion");
  [...found].forEach((code, block) => {
    const pre = code.parentElement;
    const figure = h(
      "figure",
      { class: "suggestion" },
      h(
        "figcaption",
        {},
        code.textContent ? "Suggestion" : "Suggestion: remove the lines",
        !worktree && applying("Apply", [{ thread, comment, block }]),
      ),
    );
    pre.setAttribute("aria-label", "Suggestion");
    pre.hidden = !code.textContent;
    pre.replaceWith(figure);
    figure.append(pre);
  });
  return said;
}

const applying = (label, wanted) =>
  button(label, {
    icon: "check",
    kind: "s",
    title: "Commit it as a fixup on the branch",
    onclick: (event) => attempt(event, () => take(wanted)),
  });

async function take(wanted) {
  const { sha, branch } = await apply(wanted);
  const what = wanted.length === 1 ? "Suggestion" : plural(wanted.length, "suggestion");
  toast(`${what} applied: fixup ${short(sha)} on ${branch}.`);
}

/** A button for all open suggestions, shown when there are several. */
export class ApplyAll {
  threads = [];

  constructor() {
    this.node = button("", {
      icon: "check",
      kind: "ghost s phone-hide",
      onclick: (event) => attempt(event, () => take(this.threads.map((thread) => ({ thread })))),
    });
    this.label = h("span");
    this.node.append(this.label);
    this.show([]);
  }

  show(threads) {
    this.threads = threads.filter(hasSuggestion).map(({ id }) => id);
    this.node.hidden = this.threads.length < 2;
    this.label.textContent = `Apply ${plural(this.threads.length, "suggestion")}`;
  }
}
