// New threads being written. Their text is kept in this browser under the project, the file and the
// text of the line, so that it is restored at its place after a reload and after a rebase.

import { draftOf, draftsUnder } from "../../kit/drafts.js";
import { isHere, parseIdentity, whose } from "../became.js";
import { goTo } from "../diff/view.js";
import { lookAgain } from "../readers.js";
import { onOther, state, worktree } from "../state.js";
import { Composer } from "./composer.js";
import { leave, onPage, stand, viewOf } from "./places.js";
import { create, saveDraft } from "./review.js";
import { textOf } from "./suggest.js";
import { isOld, lines, whole } from "./words.js";

const NEW = "new ";
const LAST = 1e6; // order at a place: after every thread
const FAR = 20_000; // lines searched for the text of a line
const MOVED = new Set(["changed", "moved"]); // refusals: files changed since the look
const boxes = new Map(); // draft name → {box, meta, at, look, gone}

const sameSpot = (a, b) =>
  a.path === b.path && a.side === b.side && a.line === b.line && a.start === b.start;

/** Write about `selection` = {path, side, start, end}, a whole file {path}, or the commit {}. */
export function write({ path = null, side = null, start = null, end = null }, after) {
  const at = { path, side: path && end ? side : null, line: end, start: start ?? end };
  const known = [...boxes.values()].find((one) => sameSpot(one.at, at));
  const { box } = known ?? openBox(metaOf(at), at);
  box.after = after;
  box.focus();
  box.node.scrollIntoView({ block: "nearest" });
}

function metaOf({ path, side, line, start }) {
  const view = line ? viewOf(path) : null;
  const lines = Array.from({ length: view ? line - start + 1 : 0 }, (_, n) =>
    view.lineText(isOld(side) ? "LEFT" : "RIGHT", start + n),
  );
  return { ...whose(), path, side, line, start, text: lines.join("\n") };
}

const nameOf = (meta) => NEW + JSON.stringify(meta);

function openBox(meta, at, note) {
  const { life } = state;
  const name = nameOf(meta);
  const one = { meta, at, look: viewOf(at.path)?.look };
  const box = new Composer({
    name,
    label: `New comment on ${words(at)}`,
    placeholder: "Comment, Markdown works",
    verb: "Comment",
    lines: at.line && !isOld(at.side) ? () => textOf(one.at) : undefined,
    note: note ?? noteOf(at),
    send: (text) => sendText(create, text),
    keep: worktree ? null : (text) => sendText(saveDraft, text),
    leave: (kept) => {
      if (!kept) close(name);
      box.after?.();
    },
  });
  async function sendText(how, text) {
    try {
      refuseGone(one);
      await how(fields(one), text);
    } catch (error) {
      if (!worktree || !MOVED.has(error.code)) throw error;
      await lookAfterRefusal(name, one);
      await how(fields(one), text);
    }
    close(name);
    if (!life.aborted) box.after?.();
  }
  box.onRestore = () => !life.aborted && show(name, one);
  one.box = box;
  show(name, one);
  return one;
}

function show(name, one) {
  boxes.set(name, one);
  stand(name, one.box, one.at, LAST);
}

function close(name) {
  boxes.delete(name);
  leave(name);
}

const words = ({ path, line, start }) =>
  path === null ? whole : line ? `${lines(line, start)} of ${path}` : path;

const noteOf = ({ line, start }) =>
  line && start !== line ? `On ${lines(line, start)}` : undefined;

const fields = ({ at: { path, side, line, start }, look }) => ({
  ...(path !== null && { path }),
  ...(line && { side, line }),
  ...(line && start !== line && { start_line: start, start_side: side }),
  ...(worktree && path !== null && { look }),
});

/** Look again after a refusal: the line may have another number now; an Error if it is gone. */
async function lookAfterRefusal(name, one) {
  await lookAgain();
  const view = viewOf(one.at.path);
  await view?.drawing;
  refuseGone(one);
  if (view) moveAlong(name, one, view);
  if (one.gone) throw new Error(one.gone);
}

