// A permission question, answered in place.

import { h, icon, mark } from "../../kit/dom.js";
import { draft } from "../../kit/drafts.js";
import { attempt } from "../../kit/toast.js";
import { time } from "../../kit/words.js";
import { stateOf } from "../words.js";
import { readableInput } from "./calls.js";
import { countdown } from "./clock.js";
import { changeOf, drawChange } from "./edits.js";

/** The open question: what the call would do, the deadline, and the answers (keys A, C and D).
 *  `answer` receives the call and {allow, scope, reason}. */
export function question({ call, tool, input, until, rule }, answer) {
  const id = `ask-${call}`;
  const change = changeOf({ name: tool, input });
  const why = h("input", {
    class: "input grow why",
    type: "text",
    maxlength: "2000",
    placeholder: "Why not? The agent reads this",
    "aria-label": "Why not, which the agent reads",
    onkeydown: (event) => event.key === "Enter" && deny(event),
  });
  const kept = draft(why, `why.${call}`);
  const deny = (event) => say({ allow: false, reason: why.value })(event);
  const say = (said) => (event) => attempt(event, () => answer(call, said).then(kept.clear));
  const choice = (act, kind, words, letter) =>
    h(
      "button",
      { type: "button", class: `btn ${kind}`, onclick: act, "aria-keyshortcuts": letter },
      words,
      " ",
      h("span", { class: "kbd", "aria-hidden": "true" }, letter),
    );
  const always = [" Allow ", h("code", {}, ruleWords(rule)), " in this chat"];
  return h(
    "div",
    { class: "ask", role: "group", "aria-labelledby": id, dataset: { call } },
    h(
      "header",
      {},
      icon("shield"),
      h("span", { id }, `${tool} asks to run`),
      until && h("span", { class: "push tiny nowrap" }, "denied ", countdown(until)),
    ),
    h(
      "div",
      {},
      change
        ? [h("p", { class: "mono small" }, change.path), drawChange(change)]
        : h(
            "pre",
            { class: "codeblock", tabindex: "0", "aria-label": "What it would do" },
            readableInput(input) || "(no arguments)",
          ),
      h(
        "div",
        { class: "line wrap" },
        choice(say({ allow: true }), "primary", "Allow once", "A"),
        rule && choice(say({ allow: true, scope: "chat" }), "always", always, "C"),
      ),
      h("div", { class: "line" }, choice(deny, "danger", "Deny", "D"), why),
    ),
  );
}

/** A rule in words: "Edit", or "git commit …" for commands that begin with these words. */
export const ruleWords = (rule) => {
  const [, prefix] = /^Bash\((.*)\)$/.exec(rule ?? "") ?? [];
  return prefix ? `${prefix} …` : (rule ?? "");
};

/** The result of a question, in one line. */
export function answerLine({ tool, state, by, reason, timestamp }) {
  const look = state === "allowed" ? stateOf("completed") : stateOf("skipped");
  const [, told] = / who says: ([^]*)$/.exec(reason ?? "") ?? [];
  const why = by === "user" ? told && `: ${told}` : reason && `: ${reason}`;
  const words = by === "user" ? `You ${state} ${tool}` : `${tool} ${state}`;
  return h(
    "p",
    { class: "says tiny" },
    mark(look, false),
    h("span", {}, words, why || ""),
    by === "user" && h("span", { class: "quiet" }, time(timestamp)),
  );
}
