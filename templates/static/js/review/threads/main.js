// Threads on the page of a commit: their cards, the boxes of new threads, the PR record, and the
// origin of the review. Other modules draw the diff around them; see readers.js and diff/view.js.
// Uncommitted changes have no PR record, no verdicts and no drafts.

import { button, fill, h, icon, refill } from "../../kit/dom.js";
import { action } from "../../kit/palette.js";
import { command, problem } from "../../kit/parts.js";
import { carriedBanner } from "../carried.js";
import { pace } from "../../kit/pace.js";
import { all, general, onComment, onFile, serve } from "../diff/view.js";
import { toast } from "../../kit/toast.js";
import { onBegin, onReload, onShown, threadsOf } from "../readers.js";
import { onOther, state, worktree } from "../state.js";
import { openPr, refreshPr } from "../pr.js";
import { Card, unsent } from "./card.js";
import { drawDrafts } from "./drafted.js";
import { placeBoxes, restore, tellGone, write } from "./fresh.js";
import { whenNear, whole } from "./near.js";
import { fromTop } from "./order.js";
import { along, leave, moveAbove, putNodesBack, settleAbove, stand } from "./places.js";
import { takeReview, load, onReview, isRendered } from "./review.js";
import { steady } from "./steady.js";
import { ApplyAll } from "./suggest.js";
import { drawVerdicts, tellVerdicts } from "./verdicts.js";
import { COMMENT, Walk } from "./walk.js";

const banners = document.getElementById("carried");
const cards = new Map(); // thread id → Card
const walk = new Walk(cards, general);
const applyAll = new ApplyAll();
const FEW = 40; // threads of a commit up to which all are whole at once
let bannered = "";
let latest = null;
/** @type {Promise<void> | undefined} */
let drawing; // resolves when the latest review is drawn

/** Draw a review; thousands of threads come in slices, and a newer review stops an older one. */
async function draw(review) {
  const top = !latest && unread();
  const calmly = top ? (act) => act() : steady;
  latest = review;
  tellOrigin(review);
  calmly(() => dismissBut(new Set(review.threads.map(({ id }) => id))));
  const few = review.threads.length <= FEW;
  for (const thread of review.threads) meet(thread, few);
  tell(review);
  const orders = new Map(review.threads.map((thread, order) => [thread, order]));
  const paths = state.commit.files.map(({ path }) => path);
  const left = fromTop(review.threads, paths).values(); // each card moves what is below it
  const breathe = pace({ early: top && !few });
  const drawOne = (thread) => {
    const card = cards.get(thread.id);
    card.draw();
    if (isRendered(thread)) stand(thread.id, card, placeOf(thread), orders.get(thread));
  };
  for (let rest; rest !== "done"; await rest) {
    calmly(() => (rest = drawSome(left, drawOne, breathe)));
    if (latest !== review) return;
  }
  calmly(() => drawDrafts(review.drafts, review.threads, placeOf));
  if (stands) keepUnsent();
  walk.arrive();
}

/** Update the bars, the tree and the heads of files; first, since it can make bars higher. */
function tell(review) {
  walk.say();
  if (!worktree) {
    tellVerdicts(review.verdicts, review.drafts.length);
    applyAll.show(review.threads);
  }
  threadsOf(openBy(review.threads));
}

/** Whether the reader is still at the top; without files, not measured, since that is costly. */
const unread = () => !all().length || !document.getElementById("main").scrollTop;

/** Draw until the slice of time is over: returns the promise to wait for, or "done". */
function drawSome(left, drawOne, breathe) {
  for (const thread of left) {
    drawOne(thread);
    const rest = breathe();
    if (rest) return rest;
  }
  return "done";
}

/** Create or update the card of a thread; if there are few, it is whole at once. */
function meet(thread, few) {
  const known = cards.get(thread.id);
  if (known) known.thread = thread;
  else cards.set(thread.id, new Card(thread, few ? (card) => card.complete() : whenNear));
}

/** Make cards with an unsent reply whole wherever they are, so that they outlive a deletion. */
function keepUnsent() {
  for (const id of unsent()) if (cards.has(id)) whole(cards.get(id));
}

function dismissBut(here) {
  for (const id of [...cards.keys()]) if (!here.has(id)) dismiss(id);
}

/** Remove the card of a deleted thread, unless something is being written in it. */
function dismiss(id) {
  const card = cards.get(id);
  if (card.writing) {
    card.markDeleted();
    return;
  }
  cards.delete(id);
  leave(id);
}