const asHead = (path) => `${path} is now as HEAD has it.`;

/** An Error if the file of a comment is no longer among the uncommitted changes. */
function refuseGone({ at: { path } }) {
  if (worktree && path !== null && !onPage(path)) throw new Error(asHead(path));
}

/** A file leaves the page: say so in the boxes of comments on it. */
export function tellGone({ path }) {
  for (const one of boxes.values()) {
    if (!worktree || one.at.path !== path) continue;
    one.gone = asHead(path);
    one.box.fail(one.gone);
  }
}

// -- unsent text of earlier visits ---------------------------------------------------------------

/** Restore unsent text of this commit, or of its version before a rebase. */
export async function restore(review) {
  const { life } = state;
  for (const name of draftsUnder(NEW)) {
    const meta = parseIdentity(name, NEW);
    if (!meta || boxes.has(name) || !draftOf(name)) continue;
    const here = await isHere(meta, review);
    if (life.aborted) return;
    if (here) settle(meta);
  }
}

function settle(meta) {
  const { path, side, line, start } = meta;
  if (path === null) openBox(meta, { path, side: null, line: null, start: null });
  else if (!onPage(path))
    openBox(
      meta,
      { path: null, side: null, line: null, start: null },
      `About ${words(meta)}, which ${worktree ? "HEAD has now" : "this commit does not change any more"}. It will be sent about ${whole}.`,
    );
  else if (!line) openBox(meta, { path, side: null, line: null, start: null });
  else waiting.push({ meta, at: { path, side, line, start } });
  const view = viewOf(path);
  if (view) placeBoxes(view);
  else if (line && onPage(path)) goTo(path);
}

const waiting = []; // boxes of files that are not drawn yet

onOther(() => {
  boxes.clear();
  waiting.length = 0;
});

/** A file was drawn: place the boxes that waited for its lines, by the text of the line. On
 * uncommitted changes, which may have moved, also place the open boxes again. */
export function placeBoxes(view) {
  if (worktree)
    for (const [name, one] of boxes) if (one.at.path === view.path) moveAlong(name, one, view);
  for (const one of waiting.filter(({ meta }) => meta.path === view.path)) {
    waiting.splice(waiting.indexOf(one), 1);
    const { meta } = one;
    const line = nearest(view, meta);
    if (line === null) {
      const note = `About ${words(meta)}, which is gone: “${meta.text.trim()}”. It will be sent about the whole file.`;
      openBox(meta, { path: meta.path, side: null, line: null, start: null }, note);
    } else openBox(meta, { ...one.at, line, start: meta.start + line - meta.line });
  }
}

function moveAlong(name, one, view) {
  const { at, meta, box } = one;
  if (at.line && !view.sheet) return;
  const line = at.line && nearest(view, { ...at, text: meta.text });
  if (at.line && !line) {
    one.gone = `The line has changed since you began to write: “${meta.text.trim()}” is gone.`;
    box.fail(one.gone);
    return;
  }
  if (one.gone) box.well();
  one.gone = "";
  one.look = view.look; // with this line only: a number of one look is another line of the next
  if (line === at.line) return;
  one.at = { ...at, line, start: at.start + line - at.line };
  box.name(`New comment on ${words(one.at)}`, noteOf(one.at));
  show(name, one);
}

/** The last line of that text, of one line or several, nearest to its previous number; else null. */
function nearest(view, { side, line, text }) {
  const lines = text.split("\n").reverse();
  const lineAt = (n) => view.lineText(isOld(side) ? "LEFT" : "RIGHT", n);
  const is = (n) => n >= lines.length && lines.every((one, up) => lineAt(n - up) === one);
  for (let away = 0; away < FAR; away += 1) {
    if (is(line - away)) return line - away;
    if (is(line + away)) return line + away;
  }
  return null;
}
