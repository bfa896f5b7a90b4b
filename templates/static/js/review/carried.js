// A review that was carried over from another commit: from which one, by which rule, what came
// along, and what has changed since.

import { get } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { dialog } from "../kit/dialog.js";
import { late } from "../kit/skeleton.js";
import { problem } from "../kit/parts.js";
import { plural } from "../kit/words.js";
import { interdiffTable } from "./interdiff.js";
import { at } from "./state.js";

const RULES = {
  "change-id": ["by Change-Id", "Both commits carry the same Change-Id."],
  "patch-id": ["by patch-id", "Both commits make the same change."],
  "patch-id-u0": ["by patch-id", "Both change the same lines; the lines around them differ."],
  "author-date": ["by author and date", "Same author and the same second; the change differs."],
  branch: ["by branch", "The branch of its PR record points here now."],
  subject: ["by subject", "Both have the same subject; the change differs."],
  similar: ["by likeness", "Most of the changed lines are the same."],
  person: ["by hand", "A person said that this is what it became."],
  lineage: ["by its history", "Its review had been carried over from this commit before."],
};
const short = (sha) => sha.slice(0, 7);
const code = (sha) => h("code", { title: sha }, short(sha));

/** The banner; null for a review that began on this commit. */
export function carriedBanner(review) {
  if (!review.matched_from) return null;
  const [rule, why] = RULES[review.matched_by] ?? [`by ${review.matched_by}`, ""];
  const also = review.carried_from?.also ?? [];
  return h(
    "div",
    { class: "banner carried" },
    icon("carry"),
    h(
      "div",
      {},
      "Carried over from ",
      code(review.matched_from),
      " ",
      h("span", { title: why }, rule),
      also.length > 0 && [
        ", with ",
        also.flatMap((sha, n) => (n ? [", ", code(sha)] : [code(sha)])),
      ],
      `. ${came(review)}`,
      h("span", { class: "sr" }, ` ${why}`),
    ),
    h(
      "button",
      {
        type: "button",
        class: "link small",
        onclick: () => showInterdiff(review.matched_from),
      },
      "What changed",
    ),
  );
}

/** "4 threads and 3 viewed marks came along; 1 mark fell off; 1 thread is outdated." */
function came(review) {
  const since = review.carried_over ? null : review.carried_from?.at;
  const threads = review.threads.filter((one) => !since || (one.created_at ?? "") < since);
  const outdated = threads.filter((one) => one.outdated).length;
  const [marks, fallen] = [review.viewed.length, review.viewed_stale.length];
  const along = [
    threads.length && plural(threads.length, "thread"),
    marks && review.carried_over && plural(marks, "viewed mark"),
  ].filter(Boolean);
  return (
    [
      along.length ? `${along.join(" and ")} came along` : "No thread came along",
      fallen && `${plural(fallen, "mark")} fell off`,
      outdated && `${outdated} ${outdated === 1 ? "thread is" : "threads are"} outdated`,
    ]
      .filter(Boolean)
      .join("; ") + "."
  );
}

/** Show in a dialogue, as a diff, what changed between commit `from` and this one. */
const showInterdiff = (from) => show("What changed", ["What changed since ", code(from)], { from });

/** Show what changed in a file since the reader marked it as viewed. */
export function showSince(path) {
  const name = h("span", { class: "mono wrap-anywhere" }, path);
  const since = h("span");
  show("Changed since you viewed", ["Since you viewed ", name, since], { path }, ({ from }) =>
    fill(since, " in ", code(from)),
  );
}

function show(label, heading, asked, /** @type {(answer: any) => unknown} */ found = () => {}) {
  const body = h("div", {
    class: "interdiff",
    tabindex: "0",
    role: "region",
    "aria-label": "Diff",
  });
  const node = dialog(
    label,
    h(
      "header",
      { class: "line" },
      h("h2", { class: "big" }, heading),
      button("", {
        icon: "x",
        kind: "ghost only push",
        "aria-label": "Close",
        onclick: () => node.close(),
      }),
    ),
    body,
  );
  node.classList.add("wide-dialog");
  const stop = late(body, "text");
  get(`${at("interdiff")}?${new URLSearchParams(asked)}`)
    .then((answer) => {
      found(answer);
      fill(body, interdiffTable(answer.text, answer.without_lines, { files: "path" in asked }));
    })
    .catch((error) => fill(body, problem(error.message)))
    .finally(stop);
}
