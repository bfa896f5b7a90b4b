// The page of one commit. Threads are drawn into it by threads/main.js, which uses diff/view.js,
// the records in state.js and the callbacks of readers.js.

import { get } from "../kit/api.js";
import { settle } from "../kit/dom.js";
import "../kit/shell.js";
import { soon } from "../kit/pace.js";
import { late } from "../kit/skeleton.js";
import { follow } from "../kit/stream.js";
import { frame } from "../kit/swap.js";
import { commitAt, namedBy, onNamed } from "./address.js";
import { current, goTo, serve, show, stand } from "./diff/view.js";
import { tellHead } from "./commit/head.js";
import { listKeys } from "./commit/keys.js";
import { onMarks, setViewed, tellMarks, turn } from "./commit/marks.js";
import { tellFound, tellMoved, tellTrouble } from "./commit/moved.js";
import { loadRail, markHere } from "./rail.js";
import { begin, countOpen, announceReload, announceShown } from "./readers.js";
import { route } from "./route.js";
import { at, state } from "./state.js";
import { ahead } from "./threads/review.js";
import { drawOnward } from "./commit/onward.js";
import { drawStepper, tellStepper } from "./commit/stepper.js";
import { drawToolbar, fileMenu } from "./commit/toolbar.js";
import { chooseVersions, showCompared } from "./commit/versions.js";
import { drawFind } from "./commit/find.js";
import { enter } from "./commit/visit.js";
import { drawTree, markCurrent, tell } from "./tree.js";

// How many file contents and rendered comments come first. The page preloads this very URL.
const FILES = 8;
const FIRST = `rendered=40&contents=${FILES}`;
const scroller = document.getElementById("main");
const list = document.getElementById("files");

const turns = { commit: Promise.resolve(), project: Promise.resolve() };

/** Read one at a time, so that an older answer never comes after a newer one. */
function reload(what = "commit") {
  const { life } = state;
  const name = what === "project" ? "project" : "commit";
  turns[name] = turns[name].then(() => read(name, life)).catch(reportError);
  return turns[name];
}

async function read(what, life) {
  if (what === "commit") return load(life);
  await loadRail();
  return announceReload("project");
}

/** Read the commit. Loaded contents are kept: they never change for the same objects. */
async function load(life) {
  if (life.aborted) return;
  const { sha } = state;
  const first = !state.commit;
  const before = turn();
  let found;
  if (first) ahead();
  try {
    [found] = await Promise.all([
      get(`${at()}?${first ? FIRST : "contents=none"}`),
      chooseVersions(),
    ]);
    if (state.compare && !life.aborted) await showCompared(found, first ? FILES : "none");
  } catch (error) {
    if (life.aborted) return;
    if (error.status === 404) await tellMoved(error);
    else tellTrouble(error, () => reload());
    return;
  }
  if (life.aborted) return;
  tellFound();
  const known = new Map((state.commit?.files ?? []).map((file) => [file.path, file]));
  // Marks written during this reading are newer than the answer; every write is followed by a read.
  const own = state.commit && before !== turn();
  if (own) found.progress.viewed = state.commit.progress.viewed;
  found.files = found.files.map((file) => mergeFile(known.get(file.path), file, own));
  Object.assign(state, { commit: found, review: found.review, sha: found.sha });
  if (sha !== found.sha) markHere();
  tellHead();
  tellStepper();
  countOpen(found.review);
  tellMarks();
  if (first) await soon(begin(found));
  if (life.aborted) return;
  await Promise.all([drawTree(), show(found.files)]);
  if (life.aborted) return;
  if (first) announceShown();
  else announceReload("commit");
}

/** A file of a new answer, merged into the known one if their contents are the same. */
function mergeFile(known, file, own) {
  if (known && own) {
    const { viewed, changed_since_viewed } = known;
    Object.assign(file, { viewed, changed_since_viewed });
  }
  if (!known || known.old_oid !== file.old_oid || known.new_oid !== file.new_oid) return file;
  const { viewed, changed_since_viewed } = file;
  return Object.assign(known, { viewed, changed_since_viewed });
}

// -- the reader's place --------------------------------------------------------------------------

const notice = settle(80, () => {
  const view = current();
  if (view) markCurrent(view.path);
});

/** Go to #path, #path:L12 or #path:L12-L15, on the new side; :LEFT12 is the old side. */
async function followHash(hash) {
  const named = namedBy(hash);
  if (!named || named.startsWith("thread-")) return;
  const [, path, side, line] = /^(.*?)(?::(L|LEFT|RIGHT)(\d+)(?:-L?\d+)?)?$/.exec(named) ?? [];
  await goTo(path, side === "LEFT" ? "LEFT" : "RIGHT", line ? Number(line) : null);
}

// -- events --------------------------------------------------------------------------------------

const wanted = new Set();
const refresh = settle(100, async () => {
  const what = [...wanted];
  wanted.clear();
  await Promise.all(what.map((one) => reload(one)));
});

function want(...what) {
  for (const one of what) wanted.add(one);
  refresh();
}

function onEvent(event) {
  const { type, project, repo, sha, reason } = event;
  if (project && project !== state.project) return;
  if (type === "review" || type === "pr") {
    const here = repo === state.repo && sha === state.sha;
    want("project", ...(here ? ["commit"] : []));
  } else if (reason === "git" || reason === "config" || reason === "resync" || type === "projects")
    want("commit", "project");
  else want("project");
}

function furnish() {
  drawToolbar();
  drawStepper();
  drawOnward();
  drawFind();
  serve({
    viewed: (view, viewed) => setViewed([view.file], viewed),
    counted: tell,
    menu: (view) => fileMenu(view),
  });
  onMarks(() => {
    tell();
    tellStepper();
  });
  listKeys();
  scroller.addEventListener("scroll", notice, { passive: true });
  document.addEventListener("focusin", notice);
  onNamed(followHash);
}

// -- from commit to commit -----------------------------------------------------------------------

furnish();
follow(route("events"), { open: () => want("commit", "project"), message: onEvent });
/** @type {Promise<unknown>} */
let rail = null; // the first reading of the rail, which stays for all commits

/** Show the commit of the URL; it is read again also when the user comes back to it. */
async function visit(life, back) {
  const read = enter(life, back);
  turns.commit = Promise.resolve();
  life.addEventListener("abort", late(list, "rows"));
  await Promise.all([reload("commit"), (rail ??= reload("project"))]);
  if (life.aborted) return;
  await (read ? stand(read) : followHash(state.hash));
  notice();
}

const nameOf = (address) => commitAt(address) && address.pathname + address.search;
frame(nameOf, () => ({ show: (life, { back }) => visit(life, back) }));
