// The page of uncommitted changes: their diff, with a tick on each file for the next commit.

import { get, post, put } from "../kit/api.js";
import { button, fill, h, icon, settle } from "../kit/dom.js";
import { meter } from "../kit/bars.js";
import { draft } from "../kit/drafts.js";
import { menu } from "../kit/menu.js";
import "../kit/shell.js";
import { late } from "../kit/skeleton.js";
import { attempt, toast } from "../kit/toast.js";
import { plural, relative } from "../kit/words.js";
import { namedBy } from "./address.js";
import { listKeys } from "./commit/keys.js";
import { tellFound, tellTrouble } from "./commit/moved.js";
import { drawStepper, tellStepper } from "./commit/stepper.js";
import { drawToolbar, fileMenu } from "./commit/toolbar.js";
import { size } from "./diff/notes.js";
import { all, current, goTo, serve, show, viewOf } from "./diff/view.js";
import { live } from "./live.js";
import { loadRail } from "./rail.js";
import { begin, looksBy, announceReload, announceShown } from "./readers.js";
import { pageOf } from "./route.js";
import { at, state } from "./state.js";
import { load as loadReview, onReview } from "./threads/review.js";
import { drawTree, markCurrent, onTick, tell } from "./tree.js";

const FIRST = 8; // files whose contents come with the first answer
const LEAST = 4000; // ms between two looks while the page is read
const SHARE = 20; // pause between two looks, as a multiple of the time that a look takes
const node = (id) => document.getElementById(id);
const left = new Set(); // paths that are not ticked
const chosenFiles = () => state.commit.files.filter((file) => file.chosen);

const text = h("textarea", {
  class: "input",
  rows: "2",
  placeholder: "What the commit does",
  "aria-label": "Message of the commit",
});
const press = button("Commit", { icon: "check", kind: "primary", onclick: commit });
const form = h(
  "div",
  { class: "commitform" },
  text,
  h("div", { class: "line wrap" }, press, h("span", { class: "tiny quiet" }, "No hook is run.")),
);
const kept = draft(text, `commit:${state.project}:${state.repo}`);
text.addEventListener("blur", tellForm);
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  commit({ currentTarget: press });
});

// -- reading -------------------------------------------------------------------------------------

let discarded = []; // changes that can be restored
const earlier = button("Discarded", { kind: "ghost s", icon: "restart", hidden: true });
menu(earlier, () =>
  discarded.map(({ id, path, at: when }) => ({
    label: `Give back ${path}, discarded ${relative(when)}`,
    icon: "restart",
    act: () => giveBack(id),
  })),
);

async function loadDiscarded() {
  ({ discarded } = await get(at("discarded")));
  earlier.hidden = !discarded.length;
}

let turn = Promise.resolve();
let took = 0;

/** Look one at a time, so that an older answer never comes after a newer one. */
function reload() {
  turn = turn.then(load).catch(reportError);
  return turn;
}

async function load() {
  const began = performance.now();
  const first = !state.commit;
  let found;
  try {
    found = await get(`${at()}?contents=${first ? FIRST : "none"}`);
  } catch (error) {
    tellTrouble(error, reload);
    return;
  }
  took = performance.now() - began;
  tellFound();
  if (!first && found.look === state.commit.look && found.blocked === state.commit.blocked) return;
  const known = new Map((state.commit?.files ?? []).map((file) => [file.path, file]));
  found.files = found.files.map((file) =>
    mergeFile(known.get(file.path), { ...file, look: found.look }),
  );
  const paths = new Set(found.files.map(({ path }) => path));
  for (const path of left) if (!paths.has(path)) left.delete(path);
  found.progress = { viewed: 0, files: found.files.length };
  state.commit = found;
  tellHead();
  await Promise.all([drawTree(), show(found.files)]);
  tellChosen();
  if (first) begin(found).then(announceShown);
  else announceReload("commit");
}

/** A file of a new answer, merged into the known one if their contents are the same. */
function mergeFile(known, file) {
  const own = { ...marksOf(file), chosen: !left.has(file.path), look: file.look };
  const same = ["old_oid", "new_oid", "new_mode"].every((key) => known?.[key] === file[key]);
  return Object.assign(known && same ? known : file, own);
}

function tellHead() {
  const { branch, files, additions, deletions, blocked, left: out } = state.commit;
  node("title").textContent = "Not committed";
  fill(
    node("facts"),
    h("span", { class: "line tight-line" }, icon("branch"), branch ?? "on no branch"),
    h("span", {}, plural(files.length, "file")),
    files.length > 0 && size(additions, deletions),
    earlier,
    out.length > 0 && h("span", { title: out.join("\n") }, `${out.length} not compared`),
  );
  if (!form.isConnected) fill(node("message"), form);
  tellForm();
  const words = blocked && h("div", {}, `${blocked}.`);
  fill(node("blocked"), words && h("div", { class: "banner warn" }, icon("alert"), words));
}

