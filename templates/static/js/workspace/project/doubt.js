// A project.yaml that a turn may have written: what would change, and the user's confirmation.

import { get, P, post } from "../../kit/api.js";
import { button, h, icon } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { compare, drawChange } from "../chat/edits.js";
import { isUnconfirmed } from "../words.js";

const MOST = 4000; // lines, old and new, that a user can be expected to read
const AROUND = 2; // unchanged lines before and after changed ones

/** The change that waits for confirmation, if the error of a project says so; else null. */
export const waitingFile = async (slug, error) =>
  isUnconfirmed(error) ? (await get(P(slug, "follow"))).waiting : null;

/** The banner of a waiting change; `after()` is awaited after the confirmation, or its failure. */
export function doubt(slug, { etag, changes }, after) {
  const follow = (event) =>
    attempt(event, async () => {
      try {
        await post(P(slug, "follow"), { etag });
        toast("This file holds now.");
      } finally {
        await after(); // the file may have changed
      }
    });
  const lines = linesOf(changes);
  return h(
    "section",
    { class: "banner warn doubt", "aria-label": "A file to be read" },
    icon("alert"),
    h(
      "div",
      { class: "stack tight" },
      h("strong", {}, "project.yaml was replaced while a turn worked beside it"),
      h(
        "p",
        {},
        "The turn may have written it, so the project holds as it was and no trigger fires. " +
          (lines
            ? "This is what it would change:"
            : "What it would change is too long to be shown here. Read the file itself, and save it " +
              "once more when no turn of the project runs."),
      ),
      lines && [
        drawChange({ path: "project.yaml", lines }),
        h(
          "div",
          { class: "line wrap" },
          button("Follow this file", { kind: "s", onclick: follow }),
          h("span", { class: "quiet" }, "Exactly as it is shown here."),
        ),
      ],
    ),
  );
}

/** The banner that links to it from another page. */
export const doubtLink = (slug) =>
  h(
    "div",
    { class: "banner warn" },
    icon("alert"),
    h(
      "div",
      {},
      "project.yaml waits to be read: it was replaced while a turn worked beside it. ",
      "Until then nothing is saved here.",
    ),
    h("a", { class: "btn s", href: `/projects/${slug}` }, "Read what differs"),
  );

/** The change as lines with signs; null if it is too long to be shown. */
export function linesOf(changes) {
  const pairs = changes.map(({ before, after }) => [split(before), split(after)]);
  const many = pairs.flat().reduce((sum, { length }) => sum + length, 0);
  return many > MOST ? null : pairs.flatMap(([old, fresh]) => near(compare(old, fresh)));
}

const split = (text) => (text ? text.replace(/\n$/, "").split("\n") : []);

/** The changed lines, lines around them and the keys above them; `…` for the others. */
export function near(lines) {
  const shown = new Set();
  lines.forEach(([sign], at) => {
    if (sign === " ") return;
    for (let next = at - AROUND; next <= at + AROUND; next += 1) shown.add(next);
    let indent = depth(lines[at]);
    for (let above = at - 1; above >= 0 && indent > 0; above -= 1)
      if (depth(lines[above]) < indent) {
        shown.add(above);
        indent = depth(lines[above]);
      }
  });
  return lines.flatMap((line, at) => {
    if (shown.has(at)) return [line];
    return at === 0 || shown.has(at - 1) ? [["@", ""]] : [];
  });
}

const depth = ([, text]) => (text.trim() ? text.search(/\S/) : Infinity);
