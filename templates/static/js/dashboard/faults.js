// What is wrong with a file, with its line, and that the last good version is in use.

import { h, icon } from "../kit/dom.js";
import { plural } from "../kit/words.js";

const SHOWN = 3;

export function faults(list) {
  const errors = list.filter(({ level }) => level === "error");
  const first = [...errors, ...list.filter(({ level }) => level !== "error")];
  const more = first.length - SHOWN;
  return h(
    "section",
    { class: `banner ${errors.length ? "bad" : "warn"}`, "aria-label": "Problems with files" },
    icon("alert"),
    h(
      "div",
      {},
      h("ul", { class: "faults" }, first.slice(0, SHOWN).map(fault)),
      more > 0 &&
        h(
          "details",
          {},
          h("summary", { class: "link" }, `${plural(more, "more", "more")}`),
          h("ul", { class: "faults" }, first.slice(SHOWN).map(fault)),
        ),
    ),
  );
}

const fault = ({ file, line, message, level }) =>
  h(
    "li",
    { class: "wrap-anywhere" },
    h("code", {}, file),
    line ? `, line ${line}: ` : ": ",
    /[.?!]$/.test(message) ? message : `${message}.`,
    level === "error" && file.includes(".yaml") && line ? " The last good version is in use." : "",
  );
