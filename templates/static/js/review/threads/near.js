// Makes the cards near the viewport whole, if there are many; see card.js.

import { pace } from "../../kit/pace.js";
import { onOther } from "../state.js";
import { steady } from "./steady.js";

const MARGIN = 800; // px
const due = new Set(); // cards that are near and not whole yet
const cards = new WeakMap(); // their nodes → the cards
let busy = false;

const near = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) due.add(cards.get(target));
      else due.delete(cards.get(target));
    }
    if (!busy) complete();
  },
  { root: document.getElementById("main"), rootMargin: `${MARGIN}px 0px` },
);

/** Make a card whole when it comes near. */
export function whenNear(card) {
  cards.set(card.node, card);
  near.observe(card.node);
}

/** Make a card whole now. */
export function whole(card) {
  due.delete(card);
  near.unobserve(card.node);
  card.complete();
  return card;
}

async function complete() {
  busy = true;
  const breathe = pace({ early: false });
  try {
    for (let rest; due.size; await rest) steady(() => (rest = some(breathe)));
  } finally {
    busy = false;
  }
}

function some(breathe) {
  for (const card of due) {
    whole(card);
    const rest = breathe();
    if (rest) return rest;
  }
  return null;
}

onOther(() => {
  due.clear();
  near.disconnect();
});
