// Viewed marks: shown immediately, reverted when the service refuses, undone from a toast.

import { put } from "../../kit/api.js";
import { meter } from "../../kit/bars.js";
import { fill, h } from "../../kit/dom.js";
import { toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { all, goTo, viewOf } from "../diff/view.js";
import { at, onOther, state } from "../state.js";

const MOST = 1000; // files of one request
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

let writes = { running: 0, done: 0 };
/** @type {Promise<any>} */
let last = Promise.resolve();

/** Send marks after those that were sent before, so that the last press wins. */
function send(address, marks) {
  last = last.catch(() => {}).then(() => put(address, marks));
  return last;
}

/** A number that changes with every write of marks; NaN, which equals nothing, during a write. */
export const turn = () => (writes.running ? NaN : writes.done);

onOther(() => {
  writes = { running: 0, done: 0 };
  fill(document.getElementById("progress"));
});

/**
 * Mark files as viewed, or remove the marks. The files are those of the commit shown at the time of
 * the call, even if another commit is shown before the request ends.
 */
export function setViewed(files, viewed) {
  return mark(files, viewed, { address: at("viewed"), life: state.life });
}

async function mark(files, viewed, when, { undo = true } = {}) {
  const { address, life } = when;
  const counted = writes;
  const before = files.map((file) => [file, file.viewed, file.changed_since_viewed]);
  const differs = (file) => file.viewed !== viewed || file.changed_since_viewed;
  const changed = undo ? files.filter(differs) : files; // an undo resends all that was sent
  if (!life.aborted) {
    for (const file of changed) {
      note(file, viewed);
      viewOf(file.path)?.fold(viewed);
    }
    tellMarks();
  }
  let sent = 0;
  counted.running += 1;
  try {
    while (sent < changed.length) {
      const paths = changed.slice(sent, sent + MOST).map(({ path }) => path);
      const { progress } = await send(address, { paths, viewed });
      if (!life.aborted) state.commit.progress.viewed = progress.viewed;
      sent += paths.length;
    }
  } catch (error) {
    const refused = before.filter(([file]) => changed.indexOf(file) >= sent);
    for (const [file, old, stale] of life.aborted ? [] : refused) {
      note(file, old);
      file.changed_since_viewed = stale;
      viewOf(file.path)?.say();
    }
    toast(`Not marked: ${error.message}`, { bad: true });
  } finally {
    counted.running -= 1;
    counted.done += 1;
  }
  if (!life.aborted) tellMarks();
  if (!undo || !sent) return;
  const what = sent === 1 ? changed[0].path.split("/").at(-1) : plural(sent, "file");
  const words = viewed ? `Viewed ${what}` : `${what}: no longer viewed`;
  toast(words, {
    action: "Undo",
    act: () => mark(changed.slice(0, sent), !viewed, when, { undo: false }),
  });
}

/** Toggle the mark of a file; after marking, go to the next unviewed file unless `stay`. */
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
  (next ?? view).element.focus({ preventScroll: true }); // at once: the next key may follow at once
  if (next) await goTo(next.path);
}
