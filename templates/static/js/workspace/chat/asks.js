// A permission question, answered where it stands.

import { h, icon, mark } from "../../kit/dom.js";
import { attempt } from "../../kit/toast.js";
import { time } from "../../kit/words.js";
import { stateOf } from "../words.js";
import { shown } from "./calls.js";
import { changeOf, drawChange } from "./edits.js";

/** The open question: what would be done, and two answers (keys A and D). */
export function question({ call, tool, input }, answer) {
  const id = `ask-${call}`;
  const change = changeOf({ name: tool, input });
  const act = (allow) => (event) => attempt(event, () => answer(call, allow));
  const choice = (allow, kind, words, letter) =>
    h(
      "button",
      { type: "button", class: `btn ${kind}`, onclick: act(allow), "aria-keyshortcuts": letter },
      `${words} `,
      h("span", { class: "kbd", "aria-hidden": "true" }, letter),
    );
  return h(
    "div",
    { class: "ask", role: "group", "aria-labelledby": id },
    h("header", { id }, icon("shield"), h("span", {}, `${tool} asks to run`)),
    h(
      "div",
      {},
      change
        ? [h("p", { class: "mono small" }, change.path), drawChange(change)]
        : h(
            "pre",
            { class: "codeblock", tabindex: "0", "aria-label": "What it would do" },
            shown(input) || "(no arguments)",
          ),
      h(
        "div",
        { class: "line wrap" },
        choice(true, "primary", "Allow once", "A"),
        choice(false, "danger", "Deny", "D"),
      ),
    ),
  );
}

/** What became of a question, in one line. */
export function answered({ tool, state, by, reason, timestamp }) {
  const look = state === "allowed" ? stateOf("completed") : stateOf("skipped");
  const why = reason ? `: ${reason}` : "";
  const words = by === "user" ? `You ${state} ${tool}` : `${tool} ${state}${why}`;
  return h(
    "p",
    { class: "says tiny" },
    mark(look, false),
    h("span", {}, words),
    by === "user" && h("span", { class: "quiet" }, time(timestamp)),
  );
}
