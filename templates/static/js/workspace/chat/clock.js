// How long something has been going on, as a clock that goes on by itself.

import { h } from "../../kit/dom.js";
import { span } from "../../kit/words.js";

const since = (started) =>
  span(Math.max(1, Math.round((Date.now() - new Date(started).getTime()) / 1000)));

export function clock(started, look = "") {
  return h("span", { class: look, dataset: { since: started } }, since(started));
}

setInterval(() => {
  if (document.hidden) return;
  for (const node of document.querySelectorAll("[data-since]"))
    node.textContent = since(node.dataset.since);
}, 1000);
