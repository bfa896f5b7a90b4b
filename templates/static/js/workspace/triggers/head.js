// The head of one trigger: its name, its state, its last run and its actions.

import { button, h, icon, mark } from "../../kit/dom.js";
import { where } from "../../kit/shell.js";
import { span, time } from "../../kit/words.js";
import { stateOf, triggerState } from "../words.js";
import { waysOut } from "./fixes.js";

/** acts: {back, toggle(event), run(event), convert(event), resume(event)} */
export function head(name, stored, acts) {
  const title = h("h1", {}, name || "New trigger");
  if (!stored || stored.invalid) return h("header", { class: "line wrap" }, back(acts), title);
  const look = stored.runtime?.paused && stored.enabled ? stateOf("paused") : triggerState(stored);
  return h(
    "header",
    { class: "line wrap" },
    back(acts),
    h(
      "div",
      { class: "grow" },
      title,
      h(
        "p",
        { class: "soft small line" },
        mark(look),
        h("span", {}, look.word, " · ", lastRun(stored)),
      ),
    ),
    h(
      "div",
      { class: "line push" },
      !stored.legacy && enabledSwitch(stored, acts),
      stored.legacy && button("Convert", { icon: "check", onclick: acts.convert }),
      stored.trigger.type !== "webhook" &&
        button("Run now", { icon: "play", kind: "run-now", onclick: acts.run }),
    ),
  );
}

const back = (acts) =>
  button("All", { icon: "left", kind: "ghost s narrow-only", onclick: acts.back });

const enabledSwitch = (stored, acts) =>
  h(
    "label",
    { class: "switch" },
    h("input", {
      type: "checkbox",
      checked: stored.enabled,
      onchange: acts.toggle,
      role: "switch",
    }),
    "Enabled",
  );

function lastRun(stored) {
  const { project, runtime } = stored;
  const last = runtime?.lastRun;
  if (!last) return "Not run yet";
  const failed = last.status === "failed"; // its state says so, and the banner why
  const took = last.durationSeconds ? `, after ${span(last.durationSeconds)}` : "";
  const word = failed ? "" : `, ${stateOf(last.status).word.toLowerCase()}`;
  return [
    failed && stored.enabled ? "" : "Last run ",
    time(last.finishedAt ?? last.queuedAt),
    `${word}${took}. `,
    last.sessionId &&
      h(
        "a",
        { class: "link", href: `/projects/${last.project ?? project}/chats/${last.sessionId}` },
        "See the run",
      ),
  ];
}

/** The notices above the form: invalid, paused, the last error, a legacy form, warnings. */
export function notices(stored, acts) {
  const banner = (tone, shape, ...content) =>
    h("div", { class: `banner ${tone}` }, icon(shape), h("div", {}, ...content));
  if (stored?.invalid) {
    const said = banner(
      "bad",
      "alert",
      h("b", {}, `Line ${stored.line} of project.yaml: `),
      stored.error,
      " It never fires. Correct it by hand, or fill this form and save: that rewrites the entry.",
    );
    said.setAttribute("role", "alert");
    return [said];
  }
  if (!stored) return [];
  const { runtime, legacy, clients, warnings = [] } = stored;
  const why = runtime?.lastRun?.status === "failed" && runtime.lastRun.reason;
  return [
    why && banner("bad", "alert", h("b", {}, "The last run failed: "), why),
    runtime?.lastError && !why && banner("bad", "alert", runtime.lastError),
    runtime?.paused && pausedBanner(runtime.paused, acts.resume),
    legacy &&
      banner(
        "",
        "info",
        "A schedule of the older form. It fires as it stands; convert it to edit it here.",
      ),
    clients &&
      banner(
        "",
        "info",
        `Stored by client ${clients.join(", ")}: its turns stay within that client's scope.`,
        " Save it to make it yours.",
      ),
    ...warnings
      .filter((text) => !text.startsWith("run.promptFile:")) // shown at its field
      .map((text) => warningBanner(text, acts.mend)),
  ].filter(Boolean);
}

/** A warning with its fixes as buttons, which fill the form for the user to check and save. */
const warningBanner = (text, mend) =>
  h(
    "div",
    { class: "banner warn" },
    icon("alert"),
    h(
      "div",
      {},
      text,
      waysOut(text).map((way) => [" ", button(way.label, { kind: "s", onclick: () => mend(way) })]),
    ),
  );

/** The sentence that the status of a project holds its triggers. */
export const overWords = (status) =>
  `This project is ${status}: its triggers do not fire by themselves.`;

/** The banner that no trigger fires by itself, since when, and how to resume. */
export function pausedBanner({ by, since, status }, resume) {
  if (by === "status")
    return h(
      "div",
      { class: "banner warn" },
      icon("pause"),
      h("div", {}, overWords(status), " Another status in its settings lets them fire again."),
    );
  if (by === "file")
    return h(
      "div",
      { class: "banner warn" },
      icon("alert"),
      h("div", {}, "project.yaml is not followed as it is; nothing fires until someone saw to it."),
      h("a", { class: "btn s", href: `/projects/${where.project}` }, "See what it is"),
    );
  if (by === "folder")
    return h(
      "div",
      { class: "banner warn" },
      icon("alert"),
      h(
        "div",
        {},
        "The folder that this project works in cannot be used; nothing fires until it can.",
      ),
    );
  const whose =
    by === "instance" ? "All triggers are paused" : "The triggers of this project are paused";
  return h(
    "div",
    { class: "banner warn" },
    icon("pause"),
    h("div", {}, whose, since ? [", since ", time(since)] : "", ". Run now still works."),
    button(by === "instance" ? "Resume all" : "Resume", { onclick: resume }),
  );
}

/** The entry in the file, with a button to take it into the form. */
export const inFile = ({ trigger, run }, take) =>
  h(
    "div",
    { class: "banner warn" },
    icon("alert"),
    h(
      "div",
      {},
      "In the file now:",
      h(
        "pre",
        { class: "codeblock", tabindex: "0", "aria-label": "The entry in the file" },
        JSON.stringify({ trigger, run }, null, 2),
      ),
    ),
    button("Take theirs", { onclick: take }),
  );
