// The notes on a file beside or in place of its lines: modes, names, binaries, images, no changes.

import { plusMinus } from "../../kit/bars.js";
import { button, h } from "../../kit/dom.js";
import { withCommas } from "../../kit/words.js";
import { images, isImage } from "./images.js";

const SUBMODULE = "160000";
const KINDS = {
  100644: "a file",
  100755: "executable",
  120000: "a symlink",
  [SUBMODULE]: "a submodule",
};
const LARGE = 2000; // changed lines beyond which a file is loaded only on request

const STATUS = {
  added: ["A", "Added"],
  modified: ["M", "Modified"],
  deleted: ["D", "Deleted"],
  renamed: ["R", "Renamed"],
  copied: ["C", "Copied"],
  mode: ["M", "Mode changed"],
  type: ["T", "Type changed"],
};

/** The letter of a file's status, labelled with the full word. */
export function statusLetter({ status }) {
  const [letter, word] = STATUS[status] ?? ["?", status];
  return h("span", { class: `st ${letter}`, title: word, role: "img", "aria-label": word }, letter);
}

/** "+31 −24" with a bar that is cropped to its content. */
export function size(additions, deletions) {
  const node = plusMinus(additions, deletions);
  const bar = node.querySelector("svg");
  const end = (one) => Number(one.getAttribute("x") ?? 0) + Number(one.getAttribute("width"));
  const width = Math.max(1, ...[...bar.children].map(end));
  bar.setAttribute("viewBox", `0 0 ${width} 6`);
  bar.style.width = `${width}px`;
  return node;
}

const note = (...words) => h("p", { class: "note" }, words);
const kind = (mode) => (KINDS[mode] ? `${KINDS[mode]} (${mode})` : mode);

/** The notes above the lines. */
export function notesOf(file) {
  const { old_mode: oldMode, new_mode: newMode, old_path: oldPath } = file;
  const moved = oldPath && oldPath !== file.path;
  const notes = [];
  if (moved) {
    const verb = file.status === "copied" ? "Copied" : "Renamed";
    const whole = file.old_oid === file.new_oid ? ", contents unchanged" : "";
    notes.push(note(`${verb} from `, h("code", {}, oldPath), `${whole}.`));
  }
  if (oldMode && newMode && oldMode !== newMode)
    notes.push(note(`Was ${kind(oldMode)}, is ${kind(newMode)}.`));
  else if (newMode === "100755" && file.status === "added") notes.push(note("An executable file."));
  if (file.encoding === "unknown")
    notes.push(note("Not UTF-8: what cannot be read is shown as �."));
  else if (file.encoding === "windows-1252")
    notes.push(note("Not UTF-8: read as Windows-1252 (Latin-1)."));
  return notes;
}

/** The note in place of lines, {node, lines?}; null when there are only lines to draw. */
export function instead(file) {
  const { old_mode: oldMode, new_mode: newMode } = file;
  if (oldMode === SUBMODULE || newMode === SUBMODULE) return submodule(file);
  if (isImage(file)) return { node: images(file), lines: !file.binary };
  if (file.binary)
    return { node: note("A binary file. Its bytes changed, there are no lines to show.") };
  const missing = [file.old_oid && file.old === null, file.new_oid && file.new === null];
  if (missing.some(Boolean))
    return { node: note("This clone does not have the contents: fetch the commit, then reload.") };
  if (!file.old && !file.new) return { node: note("An empty file.") };
  if (!file.edits.length && file.old === file.new && file.status !== "mode" && !file.old_path)
    return { node: note("No line changed.") };
  return null;
}

function submodule({ old_oid: old, new_oid: fresh }) {
  const short = (oid) => h("code", {}, oid.slice(0, 12));
  const words =
    old && fresh
      ? ["The submodule moved from ", short(old), " to ", short(fresh), "."]
      : ["A submodule ", old ? "that was at " : "at ", short(old ?? fresh), "."];
  return { node: note(words) };
}

/** "Load diff" with the count, for a large or generated file; null for any other. */
export function loadNote(file, load) {
  const lines = (file.additions ?? 0) + (file.deletions ?? 0);
  if (!file.generated && lines <= LARGE) return null;
  const many = withCommas(lines);
  const count = lines === 1 ? "1 changed line" : lines ? `${many} changed lines` : "no count yet";
  const why = file.generated ? `Made by a tool, ${count}.` : `${count}.`;
  const words = h("span", { class: "soft" }, why);
  return h("div", { class: "held" }, words, button("Load diff", { kind: "s", onclick: load }));
}

export const blanksNote = () => note("Changes of white space alone are hidden.");

/** The note below the lines when a side does not end with a newline. */
export function unendedNote(old, fresh) {
  if (!old && !fresh) return [];
  const sides = ["The new side does not end", "The old side does not end", "Neither side ends"];
  const said = sides[old && fresh ? 2 : Number(old)];
  return [h("p", { class: "note end" }, `${said} with a newline.`)];
}
