// Navigation from one commit to another within the frame: what is remembered of the one left.

import { saveDrafts } from "../../kit/drafts.js";
import { commitAt } from "../address.js";
import { reading } from "../diff/view.js";
import { turnTo } from "../state.js";

const scroller = document.getElementById("main");
const stepper = document.getElementById("stepper");
const left = new Map(); // key of a history entry → the reading place at the time

/**
 * Show the commit of the URL, from its top, until `life` aborts. When the user comes `back`, return
 * the place where they were reading; else null.
 */
export function enter(life, back) {
  const read = (back && left.get(window.navigation.currentEntry.key)) || null;
  const held = document.activeElement;
  const inside = held === document.body || (scroller.contains(held) && !stepper.contains(held));
  const commit = commitAt(new URL(location.href));
  if (turnTo({ ...commit, hash: read ? "" : commit.hash }, life)) {
    scroller.scrollTop = 0;
    if (inside) scroller.focus({ preventScroll: true }); // so that scroll keys work
  }
  life.addEventListener("abort", leave);
  return read;
}

function leave() {
  saveDrafts();
  const read = reading();
  if (read) left.set(window.navigation.transition.from.key, read);
}
