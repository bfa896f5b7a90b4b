// Whether the service answers. When the connection is lost, every state shape turns hollow and a
// bar appears, after the time that the page allows for recovery (data-patience, in ms; default 0).

import { h, icon, mark } from "./dom.js";

const bars = /** @type {HTMLElement} */ (document.getElementById("bars"));
const live = /** @type {HTMLElement} */ (document.getElementById("live"));
const LIVE = { shape: "up", tone: "up", word: "Live: changes arrive by themselves" };
const patience = Number(document.body.dataset.patience ?? 0);
const AGAIN = 1000; // ms until the health of the service is checked
const LOST = { shape: "stopped", tone: "stopped", word: "Not connected" };

let state = "";
let unbroken = true;
let streams = false; // whether the stream of events is connected, as it reports itself
let asking = 0;
/** @type {HTMLElement | null} */
let bar = null;
let timer = 0;

export const connection = {
  /** Whether there was no loss since the page loaded; after one, another release may answer. */
  get unbroken() {
    return unbroken;
  },
  up() {
    streams = true;
    clearTimeout(timer);
    clearTimeout(asking);
    timer = asking = 0;
    if (state === "up") return;
    state = "up";
    bar?.remove();
    bar = null;
    document.body.classList.remove("offline");
    show(LIVE);
  },
  reportLoss() {
    streams = false;
    beginLoss();
  },
  /** A request failed: check now, since the stream would notice a loss only after half a minute. */
  reportFailure() {
    beginLoss();
    if (streams) asking ||= setTimeout(ask, AGAIN);
  },
  /** A request was answered. */
  reportAnswer() {
    if (streams && (timer || state === "lost")) connection.up();
  },
};

function beginLoss() {
  unbroken = false;
  if (state !== "lost") timer ||= setTimeout(turn, patience);
}

async function ask() {
  const health = `${document.body.dataset.base ?? ""}/api/health`.replace("//", "/");
  const there = await fetch(health, { cache: "no-store" }).then(
    () => true,
    () => false,
  );
  asking = 0;
  if (there) connection.reportAnswer();
  else connection.reportFailure();
}

function turn() {
  timer = 0;
  state = "lost";
  document.body.classList.add("offline");
  bar = h(
    "div",
    { class: "bar warn" },
    icon("alert"),
    h("span", {}, "Connection lost. Trying again. What you see may be old."),
  );
  bars.append(bar);
  show(LOST);
}

/** @param {{shape: string, tone: string, word: string}} look */
function show(look) {
  live.hidden = false;
  live.title = look.word;
  live.replaceChildren(mark(look));
}
