// Show two texts of one file side by side and ask which to keep. Nothing is discarded here: the
// caller keeps what was typed.

import { button, h } from "../kit/dom.js";
import { dialog } from "../kit/dialog.js";

const MOST = 4_000_000; // cells; in a larger comparison all lines between the equal ends differ

/**
 * Ask which text to keep of a file that changed on disk. `theirs` is its text there, null when it
 * was deleted. Resolves to "theirs", "mine" or "edit" (also for Esc).
 */
export function conflict({ file, theirs, mine }) {
  return new Promise((resolve) => {
    let chosen = "edit";
    const choose = (word) => () => {
      chosen = word;
      node.close();
    };
    const gone = theirs === null;
    const [left, right] = alignedLines(theirs ?? "", mine);
    const node = dialog(
      "The file changed on disk",
      h(
        "h2",
        { class: "big" },
        gone ? "The file was removed on disk." : "The file changed on disk.",
      ),
      h(
        "p",
        { class: "soft small wrap-anywhere" },
        h("code", {}, file),
        ": your text is kept until you choose.",
      ),
      h(
        "div",
        { class: "sides" },
        side("On disk", left, "del", gone && "There is no file any more."),
        side("Yours", right, "add"),
      ),
      h(
        "div",
        { class: "line wrap spaced" },
        button("Keep editing", { onclick: choose("edit"), autofocus: true }),
        !gone && button("Take theirs", { onclick: choose("theirs") }),
        button("Save mine over it", { kind: "danger", onclick: choose("mine") }),
      ),
    );
    node.classList.add("conflict");
    node.addEventListener("close", () => resolve(chosen));
  });
}

const side = (title, lines, tone, instead) =>
  h(
    "section",
    {},
    h("h3", {}, title),
    h(
      "div",
      { class: "side", tabindex: "0", role: "region", "aria-label": title },
      instead
        ? h("p", { class: "soft small" }, instead)
        : lines.map(({ number, text, same }) =>
            h(
              "div",
              { class: same ? "sideline" : `sideline ${tone}` },
              h("span", { class: "n", "aria-hidden": "true" }, number ? String(number) : ""),
              h("span", {}, text || "\u00a0"),
            ),
          ),
    ),
  );

/** Both texts as lines {number, text, same}; a line that only one has faces an empty one. */
export function alignedLines(left, right) {
  const [a, b] = [left.split("\n"), right.split("\n")];
  const sides = [[], []];
  let [i, j] = [0, 0];
  const put = (n, m, same) => {
    if (n > i || m > j) {
      for (let k = 0; k < Math.max(n - i, m - j); k += 1) {
        sides[0].push(
          i + k < n ? { number: i + k + 1, text: a[i + k], same } : { text: "", same: true },
        );
        sides[1].push(
          j + k < m ? { number: j + k + 1, text: b[j + k], same } : { text: "", same: true },
        );
      }
      [i, j] = [n, m];
    }
  };
  for (const [n, m] of common(a, b)) {
    put(n, m, false);
    put(n + 1, m + 1, true);
  }
  put(a.length, b.length, false);
  return sides;
}

/** The longest common subsequence of lines, as positions [in a, in b]. */
function common(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const rest = Math.min(a.length, b.length) - head;
  while (tail < rest && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const [n, m] = [a.length - head - tail, b.length - head - tail];
  const found = Array.from({ length: head }, (_, at) => [at, at]);
  if (n * m <= MOST) found.push(...longest(a.slice(head, head + n), b.slice(head, head + m), head));
  for (let at = tail; at > 0; at -= 1) found.push([a.length - at, b.length - at]);
  return found;
}

function longest(a, b, offset) {
  const wide = b.length + 1;
  const best = new Uint32Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      best[i * wide + j] =
        a[i] === b[j]
          ? best[(i + 1) * wide + j + 1] + 1
          : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
  const found = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) found.push([offset + i++, offset + j++]);
    else if (best[(i + 1) * wide + j] >= best[i * wide + j + 1]) i += 1;
    else j += 1;
  }
  return found;
}
