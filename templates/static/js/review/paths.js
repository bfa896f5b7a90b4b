// Paths of this machine on a page: shortened to ~/…, with the error of an invalid file, to copy.

import { button, h } from "../kit/dom.js";
import { attempt, copy } from "../kit/toast.js";

const { home } = document.body.dataset;

/** "/home/u/src/api" → "~/src/api" */
export const tilde = (path) =>
  home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path;

export const copyPath = (path) =>
  button("Copy path", {
    icon: "copy",
    kind: "s",
    "aria-label": `Copy path of ${tilde(path)}`,
    onclick: (event) => attempt(event, () => copy(path, "Path copied")),
  });

const BROKEN = /^(?:\S+: )?line (\d+), column (\d+): (.*)$/s;

/** The words about an invalid file: "~/…/x.yaml, line 12, column 3: why". */
export function invalidFileWords(path, error) {
  const [, line, column, why] = BROKEN.exec(error) ?? [];
  return [
    h("code", { class: "wrap-anywhere" }, tilde(path)),
    line ? `, line ${line}, column ${column}: ${why}` : `: ${error}`,
    /[.!?]$/.test(why ?? error) ? " " : ". ",
  ];
}