/** The place of a thread; one without a place in the commit is above all files, never folded. */
const placeOf = ({ path, side, line, placement }) => ({
  path: placement === "none" ? null : path,
  side,
  line,
});

function openBy(threads) {
  const open = new Map();
  for (const { path, resolved } of threads)
    if (path && !resolved) open.set(path, (open.get(path) ?? 0) + 1);
  return open;
}

function tellOrigin(review) {
  const { parse_error: error, target_file: target, file, warnings } = review;
  const said = JSON.stringify([error, warnings, carriedBanner(review)?.textContent]);
  if (said === bannered) return;
  bannered = said;
  refill(
    banners,
    error && yamlProblem(file ?? target, error),
    warnings.length > 0 && warningBanner(warnings),
    carriedBanner(review),
  );
}

const yamlProblem = (file, error) => {
  const words = `The review file is not valid YAML, ${error}. Mend it by hand: until then the last good state is shown, and nothing can be written.`;
  const node = problem(words);
  node.querySelector("div").append(command(file, "the path of the file"));
  return node;
};

const warningBanner = (warnings) =>
  h(
    "div",
    { class: "banner warn" },
    icon("alert"),
    h(
      "div",
      {},
      warnings.map((one) => h("p", {}, one)),
    ),
  );

const refresh = () => Promise.all([load(), !worktree && refreshPr()]);

/** Draw the parts that only a commit has. */
function drawOwn() {
  const details = button("PR details", { icon: "pencil", id: "pr", onclick: openPr });
  document.getElementById("head-actions").append(details);
  document.getElementById("threadtools").append(applyAll.node);
  drawVerdicts();
  action("PR details", () => details.click(), { icon: "pencil" });
}

/** Set up the page, once, when the first record has arrived. */
function furnish() {
  if (!worktree) drawOwn();
  document.getElementById("threadtools").append(walk.tools);
  action(COMMENT, () => write({}), { icon: "say" });
  settleAbove(general);
  onComment((chosen) => {
    const why = refusal(chosen);
    if (why) {
      toast(why);
      return;
    }
    const opener = /** @type {HTMLElement | null} */ (document.activeElement);
    write(chosen, () => opener?.isConnected && opener.focus({ preventScroll: true }));
  });
  onReview((review) => (drawing = draw(review)));
  onReview((review) => stands && restoreOnce(review));
  onFile(async (view) => {
    await putNodesBack(view);
    if (view.gone) return;
    placeBoxes(view);
    walk.arrive();
  });
  onReload((what) => what === "commit" && refresh().catch(() => {}));
}

let furnished = false;
let stands = false; // whether the first files are drawn
/** @type {Promise<void> | undefined} */
let begun;

/** Resolve when the threads that are visible first are drawn. */
async function begin({ review }) {
  const { life } = state;
  if (!furnished) furnish();
  furnished = true;
  const complete = review && (await takeReview(review));
  if (life.aborted) return;
  const reading = complete || read();
  if (!latest) await reading;
  await waitForDrawing();
}

async function read() {
  const { life } = state;
  try {
    await load();
  } catch (error) {
    if (!life.aborted) fill(banners, problem(`The threads could not be read: ${error.message}`));
  }
}

async function waitForDrawing() {
  for (let seen; seen !== drawing;) await (seen = drawing);
}

async function arrive() {
  const { life, hash } = state;
  await begun;
  if (life.aborted) return;
  stands = true;
  keepUnsent();
  if (latest) restoreOnce(latest);
  await waitForDrawing();
  if (life.aborted) return;
  walk.tools.disabled = false;
  walk.byHash(hash);
}

/** Why the lines cannot be commented on: they belong to another version; null if they can. */
function refusal({ side }) {
  if (state.compare?.to) return "This is an older version: comments go to the current one.";
  if (state.compare && side === "LEFT")
    return "The old lines are those of another version: comment on the new ones.";
  return null;
}

let restored = null; // the life of the commit for which it was done

/** Restore unsent text once per commit, after its first review was read. */
function restoreOnce(review) {
  const { life } = state;
  if (restored !== life) restore(review);
  restored = life;
}

onOther(() => {
  cards.clear();
  latest = null;
  stands = false;
  bannered = "";
  fill(banners);
  applyAll.show([]);
  walk.forget();
});
serve({
  along,
  beforeDrop(view) {
    steady(() => moveAbove(view));
    tellGone(view);
  },
});
onBegin((record) => (begun = begin(record)));
onShown(arrive);
