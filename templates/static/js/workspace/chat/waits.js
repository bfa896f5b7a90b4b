// A turn that its model's provider refused for now: until when it waits, and what the user can do.

import { button, h, icon } from "../../kit/dom.js";
import { attempt } from "../../kit/toast.js";
import { absolute } from "../../kit/words.js";
import { countdown } from "./clock.js";

/** The banner of a waiting turn; `retry` tries again now. */
export function waits({ reason, until, try: number, of }, retry) {
  return h(
    "div",
    { class: "banner outcome warn waits" },
    icon("clock"),
    h(
      "div",
      {},
      h("b", {}, "Waits"),
      `: ${withFullStop(reason ?? "")} `,
      h("span", { title: absolute(until) }, `Try ${number} of ${of} `, countdown(until), "."),
    ),
    h(
      "span",
      { class: "line wrap" },
      button("Try now", {
        icon: "restart",
        kind: "s",
        onclick: (event) => attempt(event, retry),
      }),
    ),
  );
}

/** The line that replaces the banner once the next try has begun. */
export function retryLine({ try: number, of }) {
  return h(
    "p",
    { class: "says small notice" },
    icon("clock"),
    h("span", {}, `The provider took no more requests for a while: try ${number} of ${of}.`),
  );
}

const withFullStop = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
