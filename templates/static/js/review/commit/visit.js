// From one commit to another in the frame that stays: what is kept of the one that is left.

import { saveDrafts } from "../../kit/drafts.js";
import { commitAt } from "../address.js";
import { reading } from "../diff/view.js";
import { turnTo } from "../state.js";

const scroller = document.getElementById("main");
const stepper = document.getElementById("stepper");
const left = new Map(); // key of an entry of the history → what stood at the top then

/**
 * Show the commit that the address names, from its top, until `life` ends. Returns where it was read
 * by who comes `back` to it, else null.
 */
export function enter(life, back) {
  const read = (back && left.get(window.navigation.currentEntry.key)) || null;
  const held = document.activeElement;
  const inside = held === document.body || (scroller.contains(held) && !stepper.contains(held));
  const commit = commitAt(new URL(location.href));
  if (turnTo({ ...commit, hash: read ? "" : commit.hash }, life)) {
    scroller.scrollTop = 0;
    if (inside) scroller.focus({ preventScroll: true }); // for the keys that scroll
  }
  life.addEventListener("abort", leave);
  return read;
}

function leave() {
  saveDrafts();
  const read = reading();
  if (read) left.set(window.navigation.transition.from.key, read);
}
