// Removed items: the files in backups/removed, each with a way to restore it.

import { get, post } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { sheet } from "../kit/dialog.js";
import { attempt, toast } from "../kit/toast.js";
import { plural, time } from "../kit/words.js";
import { route } from "./route.js";

const KINDS = { apps: "App", bookmarks: "Bookmarks" };

/** `home`: the directory the files are in, "" while unknown. */
export async function showRemovedItems({ home }) {
  const list = h("ul", { class: "rows removed" });
  const words = h("p", { class: "hint" });
  await show(list, words);
  sheet(
    "Removed items",
    h(
      "div",
      { class: "stack removed-items" },
      words,
      list,
      home &&
        h(
          "p",
          { class: "hint wrap-anywhere" },
          "They lie in ",
          h("code", {}, `${home}/backups/removed`),
          ".",
        ),
    ),
  );
}

async function show(list, words) {
  const { removed: all } = await get(route("removed"));
  words.textContent = all.length
    ? `${plural(all.length, "file")}, the newest first. Nothing is deleted.`
    : "What is removed here would be here, to be put back.";
  fill(
    list,
    all.map((one) => row(one, () => show(list, words))),
  );
}

function row({ kind, name, file, removedAt, exists }, again) {
  const restore = (event) =>
    attempt(event, async () => {
      const done = await post(route("removed", "restore"), { file });
      toast(`Restored: ${done.file}`);
      await again();
    });
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      icon(kind === "apps" ? "apps" : "folder", KINDS[kind]),
      h(
        "span",
        { class: "two-lines grow" },
        h("span", { class: "strong cut" }, name),
        h(
          "span",
          { class: "quiet tiny" },
          "removed ",
          time(removedAt),
          exists && ". There is one of this name again: rename that file first.",
        ),
      ),
      !exists &&
        button("Restore", { kind: "s", "aria-label": `Restore ${name}`, onclick: restore }),
    ),
  );
}
