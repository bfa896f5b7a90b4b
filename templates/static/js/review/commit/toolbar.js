// The settings of the diff: one or two columns, white space, wrapping, folding; and a file's menu.

import { button, fill, h } from "../../kit/dom.js";
import { inEditor } from "../../kit/editor.js";
import { menu } from "../../kit/menu.js";
import { copy } from "../../kit/toast.js";
import { look, setLook } from "../diff/look.js";
import { all, painter, redraw } from "../diff/view.js";
import { state } from "../state.js";

const list = document.getElementById("files");

const layout = (split) =>
  h("button", { type: "button", onclick: () => setSplit(split) }, split ? "Split" : "Unified");
const unified = layout(false);
const two = layout(true);
const quiet = button("Hide whitespace", { kind: "ghost s phone-hide", onclick: toggleQuiet });
const more = button("", {
  kind: "ghost s only",
  icon: "more",
  "aria-label": "More ways to show it",
});

export function drawToolbar() {
  const seg = h("span", { class: "seg", role: "group", "aria-label": "Layout" }, unified, two);
  fill(document.getElementById("viewtools"), quiet, seg, menu(more, choices));
  tell();
}

function tell() {
  unified.setAttribute("aria-pressed", String(!look.split));
  two.setAttribute("aria-pressed", String(look.split));
  quiet.setAttribute("aria-pressed", String(look.quiet));
  list.classList.toggle("nowrap", !look.wrap);
}

export function setSplit(split) {
  if (split === look.split) return;
  setLook({ split });
  tell();
  redraw();
}

function toggleQuiet() {
  setLook({ quiet: !look.quiet });
  tell();
  redraw();
}

function choices() {
  const spaces = look.spaces ? "Hide tabs and blanks" : "Show tabs and blanks";
  return [
    {
      label: look.quiet ? "Show whitespace changes" : "Hide whitespace changes",
      icon: "eye",
      act: toggleQuiet,
    },
    { label: spaces, icon: "eye", act: toggleSpaces },
    {
      label: look.wrap ? "Do not wrap long lines" : "Wrap long lines",
      icon: "menu",
      act: toggleWrap,
    },
    "-",
    { label: "Fold all files", icon: "right", act: () => foldAll(true) },
    { label: "Unfold all files", icon: "down", act: () => foldAll(false) },
  ];
}

function toggleSpaces() {
  setLook({ spaces: !look.spaces });
  painter.show(look.spaces);
}

function toggleWrap() {
  setLook({ wrap: !look.wrap });
  tell();
}

function foldAll(folded) {
  for (const view of all()) view.fold(folded);
  if (!folded) for (const view of all()) if (view.near) view.draw();
}

/** The menu of one file's header; `more` adds items of the page. */
export function fileMenu(view, more = () => []) {
  menu(view.more, () => {
    const nothing = !view.sheet && { disabled: true, why: "No lines are shown" };
    const [first] = view.file.edits ?? [];
    const there = view.file.status !== "deleted";
    const address = there && inEditor(state.root, view.path, first?.[2]);
    return [
      address && {
        label: "Open in the editor",
        icon: "out",
        act: () => location.assign(address),
      },
      { label: "Show the whole file", icon: "file", act: () => view.sheet.whole(), ...nothing },
      { label: "Copy the path", icon: "copy", act: () => copy(view.path, "Copied the path") },
      {
        label: "Copy a link to this file",
        icon: "out",
        act: () =>
          copy(`${location.origin}${location.pathname}#${encodeURI(view.path)}`, "Copied the link"),
      },
      ...more(),
    ];
  });
}