/** Hide the form if there is nothing to commit, unless a message is being written in it. */
function tellForm() {
  form.hidden = !state.commit?.files.length && !text.value && document.activeElement !== text;
}

function tellChosen() {
  const { files, blocked, progress } = state.commit;
  const count = chosenFiles().length;
  progress.viewed = count;
  const all = count === files.length;
  const words = `${count} of ${files.length} for the commit`;
  fill(
    node("progress"),
    h("span", { class: "small soft" }, words),
    meter(count, files.length, words),
  );
  press.lastChild.textContent = `Commit ${all ? "" : `${count} of `}${plural(files.length, "file")}`;
  press.disabled = !count || Boolean(blocked);
  tell();
  tellStepper();
}

// -- ticking -------------------------------------------------------------------------------------

function pick(files, on) {
  for (const file of files) {
    file.chosen = on;
    if (on) left.delete(file.path);
    else left.add(file.path);
    viewOf(file.path)?.say();
  }
  tellChosen();
}

// -- viewed marks --------------------------------------------------------------------------------

let marked = { viewed: [], viewed_stale: [] };

const marksOf = ({ path }) => ({
  viewed: marked.viewed.includes(path),
  changed_since_viewed: marked.viewed_stale.includes(path),
});

function tellMarks(review) {
  marked = review;
  for (const view of all()) {
    Object.assign(view.file, marksOf(view.file));
    view.say();
  }
  if (state.commit) tell();
}

/** Set a viewed mark: show it immediately, then as the service has stored it. */
async function see(view, viewed) {
  const { path, look } = view;
  Object.assign(view.file, { viewed, changed_since_viewed: false });
  view.fold(viewed);
  view.say();
  tell();
  await attempt(null, () => put(at("viewed"), { path, viewed, ...(viewed && { look }) }));
  await loadReview();
}

// -- commit, discard -----------------------------------------------------------------------------

async function commit(event) {
  if (press.disabled || press.getAttribute("aria-busy")) return;
  if (!text.value.trim()) {
    text.focus();
    toast("Say in a line what the commit does.", { bad: true });
    return;
  }
  const files = chosenFiles().map(({ path }) => path);
  await attempt(event, async () => {
    text.readOnly = true; // text typed during the request would be lost with the message
    try {
      const wanted = { files, message: text.value, look: state.commit.look };
      const { sha, subject } = await post(at("commit"), wanted);
      text.value = "";
      kept.clear();
      if (files.length === state.commit.files.length) text.blur(); // no other commit to describe
      toast(`Committed ${sha.slice(0, 7)} ${subject}`, {
        action: "Open",
        act: () => location.assign(pageOf(state.project, state.repo, sha)),
      });
    } finally {
      text.readOnly = false;
      await reload();
    }
  });
}

async function discard({ path, element }) {
  element.setAttribute("aria-busy", "true");
  await attempt(null, async () => {
    try {
      const { id } = await post(at("discard"), { path, look: state.commit.look });
      loadDiscarded().catch(() => {}); // the toast has an Undo too
      toast(`Discarded ${path}`, { action: "Undo", act: () => giveBack(id) });
    } finally {
      element.removeAttribute("aria-busy");
      await reload();
    }
  });
}

const giveBack = (id) =>
  attempt(null, async () => {
    const { path } = await post(at("undo"), { id });
    await reload();
    toast(`${path} is back`);
  });

// -- following -----------------------------------------------------------------------------------

/** Look again while the page is visible and focused; the longer a look takes, the less often. */
function keepLooking() {
  const look = async () => {
    if (document.visibilityState === "visible" && document.hasFocus()) await reload();
    keepLooking();
  };
  setTimeout(look, Math.max(LEAST, SHARE * took));
}

function start() {
  drawToolbar();
  drawStepper();
  loadDiscarded().catch(() => {});
  const discardItems = (view) => [
    "-",
    { label: "Discard the changes", icon: "trash", act: () => discard(view) },
  ];
  serve({
    viewed: (view, on) => pick([view.file], on),
    counted: tell,
    menu: (view) => fileMenu(view, () => discardItems(view)),
    discard,
    seen: see,
  });
  onTick(pick);
  onReview(tellMarks);
  looksBy(reload);
  listKeys((view) => view && pick([view.file], !view.file.chosen));
  late(node("files"), "rows");
  const notice = settle(80, () => markCurrent(current()?.path));
  node("main").addEventListener("scroll", notice, { passive: true });
  document.addEventListener("focusin", notice);
  addEventListener("focus", reload);
  live(
    () => Promise.all([reload(), loadRail(), loadReview()]),
    ({ type, project }) => type === "projects" || project === state.project,
  );
  state.hash = location.hash;
  const [path] = namedBy(state.hash).split(/:(?=L|RIGHT)/);
  if (path && !path.startsWith("thread-")) turn.then(() => goTo(path));
  keepLooking();
}

start();
