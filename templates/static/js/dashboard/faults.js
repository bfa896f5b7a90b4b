// The errors of files, each with its line, and whether the last good version is in use.

import { button, h, icon } from "../kit/dom.js";
import { copy } from "../kit/toast.js";
import { plural } from "../kit/words.js";

const SHOWN = 3;
const EDITED = /^(apps|bookmarks)\/([a-z0-9-]+)\.ya?ml$/;
const SINGLE = /^(config|ignore)\.yaml$/;

/** The arguments that open the editor of a file: ["apps", "shop"]; null if it has no editor. */
function editable(file) {
  const [, kind, name] = EDITED.exec(file) ?? [];
  const [, single] = SINGLE.exec(file) ?? [];
  return kind ? [kind, name] : single ? [single, single] : null;
}

/** `home`: the directory the files are in, "" while unknown; `edit(kind, name)` opens an editor. */
export function faults(list, { home, edit }) {
  const errors = list.filter(({ level }) => level === "error");
  const first = [...errors, ...list.filter(({ level }) => level !== "error")];
  const more = first.length - SHOWN;
  const draw = (one) => fault(one, home, edit);
  return h(
    "section",
    { class: `banner ${errors.length ? "bad" : "warn"}`, "aria-label": "Problems with files" },
    icon("alert"),
    h(
      "div",
      {},
      h("ul", { class: "faults" }, first.slice(0, SHOWN).map(draw)),
      more > 0 &&
        h(
          "details",
          {},
          h("summary", { class: "link" }, plural(more, "more", "more")),
          h("ul", { class: "faults" }, first.slice(SHOWN).map(draw)),
        ),
    ),
  );
}

function fault({ file, line, message, kept }, home, edit) {
  const place = editable(file);
  const path = `${home}/${file}`;
  return h(
    "li",
    {},
    h(
      "span",
      { class: "wrap-anywhere" },
      h("code", {}, file),
      line ? `, line ${line}: ` : ": ",
      /[.?!]$/.test(message) ? message : `${message}.`,
      kept ? " The last good version is in use." : "",
    ),
    file.includes(".y") &&
      h(
        "span",
        { class: "line" },
        place &&
          button("Open editor", {
            kind: "s",
            "aria-label": `Open editor: ${file}`,
            onclick: () => edit(...place),
          }),
        home &&
          button("", {
            icon: "copy",
            kind: "s ghost only",
            "aria-label": `Copy the path of ${file}`,
            title: path,
            onclick: () => copy(path, `Copied: ${path}`),
          }),
      ),
  );
}
