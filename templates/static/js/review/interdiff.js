// A range-diff as a table: the first sign says how a line of the patch has changed, the second what
// the patch does with the line. Text in, nodes out; nothing is compared here.

import { h } from "../kit/dom.js";

const PAIR = /^\d+:\s+[0-9a-f]+ ([=!<>]) \d+:\s+[0-9a-f]+/;
const FILE = /^## (.*) ##$/;
const META = /^(?:diff --git|index |--- |\+\+\+ |new file|deleted file|similarity|rename )/;
const OUTER = { "+": "add", "-": "del" };
const MESSAGE = new Set(["Metadata", "Commit message"]);
const OUTER_KINDS = new Set(["add", "del"]);
const SPOKEN = { add: "added since: ", del: "removed since: ", same: "" };

/**
 * The output of `git range-diff` as rows {kind: file|hunk|add|del|same, sign, inner, text}; with
 * `files`, without its parts about author and message.
 */
export function rowsOf(text, { files = false } = {}) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const ranged = PAIR.test(lines[0] ?? "");
  const patch = ranged ? lines.slice(1).map((line) => line.slice(4)) : lines;
  const rows = patch.filter((line) => line !== "" && (ranged || !META.test(line))).map(row);
  return changedParts(rows, ranged && files ? MESSAGE : new Set());
}

/** Keep only headings that differ from the previous one and have changed lines below them. */
function changedParts(rows, left) {
  const found = [];
  let heads = [];
  let kept = [];
  let title = "";
  const flush = () => {
    if (!left.has(title) && kept.some(({ kind }) => OUTER_KINDS.has(kind)))
      found.push(...heads, ...kept);
    [heads, kept] = [[], []];
  };
  for (const one of rows) {
    if (one.kind !== "file" && one.kind !== "hunk") {
      kept.push(one);
      continue;
    }
    flush();
    const name = one.text || title;
    heads = [name === title ? { kind: "hunk", text: "" } : { kind: "file", text: name }];
    title = name;
  }
  flush();
  return found;
}

function row(line) {
  if (line.startsWith("@@")) return { kind: "hunk", text: line.slice(2).trim() };
  const sign = line[0];
  const rest = line.slice(1);
  const file = FILE.exec(rest.trim());
  const kind = OUTER[sign] ?? "same";
  if (file) return { kind: "file", sign, text: file[1] };
  if (rest.startsWith("@@")) return { kind: "hunk", text: rest.slice(2).trim() };
  const inner = "+-".includes(rest[0] ?? " ") ? rest[0] : " ";
  return { kind, sign, inner, text: rest.slice(1) };
}

/** The table, or a sentence that nothing changed; `without`: files that changed in no line. */
export function interdiffTable(text, without, options) {
  const rows = rowsOf(text, options);
  const what = `Other than before, in what no line tells (mode, or what is no text): ${without.join(", ")}.`;
  const told = without.length > 0 && h("p", { class: "soft wrap-anywhere" }, what);
  if (!rows.some(({ kind }) => OUTER_KINDS.has(kind)))
    return told || h("p", { class: "soft" }, "Nothing: both commits make the same change.");
  return [
    told,
    h(
      "p",
      { class: "tiny quiet" },
      "First sign: what happened to a line of the patch since. Second sign: what the patch does with it.",
    ),
    h(
      "table",
      { class: "diff between" },
      h("caption", { class: "sr" }, "Changes between the two patches"),
      h("colgroup", {}, h("col", { class: "cs" }), h("col", { class: "cs" }), h("col", {})),
      h("tbody", {}, rows.map(tableRow)),
    ),
  ];
}

function tableRow({ kind, sign, inner, text }) {
  if (kind === "hunk" || kind === "file")
    return h(
      "tr",
      { class: "hunk" },
      h("td", { class: kind === "file" ? "code strong" : "code", colspan: "3" }, text || "…"),
    );
  return h(
    "tr",
    { class: kind === "same" ? null : kind },
    h("td", { class: "sign" }, sign === "-" ? "−" : sign),
    h("td", { class: "sign inner" }, inner === "-" ? "−" : inner),
    h("td", { class: "code" }, SPOKEN[kind] && h("span", { class: "sr" }, SPOKEN[kind]), text),
  );
}
