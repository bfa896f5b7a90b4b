// Elapsed and remaining times that update themselves.

import { h } from "../../kit/dom.js";
import { span } from "../../kit/words.js";

const since = (started) =>
  span(Math.max(1, Math.round((Date.now() - new Date(started).getTime()) / 1000)));

export function clock(started, look = "") {
  return h("span", { class: look, dataset: { since: started } }, since(started));
}

const timeLeft = (until) => {
  const seconds = Math.round((new Date(until).getTime() - Date.now()) / 1000);
  return seconds < 1 ? "now" : `in ${span(seconds)}`;
};

/** The time left until `until`. */
export function countdown(until) {
  return h("span", { dataset: { until } }, timeLeft(until));
}

setInterval(() => {
  if (document.hidden) return;
  for (const node of document.querySelectorAll("[data-until]"))
    node.textContent = timeLeft(node.dataset.until);
  for (const node of document.querySelectorAll("[data-since]"))
    node.textContent = since(node.dataset.since);
}, 1000);
