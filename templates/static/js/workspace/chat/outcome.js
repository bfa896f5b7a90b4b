// Why a turn did not complete, and what to do next.

import { button, h, icon } from "../../kit/dom.js";
import { attempt } from "../../kit/toast.js";
import { ways } from "../nomodel.js";

const WORDS = {
  failed: ["Failed", "bad"],
  interrupted: ["Interrupted", "warn"],
  stopped: ["Stopped", ""],
};

/** A banner for a turn that failed, was interrupted or stopped; null for any other. */
export function outcome(turn, acts) {
  const { end, told, prompt, last } = turn;
  const [word, tone] = WORDS[end.state] ?? [];
  if (!word) return null;
  const reason = end.reason ?? "";
  const said = told && same(told.content, reason); // then the banner replaces it
  if (said) told.node.remove();
  const again = last && prompt && acts.again;
  const steps = [
    again &&
      button("Run again", {
        icon: "restart",
        kind: "s again",
        "aria-keyshortcuts": "X",
        onclick: (event) => attempt(event, () => acts.again(turn.id)),
      }),
    again &&
      button("Edit and send", { icon: "pencil", kind: "s", onclick: () => acts.edit(prompt) }),
    ...(again && told?.code === "needs_engine" ? ways({ found: () => acts.again(turn.id) }) : []),
    settings(reason, acts.project),
  ].filter(Boolean);
  return h(
    "div",
    { class: `banner outcome ${tone}` },
    icon(end.state === "stopped" ? "stop" : "alert"),
    h("div", {}, h("b", {}, word), reason && `: ${reason}${/[.!?]$/.test(reason) ? "" : "."}`),
    steps.length > 0 && h("span", { class: "line wrap" }, steps),
  );
}

const plain = (text) => text.trim().replace(/[.!]$/, "").toLowerCase();
const same = (one, other) => plain(one) === plain(other);

/** The link to the setting that the reason of a failed turn mentions. */
function settings(reason, project) {
  const words = /the engine \S+ is /.test(reason)
    ? "Choose an engine"
    : /most it may take|turn limit/i.test(reason)
      ? "Change the limit"
      : "";
  return words && h("a", { class: "btn s", href: `/projects/${project}/settings` }, words);
}
