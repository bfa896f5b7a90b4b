// The change of an Edit or a Write as lines with signs. Lines, not words: it is a summary.

import { h } from "../../kit/dom.js";
import { editorLink } from "../../kit/editor.js";

const MOST = 400; // lines compared; longer texts are shown as all old, then all new lines

/** The change {path, added, removed, lines: [[sign, text]]} of a call to a file, else null. */
export function changeOf({ name, input }) {
  const path = input?.file_path;
  if (typeof path !== "string") return null;
  if (name === "Write" && typeof input.content === "string")
    return summary(
      path,
      split(input.content).map((text) => ["+", text]),
    );
  const edits = name === "Edit" ? [input] : name === "MultiEdit" ? (input.edits ?? []) : [];
  const given = edits.filter(
    (edit) => typeof edit?.old_string === "string" && typeof edit.new_string === "string",
  );
  if (!given.length) return null;
  return summary(
    path,
    given.flatMap((edit, n) => [
      ...(n ? [["@", ""]] : []),
      ...compare(split(edit.old_string), split(edit.new_string)),
    ]),
  );
}

const split = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

function summary(path, lines) {
  const count = (sign) => lines.filter(([own]) => own === sign).length;
  return { path, added: count("+"), removed: count("-"), lines };
}

/** The shortest edit script between two lists of lines, after their common beginning and end. */
export function compare(old, fresh) {
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < fresh.length - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  )
    end += 1;
  const same = (from, to) => old.slice(from, to).map((text) => [" ", text]);
  return [
    ...same(0, start),
    ...middle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...same(old.length - end, old.length),
  ];
}

function middle(old, fresh) {
  const gone = old.map((text) => ["-", text]);
  const come = fresh.map((text) => ["+", text]);
  if (!old.length || !fresh.length || old.length > MOST || fresh.length > MOST)
    return [...gone, ...come];
  const width = fresh.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = fresh.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        old[i] === fresh[j]
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push([" ", old[i]]);
      i += 1;
      j += 1;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) lines.push(gone[i++]);
    else lines.push(come[j++]);
  }
  return [...lines, ...gone.slice(i), ...come.slice(j)];
}

const KINDS = { "+": "add", "-": "del", "@": "gap", " ": null };
const SEEN = { "+": "+", "-": "−" };
const SPOKEN = { "+": "added: ", "-": "removed: " };

/** The change as a block; each line has its sign, also for screen readers. */
export function drawChange({ path, lines }) {
  return h(
    "div",
    { class: "edit mono", tabindex: "0", role: "region", "aria-label": `Change of ${path}` },
    editorLink(document.body.dataset.root, path),
    lines.map(([sign, text]) =>
      h(
        "div",
        { class: KINDS[sign] },
        h("span", { class: "sign", "aria-hidden": "true" }, SEEN[sign]),
        SPOKEN[sign] && h("span", { class: "sr" }, SPOKEN[sign]),
        h("span", { class: "text" }, sign === "@" ? "…" : text || " "),
      ),
    ),
  );
}
