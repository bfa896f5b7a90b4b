// Links to a line of a file in the user's editor, where one is set (SVC_EDITOR_URL).

import { h, icon } from "./dom.js";

const NO_TEXT = /\\x[0-9A-F]{2}/; // an escaped byte of a name that is not text: it has no URL

/**
 * The URL that opens line `line` of `path` below the directory `root`; null without an editor, and
 * for a path that is not below `root`.
 * @param {string | undefined} root
 * @param {string} path
 * @param {number | null} [line]
 */
export function inEditor(root, path, line) {
  const template = document.body.dataset.editor;
  if (!template || !root?.startsWith("/")) return null;
  const whole = path.startsWith("/") ? path : `${root.replace(/\/+$/, "")}/${path}`;
  const odd = whole.split("/").some((part) => part === ".." || part === ".");
  if (odd || NO_TEXT.test(path) || !whole.startsWith(`${root.replace(/\/+$/, "")}/`)) return null;
  const shown = whole.split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", () => shown).replaceAll("{line}", String(line ?? 1));
}

/**
 * The link to that URL, or null.
 * @param {string | undefined} root
 * @param {string} path
 * @param {number | null} [line]
 */
export function editorLink(root, path, line) {
  const href = inEditor(root, path, line);
  if (!href) return null;
  const words = `Open ${path}${line ? `, line ${line},` : ""} in the editor`;
  const props = {
    class: "btn ghost s only in-editor",
    href,
    "aria-label": words,
    title: "Open in the editor",
  };
  return h("a", props, icon("out"));
}
