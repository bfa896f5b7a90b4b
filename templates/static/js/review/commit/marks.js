// Viewed marks: set at once, put back when the service refuses, undone by a toast.

import { put } from "../../kit/api.js";
import { meter } from "../../kit/bars.js";
import { fill, h } from "../../kit/dom.js";
import { toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { all, goTo, viewOf } from "../diff/view.js";
import { at, state } from "../state.js";

const watchers = new Set();
/** Call back when marks or counts changed. */
export const onMarks = (callback) => watchers.add(callback);

export function tellMarks() {
  const { viewed, files } = state.commit.progress;
  const words = `${viewed} of ${files} viewed`;
  fill(
    document.getElementById("progress"),
    h("span", { class: "small soft" }, words),
    meter(viewed, files, `${viewed} of ${plural(files, "file")} viewed`),
  );
  for (const callback of watchers) callback();
}

function note(file, viewed) {
  if (file.viewed === viewed && !file.changed_since_viewed) return;
  state.commit.progress.viewed += Number(viewed) - Number(file.viewed);
  Object.assign(file, { viewed, changed_since_viewed: false });
  viewOf(file.path)?.say();
}

let writing = 0;
let written = 0;

/** Changes whenever marks were written; NaN, which equals nothing, while they are. */
export const turn = () => (writing ? NaN : written);

/** Mark files, or take the marks off. One after another: each is a write of the same file. */
export async function setViewed(files, viewed, { undo = true } = {}) {
  const before = files.map((file) => [file, file.viewed, file.changed_since_viewed]);
  const differs = (file) => file.viewed !== viewed || file.changed_since_viewed;
  const changed = undo ? files.filter(differs) : files; // to undo is to undo all that was sent
  for (const file of changed) {
    note(file, viewed);
    viewOf(file.path)?.fold(viewed);
  }
  tellMarks();
  let sent = 0;
  writing += 1;
  try {
    for (const { path } of changed) {
      state.commit.progress.viewed = (await put(at("viewed"), { path, viewed })).progress.viewed;
      sent += 1;
    }
  } catch (error) {
    for (const [file, old, stale] of before.filter(([file]) => changed.indexOf(file) >= sent)) {
      note(file, old);
      file.changed_since_viewed = stale;
      viewOf(file.path)?.say();
    }
    toast(`Not marked: ${error.message}`, { bad: true });
  } finally {
    writing -= 1;
    written += 1;
  }
  tellMarks();
  if (!undo || !sent) return;
  const what = sent === 1 ? changed[0].path.split("/").at(-1) : plural(sent, "file");
  const words = viewed ? `Viewed ${what}` : `${what}: no longer viewed`;
  toast(words, {
    action: "Undo",
    act: () => setViewed(changed.slice(0, sent), !viewed, { undo: false }),
  });
}

/** Mark the file and go to the next one that is not viewed, or stay. */
export async function viewedKey(view, { stay }) {
  if (!view) return;
  const wanted = !view.file.viewed;
  const done = setViewed([view.file], wanted);
  if (wanted && !stay) await nextUnviewed(view);
  else view.element.focus({ preventScroll: true });
  await done;
}

async function nextUnviewed(view) {
  const list = all();
  const here = list.indexOf(view);
  const next = [...list.slice(here + 1), ...list.slice(0, here)].find(({ file }) => !file.viewed);
  if (next) await goTo(next.path);
  else view.element.focus({ preventScroll: true });
}
